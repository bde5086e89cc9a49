const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  sec: 1_000,
  second: 1_000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hr: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
  w: 604_800_000,
  week: 604_800_000,
};

const PART = /(\d+(?:\.\d+)?)\s*([a-z]+)/g;

/**
 * The ISO 8601 form of a typed duration (`90 days`, `2h 30m`, `1.5 hours`). Other text is returned unchanged: it is ISO
 * 8601 already, or the engine reports its fault.
 */
export function readDurationText(text: string): string {
  const typed = text.trim();
  const words = typed.toLowerCase().replaceAll(/\band\b|[,+]/g, ' ');
  const parts = [...words.matchAll(PART)];
  if (parts.length === 0 || words.replaceAll(PART, '').trim() !== '') return typed;
  let totalMs = 0;
  for (const [, count = '', unit = ''] of parts) {
    const unitMs = UNITS_MS[unit] ?? UNITS_MS[unit.replace(/s$/, '')];
    if (unitMs === undefined) return typed;
    totalMs += Number(count) * unitMs;
  }
  return formatIso(Math.round(totalMs));
}

function formatIso(ms: number): string {
  const days = Math.floor(ms / 86_400_000);
  const hours = Math.floor((ms % 86_400_000) / 3_600_000);
  const minutes = Math.floor((ms % 3_600_000) / 60_000);
  const seconds = (ms % 60_000) / 1_000;
  const time = `${hours > 0 ? `${hours}H` : ''}${minutes > 0 ? `${minutes}M` : ''}${seconds > 0 ? `${seconds}S` : ''}`;
  const text = `P${days > 0 ? `${days}D` : ''}${time === '' ? '' : `T${time}`}`;
  return text === 'P' ? 'PT0S' : text;
}
