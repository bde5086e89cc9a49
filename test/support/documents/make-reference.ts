/**
 * `npm run reference`: regenerates `docs/reference.md`, `docs/break-it-clients.md`, `docs/broken-tls.md`,
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

writeFileSync(join(ROOT, 'docs', 'reference.md'), await makeReference());
writeFileSync(join(ROOT, 'docs', 'break-it-clients.md'), makeBreakTables());
writeFileSync(join(ROOT, 'docs', 'broken-tls.md'), makeBrokenTlsPage());
writeFileSync(join(ROOT, 'docs', 'llms.txt'), makeLlms());
writeFileSync(join(ROOT, 'resources', SCHEMA_FILE), `${JSON.stringify(worldSchema(), null, 2)}\n`);
