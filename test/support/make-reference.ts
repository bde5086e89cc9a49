/** `npm run reference`: writes `docs/reference.md` anew. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeReference } from './reference.ts';

writeFileSync(join(import.meta.dirname, '..', '..', 'docs', 'reference.md'), await makeReference());
