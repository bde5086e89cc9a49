import { isWithin } from '../../base/text/hostname.ts';
import { conflict, notFound, unavailable, type VivariumError } from '../../contract/errors.ts';
import type { StoreTrust } from '../../contract/certificates.ts';
import { fingerprint } from '../certificate.ts';
import { readRootCertificate } from '../root.ts';
import { pasteable, type Command, type CommandResult, type RunCommand } from './run-command.ts';
import type { FoundRoot, Served, StoreReading, TrustStore, OwnRoots } from './truststore.ts';

/** Reading a store starts one or a few small processes; more concurrency only competes for the disk. */
const READ_AT_ONCE_MAX = 4;

/**
 * Maximum rounds of read, change and read again. One suffices, except that NSS lists certificates with one subject
 * together, which can remove the wrong one of two manual imports; the next round repairs that.
 */
const ROUNDS_MAX = 5;

/** Length of a command's output quoted in an error: the reason, not a page. */
const REASON_LENGTH_MAX = 500;

/** A change of trust, for the ledger of machine changes. */
export interface TrustChange {
  store: string;
  title: string;
  /** Lines to paste. */
  apply: string;
  undo: string;
}

/** Records a change before it is made. */
export interface TrustLedger {
  note(change: TrustChange): Promise<void>;
  /** Call when the store no longer has the root. */
  forget(store: string): Promise<void>;
}

export interface TrustStoresOptions {
  /** Called every time, because browser profiles come and go. */
  stores: () => readonly TrustStore[];
  own: () => OwnRoots;
  run: RunCommand;
  platform: NodeJS.Platform;
  ledger: TrustLedger;
  /** Null while nothing is served: then no handshake is tried. */
  served: () => Served | null;
}

export type TrustStores = ReturnType<typeof createTrustStores>;

export function createTrustStores(options: TrustStoresOptions) {
  const { stores, own, run, platform, ledger } = options;
  const changing = new Set<string>();

  function storeOf(id: string): TrustStore {
    const known = stores();
    const store = known.find((candidate) => candidate.id === id);
    if (store !== undefined) return store;
    const ids = known.map((candidate) => candidate.id).join(', ');
    throw notFound(`There is no trust store "${id}" here; there are: ${ids}.`);
  }

  async function alone(id: string, action: (store: TrustStore) => Promise<StoreTrust>): Promise<StoreTrust> {
    const store = storeOf(id);
    if (changing.has(store.id)) {
      throw conflict(`${store.title} is currently being changed; try again when that has finished.`);
    }
    changing.add(store.id);
    try {
      return await action(store);
    } finally {
      changing.delete(store.id);
    }
  }

  const statusOf = async (store: TrustStore): Promise<StoreTrust> => present(options, store, await store.read(own()));

  async function trust(store: TrustStore): Promise<StoreTrust> {
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const reading = await store.read(own());
      if (!reading.available) return describe(store, reading, own(), platform);
      const superseded = reading.roots.filter((root) => root.identity === 'older' && root.handle !== null);
      if (isTrusted(reading.roots) && superseded.length === 0) {
        return withAdvice(await present(options, store, reading), round > 0 ? store.afterwards : undefined);
      }
      const commands = store.trust(own(), superseded);
      await note(options, store, commands);
      if (needPassword(commands)) return describe(store, reading, own(), platform);
      try {
        await execute(run, store, commands);
      } catch (error) {
        await tidy(options, store, reading.roots);
        throw error;
      }
    }
    throw unchanged(store, 'it does not contain the root as expected');
  }

  async function untrust(store: TrustStore, fingerprint?: string): Promise<StoreTrust> {
    let asked = false;
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const reading = await store.read(own());
      if (!reading.available) return describe(store, reading, own(), platform);
      const targets = reading.roots.filter((root) => isTarget(root, fingerprint));
      if (targets.length === 0) {
        if (fingerprint !== undefined && !asked) throw rootNotFound(store, fingerprint);
        if (fingerprint === undefined) await ledger.forget(store.id);
        return withAdvice(describe(store, reading, own(), platform), asked ? store.afterwards : undefined);
      }
      const fixed = targets.find((root) => root.handle === null);
      if (fixed !== undefined) {
        throw unchanged(store, `${fixed.name} (${fixed.fingerprint}) was added in a way that Vivarium cannot undo`);
      }
      const commands = store.untrust(targets);
      if (needPassword(commands)) return removalToPaste(store, reading.roots, commands);
      await execute(run, store, commands);
      asked = true;
    }
    throw unchanged(store, 'it still contains the root');
  }

  function removalToPaste(store: TrustStore, roots: readonly FoundRoot[], commands: readonly Command[]): StoreTrust {
    return {
      store: store.id,
      title: store.title,
      state: stateOf(roots),
      needs: passwordNote(platform),
      command: pasteable(commands, platform),
      present: true,
      message: 'Nothing was changed: this needs a password. Paste the command, then query the status again.',
    };
  }

  return {
    /** All trust stores of this machine that clients use, read again on each call. */
    list: (): Promise<StoreTrust[]> => inSlices(stores(), READ_AT_ONCE_MAX, statusOf),
    /**
     * Adds the current root to a store and removes its older certificates. When a password is needed, runs nothing and
     * returns the command. @throws VivariumError not_found for an unknown store; conflict while it is being changed;
     * unavailable when a command fails or the store still lacks the root.
     */
    trust: (storeId: string): Promise<StoreTrust> => alone(storeId, trust),
    /**
     * Removes the current root and its older certificates from a store, or the one Vivarium root with `fingerprint`.
     * @throws VivariumError as `trust`; not_found without a Vivarium root of that fingerprint.
     */
    untrust: (storeId: string, fingerprint?: string): Promise<StoreTrust> =>
      alone(storeId, (store) => untrust(store, fingerprint)),
  };
}

