/**
 * `npm run reference`: regenerates `commands.md`, `break-it-clients.md` and `broken-tls.md` in `docs/reference`,
 * `docs/llms.txt` and the schema of `vivarium.yaml`.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SCHEMA_FILE, worldSchema } from '../../../main/world/schema.ts';
import { makeBreakTables } from '../breaks/break-tables.ts';
import { makeBrokenTlsPage } from '../broken-tls-page.ts';
import { makeLlms } from './llms.ts';
import { makeReference } from './reference.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

const LOOKED_UP = join(ROOT, 'docs', 'reference');

writeFileSync(join(LOOKED_UP, 'commands.md'), await makeReference());
writeFileSync(join(LOOKED_UP, 'break-it-clients.md'), makeBreakTables());
writeFileSync(join(LOOKED_UP, 'broken-tls.md'), makeBrokenTlsPage());
writeFileSync(join(ROOT, 'docs', 'llms.txt'), makeLlms());
writeFileSync(join(ROOT, 'resources', SCHEMA_FILE), `${JSON.stringify(worldSchema(), null, 2)}\n`);
