import type { DrillText } from '../drill.ts';
import { PROJECT_DRILLS } from './projects.ts';
import { DOMAIN_DRILLS } from './domains.ts';

/** From easy to hard. */
const ORDER = [
  'hammering',
  'locked-out',
  'bad-gateway',
  'hanging',
  'record-is-there',
  'old-shop',
  'no-padlock',
  'date-for-a-wait',
  'twice',
  'lent-name',
  'old-client',
  'issuance-stopped',
];

const WRITTEN = new Map([...PROJECT_DRILLS, ...DOMAIN_DRILLS].map((drill) => [drill.id, drill]));

export const DRILLS: readonly DrillText[] = ORDER.flatMap((each) => {
  const drill = WRITTEN.get(each);
  if (drill === undefined) return [];
  const causes = Object.entries(drill.causes).map(([id, [text, why]]) => ({
    id,
    text,
    ...(why !== undefined && { why }),
  }));
  return [{ ...drill, causes }];
});