/** Verifies a store that has the root by a handshake: a client may refuse the root although the reading is right. */
async function present(
  { own, platform, served, run }: TrustStoresOptions,
  store: TrustStore,
  reading: StoreReading,
): Promise<StoreTrust> {
  const status = describe(store, reading, own(), platform);
  if (status.state !== 'trusted') return status;
  const place = served();
  const command = place === null ? null : store.handshake(place);
  // A client that is missing, or does not end, says nothing about the store.
  const result = command === null ? null : await run(command).catch(() => null);
  if (result === null || place === null) {
    return { ...status, message: status.message.replace(TRUSTED, 'The store has the root; no handshake was tried.') };
  }
  if (result.exitCode === 0) return { ...status, handshake: 'verified' };
  const reason = `${result.stderr}\n${result.stdout}`.trim().slice(0, REASON_LENGTH_MAX);
  return {
    ...status,
    state: 'untrusted',
    handshake: 'refused',
    message: `The store has the root, but a handshake with ${place.hostname} failed: ${reason}`,
  };
}

async function note(
  { own, ledger, platform }: TrustStoresOptions,
  store: TrustStore,
  commands: readonly Command[],
): Promise<void> {
  const root: FoundRoot = {
    identity: 'current',
    name: '',
    fingerprint: own().current.fingerprint,
    trusted: true,
    handle: store.handleOf(own()),
  };
  await ledger.note({
    store: store.id,
    title: store.title,
    apply: pasteable(commands, platform),
    undo: pasteable(store.untrust([root]), platform),
  });
}

async function execute(run: RunCommand, store: TrustStore, commands: readonly Command[]): Promise<void> {
  for (const command of commands) {
    const result = await run(command);
    if (result.exitCode !== 0) throw failed(store, command, result);
  }
}

/** A database with a password stores a certificate and then refuses to trust it; remove what was added. */
async function tidy({ own, run }: TrustStoresOptions, store: TrustStore, before: readonly FoundRoot[]): Promise<void> {
  if (before.some((root) => root.identity === 'current')) return;
  const reading = await store.read(own());
  if (!reading.available) return;
  const left = reading.roots.filter((root) => root.identity === 'current' && !root.trusted && root.handle !== null);
  if (left.length === 0) return;
  for (const command of store.untrust(left)) await run(command);
}

const isTrusted = (roots: readonly FoundRoot[]): boolean =>
  roots.some((root) => root.identity === 'current' && root.trusted);
const needPassword = (commands: readonly Command[]): boolean => commands.some((command) => command.needsPassword);
const isTarget = (root: FoundRoot, fingerprint: string | undefined): boolean =>
  fingerprint === undefined ? root.identity !== 'other' : normal(root.fingerprint) === normal(fingerprint);
const normal = (fingerprint: string): string => fingerprint.replace(/[^0-9a-f]/gi, '').toLowerCase();

function stateOf(roots: readonly FoundRoot[]): StoreTrust['state'] {
  if (isTrusted(roots)) return 'trusted';
  return roots.some((root) => root.identity !== 'current') ? 'other_root' : 'untrusted';
}

const TRUSTED = 'The root is trusted.';

