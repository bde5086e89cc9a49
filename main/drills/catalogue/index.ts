import type { DrillText } from '../drill.ts';
import { CLIENT_DRILLS } from './clients.ts';
import { DOMAIN_DRILLS } from './domains.ts';
import { PROJECT_DRILLS } from './projects.ts';

const ALL = [...CLIENT_DRILLS, ...PROJECT_DRILLS, ...DOMAIN_DRILLS];

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

/** All drills, in learning order. */
export const DRILLS: readonly DrillText[] = ORDER.flatMap((id) => ALL.filter((drill) => drill.id === id));
