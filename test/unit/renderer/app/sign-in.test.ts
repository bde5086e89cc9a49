// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import { SignIn } from '../../../../renderer/app/sign-in.svelte.ts';
import { Preferences } from '../../../../renderer/shared/session/preferences.svelte.ts';
import { createMemoryStorage, openStorage } from '../../../../renderer/shared/session/storage.ts';
import { createFakeClock, settle } from '../../../support/fake-clock.ts';
import { openSession } from '../../../support/page/page-parts.ts';
import { createFakeTransport } from '../../../support/page/page-link.ts';

function setUp(storage = createMemoryStorage(), neighbour: string | null = null) {
  const tokens: string[] = [];
  const visited: string[] = [];
  const tickets = new Map([['once', 'session']]);
  const transport = createFakeTransport();
  for (const procedure of ['status.get', 'projects.list']) transport.stub(procedure, () => []);
  const time = createFakeClock();
  const signIn = new SignIn({
    origin: 'http://127.0.0.1:4780',
    storage,
    openSession: (token) => {
      tokens.push(token);
      return openSession(transport, time);
    },
    redeem(ticket) {
      const token = tickets.get(ticket) ?? null;
      tickets.delete(ticket);
      return ticket === 'nobody' ? Promise.reject(new Error('gone')) : Promise.resolve(token);
    },
    askNeighbours: () => Promise.resolve(neighbour),
    navigate: (href) => visited.push(href),
  });
  return { signIn, transport, time, tokens, visited, storage };
}

describe('sign-in', () => {
  it('removes the token from the address, and remembers it for the tab', () => {
    const first = setUp();
    expect(first.signIn.enter('#token=abc')).toBe(true);
    expect(first.signIn.session).not.toBeNull();
    const reloaded = setUp(first.storage);
    expect(reloaded.signIn.enter('')).toBe(false);
    expect(reloaded.tokens).toEqual(['abc']);
  });

  it('follows another tab of its origin, and asks for a link if there is none', async () => {
    const { signIn, tokens, storage } = setUp(createMemoryStorage(), 'shared');
    signIn.enter('');
    expect(signIn.redeeming).toBe(true);
    await settle();
    expect([signIn.redeeming, tokens, signIn.token]).toEqual([false, ['shared'], 'shared']);
    expect(setUp(storage).signIn.enter('')).toBe(false);
    const alone = setUp();
    alone.signIn.enter('');
    await settle();
    expect([alone.signIn.redeeming, alone.signIn.session, alone.signIn.token]).toEqual([false, null, null]);
  });

  it('exchanges the ticket of a link once', async () => {
    const { signIn, tokens, storage } = setUp();
    expect(signIn.enter('#ticket=once')).toBe(true);
    expect([signIn.redeeming, signIn.session]).toEqual([true, null]);
    await settle();
    expect([signIn.redeeming, tokens]).toEqual([false, ['session']]);
    const again = setUp(storage);
    again.signIn.enter('#ticket=used');
    await settle();
    expect([again.tokens, again.signIn.fault]).toEqual([['session'], expect.stringContaining('has been used')]);
  });

  it.each([
    ['used', 'has been used, or is too old'],
    ['nobody', 'does not answer'],
  ])('shows why the ticket %s does not sign in', async (ticket, fault) => {
    const { signIn } = setUp();
    signIn.paste(`http://127.0.0.1:4780/#ticket=${ticket}`);
    await settle();
    expect([signIn.session, signIn.redeeming, signIn.fault]).toEqual([null, false, expect.stringContaining(fault)]);
  });

  it('asks for a link without a token', () => {
    const { signIn } = setUp();
    expect(signIn.enter('')).toBe(false);
    expect([signIn.session, signIn.refused]).toEqual([null, false]);
  });

  it('accepts a new link that is opened in the same tab', () => {
    const { signIn, tokens } = setUp();
    signIn.enter('#token=old');
    const old = signIn.session;
    signIn.enter('#token=new');
    expect(tokens).toEqual(['old', 'new']);
    expect(old?.connection.phase).toBe('stopped');
  });

  it('shows a session that needs no link, as in the desktop’s window', () => {
    const { signIn, transport, time, tokens, storage } = setUp();
    const session = openSession(transport, time, storage);
    signIn.admit(session);
    expect([signIn.session, signIn.refused, tokens, transport.opened]).toEqual([session, false, [], 1]);
  });

  it('stays signed in when the fragment changes to something else', () => {
    const { signIn, tokens } = setUp();
    signIn.enter('#token=abc');
    signIn.enter('#elsewhere');
    expect(tokens).toEqual(['abc']);
  });

  it('signs in with the pasted text, reports what is wrong with it, or goes where it leads', () => {
    const { signIn, tokens, visited } = setUp();
    signIn.paste('nothing of the kind');
    expect(signIn.fault).toContain('neither a link nor a token');
    signIn.paste('http://127.0.0.1:4790/#token=abc');
    expect([signIn.fault, visited]).toEqual([undefined, ['http://127.0.0.1:4790/#token=abc']]);
    signIn.paste('http://127.0.0.1:4780/#token=abc');
    expect(tokens).toEqual(['abc']);
  });

  it('asks for another link when the token is refused before anything was shown', async () => {
    const { signIn, transport } = setUp();
    transport.becomes('refusing');
    signIn.enter('#token=old');
    await settle();
    expect([signIn.session, signIn.refused]).toEqual([null, true]);
  });

  it('keeps the pasted text when it is refused', async () => {
    const { signIn, transport } = setUp();
    transport.becomes('refusing');
    signIn.paste('mistyped');
    await settle();
    expect([signIn.session, signIn.refused, signIn.pasted]).toEqual([null, true, 'mistyped']);
  });

  it('keeps the page when the token is refused later, until the user asks for a new link', async () => {
    const { signIn, transport, time } = setUp();
    signIn.enter('#token=old');
    await settle();
    transport.becomes('refusing');
    transport.drop();
    await time.pass(1_000);
    expect(signIn.session?.connection.phase).toBe('refused');
    signIn.askAgain();
    expect(signIn.session).toBeNull();
    transport.becomes('reachable');
    signIn.paste('fresh');
    await settle();
    expect(signIn.session?.connection.phase).toBe('open');
  });
});

describe('remembered values', () => {
  it('are kept in memory if the browser stores nothing', () => {
    const storage = openStorage(() => {
      throw new Error('denied');
    });
    storage.setItem('a', '1');
    expect(storage.getItem('a')).toBe('1');
    storage.removeItem('a');
    expect(storage.getItem('a')).toBeNull();
  });

  it('include the theme, applied from the start', () => {
    const storage = createMemoryStorage();
    const applied: string[] = [];
    new Preferences(storage, (choice) => applied.push(choice)).theme = 'dark';
    expect(new Preferences(storage, (choice) => applied.push(choice)).theme).toBe('dark');
    expect(applied).toEqual(['system', 'dark', 'dark']);
  });

  it('default to the system’s theme if the stored one is invalid', () => {
    const storage = createMemoryStorage();
    storage.setItem('vivarium.theme', 'neon');
    expect(new Preferences(storage, () => undefined).theme).toBe('system');
  });
});
