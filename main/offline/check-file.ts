import { VivariumError, type InputIssue } from '../contract/errors.ts';
import { formatPath } from '../contract/issues.ts';
import { NAME_SERVER } from '../dns/zones/own-zones.ts';
import { emptyWorld } from '../services/world/world-current.ts';
import { planWorld } from '../services/world/world-plan.ts';
import { inLineOrder, readWorld } from '../world/read.ts';

/** The issues of a `vivarium.yaml`, checked without a running Vivarium. */
export async function checkFile(text: string, files: Readonly<Record<string, string>>): Promise<readonly InputIssue[]> {
  try {
    const { world, locate } = await readWorld(text, files);
    const { issues } = await planWorld(world, emptyWorld({}, NAME_SERVER), { file: null, rows: [], adopt: false });
    return inLineOrder(issues.map(({ path, message }) => ({ path: formatPath(path), message, ...locate(path) })));
  } catch (error) {
    if (!(error instanceof VivariumError)) throw error;
    return error.issues.length > 0 ? error.issues : [{ path: '', message: error.message }];
  }
}