/** A store in the contract's form. */
function describe(store: TrustStore, reading: StoreReading, own: OwnRoots, platform: NodeJS.Platform): StoreTrust {
  const { id, title } = store;
  if (!reading.available) {
    const { needs, command, message } = reading;
    return { store: id, title, state: 'unavailable', needs, ...(command !== undefined && { command }), message };
  }
  const { roots } = reading;
  const superseded = roots.filter((root) => root.identity === 'older' && root.handle !== null);
  const state = stateOf(roots);
  const wider = widerSuffixes(roots, own);
  const commands = state === 'trusted' && superseded.length === 0 ? [] : store.trust(own, superseded);
  return {
    store: id,
    title,
    state,
    ...(needPassword(commands) && { needs: passwordNote(platform), command: pasteable(commands, platform) }),
    message: messageOf(roots, own, wider),
    ...(roots.some(({ identity }) => identity !== 'other') && { present: true }),
    ...(state === 'trusted' && superseded.length > 0 && { superseded: true }),
    ...(wider.length > 0 && { wider }),
    ...presentOthers(roots),
  };
}

function presentOthers(roots: readonly FoundRoot[]): Pick<StoreTrust, 'otherRoots'> {
  const others = roots.filter(({ identity, handle }) => identity === 'other' && handle !== null);
  return others.length === 0 ? {} : { otherRoots: others.map(({ name, fingerprint }) => ({ name, fingerprint })) };
}

function messageOf(roots: readonly FoundRoot[], own: OwnRoots, wider: readonly string[]): string {
  const sentences: string[] = [];
  const others = roots.filter((root) => root.identity === 'other');
  const hasOlder = roots.some((root) => root.identity === 'older');
  const current = roots.find((root) => root.identity === 'current');
  if (current?.trusted === true) sentences.push(TRUSTED);
  else if (current !== undefined) sentences.push('The store contains the root but does not trust it for websites.');
  else if (!hasOlder) sentences.push('The store does not contain the root.');
  if (hasOlder) {
    const suffixes = own.current.constraints.suffixes.join(', ');
    sentences.push(
      current?.trusted === true
        ? 'The store also contains an older certificate of it, which some clients would use instead; trust again to remove it.'
        : wider.length === 0
          ? `Only an older certificate of the root is trusted, which does not permit all of ${suffixes}; trust the new one.`
          : 'Only an older certificate of the root is trusted; trust the new one, which replaces it.',
    );
  }
  if (wider.length > 0)
    sentences.push(`The older certificate still permits ${wider.join(', ')}, which the root no longer does.`);
  if (others.length > 0) {
    const names = others.map(({ name }) => name).join(', ');
    sentences.push(`It contains the root of another Vivarium, which is removed by its fingerprint only: ${names}.`);
  }
  return sentences.join(' ');
}

/** The suffixes of older certificates in a store that the root no longer permits. */
function widerSuffixes(roots: readonly FoundRoot[], { current, older }: OwnRoots): string[] {
  const prints = roots.map(({ fingerprint: print }) => normal(print));
  const found = older.filter(({ raw, fingerprint: sha1 }) =>
    [fingerprint(raw), sha1].some((print) => prints.includes(normal(print))),
  );
  const suffixes = found.flatMap((each) => readRootCertificate(each.toString(), 'An older root').constraints.suffixes);
  return [...new Set(suffixes)].filter((each) => !current.constraints.suffixes.some((known) => isWithin(each, known)));
}

const withAdvice = (status: StoreTrust, advice: string | undefined): StoreTrust =>
  advice === undefined ? status : { ...status, message: `${status.message} ${advice}` };

const passwordNote = (platform: NodeJS.Platform): string =>
  platform === 'darwin'
    ? 'your password, which macOS asks for in a dialogue'
    : 'an administrator’s password, which sudo asks for';

function failed(store: TrustStore, command: Command, { exitCode, stdout, stderr }: CommandResult): VivariumError {
  const output = `${stderr}\n${stdout}`.trim();
  const reason = store.explainFailure?.(output) ?? output.slice(0, REASON_LENGTH_MAX);
  return unavailable(
    `${store.title} was not changed: the command that ${command.explains} failed (${exitCode ?? 'ended'}). ${reason}`,
  );
}

const unchanged = (store: TrustStore, why: string): VivariumError =>
  unavailable(`${store.title} was read again, and ${why}. Remove it with the store’s own tool.`);

const rootNotFound = (store: TrustStore, fingerprint: string): VivariumError =>
  notFound(`${store.title} has no Vivarium root with the fingerprint ${fingerprint}.`);

async function inSlices<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  action: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += atOnce) {
    results.push(...(await Promise.all(items.slice(start, start + atOnce).map(action))));
  }
  return results;
}
