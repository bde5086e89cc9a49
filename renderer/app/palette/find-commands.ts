import type { Command } from '../../shared/navigation/commands.svelte.ts';

/** Results shown per group; further typing narrows them. */
export const GROUP_MAX = 8;

/** The groups listed first while nothing is typed. */
const FIRST: readonly string[] = ['Help', 'Time and state', 'Projects', 'Pages', 'This page'];

/** How many recent commands are listed first. */
const RECENT_MAX = 6;

/** The group of what was used or visited last. */
export const RECENT = 'Recent';

/** Stored ids without duplicates, latest first; empty for any other value. */
export const readRecent = (kept: unknown): string[] =>
  Array.isArray(kept) ? [...new Set(kept.filter((id) => typeof id === 'string'))].slice(0, RECENT_MAX) : [];

/** No name has more words, or longer ones. */
const WORDS_MAX = 8;
const TEXT_MAX = 300;

/** Ranks a recently used command above another that fits equally well. */
const RECENT_BONUS = 0.4;

/** The least score of a match by whole words; one by scattered letters counts only where there is none. */
const FIRM = 1.5;

export interface Found {
  id: string;
  command: Command;
  score: number;
  /** The matched letters of the title and of the detail. */
  title: readonly Range[];
  detail: readonly Range[];
}

export interface FoundGroup {
  title: string;
  items: readonly Found[];
  /** Matches beyond `GROUP_MAX`. */
  hidden: number;
}

/** Commands of the same kind for many things, such as domains: made only for the few that fit a text best. */
export interface Family {
  /** The names of the things, in lower case. */
  names: readonly string[];
  /** In lower case, the words of the commands besides the name. */
  words: string;
  /** The commands of one thing, always in the same order. */
  commandsAt: (index: number) => readonly Command[];
}

interface Folded {
  title: string;
  detail: string;
  rest: string;
}

const foldedCommands = new WeakMap<Command, Folded>();

function foldedOf(command: Command): Folded {
  const known = foldedCommands.get(command);
  if (known !== undefined) return known;
  const { title, detail = '', group, keywords = [] } = command;
  const folded = { title: fold(title), detail: fold(detail), rest: fold([group, ...keywords].join(' ')) };
  foldedCommands.set(command, folded);
  return folded;
}

/** How a command fits the words; null unless each word fits one of its texts. */
function fitCommand(command: Command, words: readonly string[]): Found | null {
  const folded = foldedOf(command);
  const title: Range[] = [];
  const detail: Range[] = [];
  let score = 0;
  for (const word of words) {
    const inTitle = fitWord(folded.title, word);
    const inDetail = (inTitle?.score ?? 0) > 2 ? null : fitWord(folded.detail, word);
    const isInRest = inTitle === null && inDetail === null && folded.rest.includes(word);
    if (inTitle === null && inDetail === null && !isInRest) return null;
    if (inTitle !== null && inTitle.score >= (inDetail?.score ?? 0)) title.push(...inTitle.ranges);
    else detail.push(...(inDetail?.ranges ?? []));
    score += Math.max(inTitle?.score ?? 0, (inDetail?.score ?? 0) * 0.75, isInRest ? 1.5 : 0);
  }
  score /= words.length;
  if (folded.title.startsWith(words.join(' '))) score += 1;
  return { id: command.id, command, score, title: joined(title), detail: joined(detail) };
}

/** The things of a family that fit each word by their name or by the words of their commands: the best, and how many. */
function bestOf({ names, words: ofAll }: Family, words: readonly string[]): { best: number[]; total: number } {
  const known = words.map((word) => (ofAll.includes(word) ? 0 : null));
  const fits: { index: number; score: number }[] = [];
  for (let index = 0; index < names.length; index++) {
    let score = 0;
    const isFit = words.every((word, at) => {
      const own = fitWord(names[index] ?? '', word)?.score ?? known[at];
      score += own ?? 0;
      return own !== null;
    });
    if (isFit) fits.push({ index, score });
  }
  const firm = fits.filter(({ score }) => score >= FIRM);
  const kept = firm.length > 0 ? firm : fits;
  const best = kept.toSorted((a, b) => b.score - a.score).slice(0, GROUP_MAX);
  return { best: best.map(({ index }) => index), total: kept.length };
}

/**
 * The commands that fit `text`, by group: best group first, best command first; ties keep their order. Blank text finds
 * all commands that are not `searched`, after the `recent` ones (ids, latest first).
 */
