import { VivariumError, type InputIssue } from './contract/errors.ts';
import { formatPath } from './contract/issues.ts';
import { NAME_SERVER } from './dns/platform-zone.ts';
import { emptyWorld } from './services/world-current.ts';
import { planWorld } from './services/world-plan.ts';
import { readWorld } from './world/read.ts';

/** What is wrong with the text of a `vivarium.yaml` by itself, whatever a Vivarium has; empty when nothing is. */
export async function checkFile(text: string, files: Readonly<Record<string, string>>): Promise<readonly InputIssue[]> {
  try {
    const { world, locate } = await readWorld(text, files);
    const { issues } = await planWorld(world, emptyWorld({}, NAME_SERVER), { file: null, rows: [], adopt: false });
    return issues.map(({ path, message }) => ({ path: formatPath(path), message, ...locate(path) }));
  } catch (error) {
    if (!(error instanceof VivariumError)) throw error;
    return error.issues.length > 0 ? error.issues : [{ path: '', message: error.message }];
  }
}