export function findCommands(
  commands: readonly Command[],
  text: string,
  recent: readonly string[] = [],
  families: readonly Family[] = [],
): FoundGroup[] {
  const words = fold(text.slice(0, TEXT_MAX)).split(/\s+/).filter(Boolean).slice(0, WORDS_MAX);
  if (words.length === 0) return withoutText(commands, recent);
  const fit = (command: Command): Found[] => {
    const found = fitCommand(command, words);
    if (found === null) return [];
    return [recent.includes(command.id) ? { ...found, score: found.score + RECENT_BONUS } : found];
  };
  /** Matches that are not made, by group. */
  const unmade = new Map<string, number>();
  const made = families.flatMap((family) => {
    const { best, total } = bestOf(family, words);
    const rows = best.map((index) => family.commandsAt(index).flatMap(fit));
    for (const { command } of rows[0] ?? [])
      unmade.set(command.group, (unmade.get(command.group) ?? 0) + total - best.length);
    return rows.flat();
  });
  const all = [...commands.flatMap(fit), ...made];
  const firm = all.filter(({ score }) => score >= FIRM);
  const found = firm.length > 0 ? firm : all;
  const groups = [...Map.groupBy(found, ({ command }) => command.group)].map(([title, members]) =>
    bounded(
      title,
      members.toSorted((a, b) => b.score - a.score),
      unmade.get(title),
    ),
  );
  const best = ({ items: [first] }: FoundGroup): number => first?.score ?? 0;
  return groups.toSorted((a, b) => best(b) - best(a));
}

function withoutText(commands: readonly Command[], recent: readonly string[]): FoundGroup[] {
  const plain = (command: Command): Found => ({ id: command.id, command, score: 0, title: [], detail: [] });
  const latest = recent.flatMap((id) => commands.find((command) => command.id === id) ?? []);
  const others = commands.filter((command) => command.searched !== true && !latest.includes(command));
  return [
    ...(latest.length === 0 ? [] : [bounded(RECENT, latest.map(plain))]),
    ...[...Map.groupBy(others, ({ group }) => group)]
      .toSorted(([a], [b]) => FIRST.indexOf(b) - FIRST.indexOf(a))
      .map(([title, members]) => bounded(title, members.map(plain))),
  ];
}

const bounded = (title: string, members: readonly Found[], unmade = 0): FoundGroup => ({
  title,
  items: members.slice(0, GROUP_MAX),
  hidden: Math.max(0, members.length - GROUP_MAX) + unmade,
});

/** Where letters of a text matched: `from` inclusive, `to` exclusive, in UTF-16 units. */
export type Range = readonly [from: number, to: number];

export interface Fit {
  /** 4: the text begins with the word; 3: a word of it does; 2: it contains it; 1: it has its letters, in order. */
  score: number;
  ranges: readonly Range[];
}

/** Letters that a word skips between two matching ones: enough for a forgotten letter, too few for chance. */
const GAP_MAX = 2;

/** Almost every text contains the letters of a shorter word. */
const LOOSE_MIN = 3;

/** The text in lower case, with as many units as before, so that positions stay valid. */
export function fold(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return Array.from(text, (letter) =>
    letter.toLowerCase().length === letter.length ? letter.toLowerCase() : letter,
  ).join('');
}

const LETTER = /[\p{L}\p{N}]/u;

const beginsWord = (text: string, at: number): boolean => at === 0 || !LETTER.test(text[at - 1] ?? ' ');

/** How a folded word fits a folded text; null if it does not. */
function fitWord(text: string, word: string): Fit | null {
  let first = -1;
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    if (beginsWord(text, at)) return { score: at === 0 ? 4 : 3, ranges: [[at, at + word.length]] };
    if (first === -1) first = at;
  }
  if (first !== -1) return { score: 2, ranges: [[first, first + word.length]] };
  if (word.length < LOOSE_MIN) return null;
  const positions = hasInOrder(text, word) ? lettersOf(text, word) : null;
  return positions === null ? null : { score: 1, ranges: joined(positions.map((at) => [at, at + 1])) };
}

function hasInOrder(text: string, word: string): boolean {
  let at = -1;
  for (const letter of word) {
    at = text.indexOf(letter, at + 1);
    if (at === -1) return false;
  }
  return true;
}

/**
 * The positions of a word's letters: the first begins a word, each further one follows within `GAP_MAX` letters of the
 * same word, or begins another.
 */
function lettersOf(text: string, word: string): number[] | null {
  const dead = new Set<number>();
  function after(at: number, index: number): number[] | null {
    if (index === word.length) return [];
    for (let next = at + 1; next < text.length; next++) {
      if (text[next] !== word[index]) continue;
      if (!beginsWord(text, next) && (index === 0 || next - at - 1 > GAP_MAX)) continue;
      const key = next * word.length + index;
      if (dead.has(key)) continue;
      const rest = after(next, index + 1);
      if (rest !== null) return [next, ...rest];
      dead.add(key);
    }
    return null;
  }
  return after(-1, 0);
}

/** Ranges in order; adjacent and overlapping ones are merged. */
function joined(ranges: readonly Range[]): Range[] {
  const result: [number, number][] = [];
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = result.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else result.push([from, to]);
  }
  return result;
}
