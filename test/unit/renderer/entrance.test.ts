// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import { Entrance } from '../../../renderer/state/entrance.svelte.ts';
import { Session } from '../../../renderer/state/session.svelte.ts';
import { createMemoryStorage, openStorage } from '../../../renderer/state/storage.ts';
import { Preferences } from '../../../renderer/state/preferences.svelte.ts';
import { createFakeClock, settle } from '../../support/fake-clock.ts';
import { createFakeTransport } from '../../support/page-link.ts';

function setUp(storage = createMemoryStorage()) {
  const tokens: string[] = [];
  const visited: string[] = [];
  const transport = createFakeTransport();
  for (const procedure of ['status.get', 'projects.list']) transport.teach(procedure, () => []);
  const time = createFakeClock();
  const entrance = new Entrance({
    origin: 'http://127.0.0.1:4780',
    storage,
    openSession: (token) => {
      tokens.push(token);
      return new Session({ transport, time, storage: createMemoryStorage(), named: () => undefined });
    },
    navigate: (href) => visited.push(href),
  });
  return { entrance, transport, time, tokens, visited, storage };
}

describe('the entrance', () => {
  it('takes the token out of the address, and remembers it for the tab', () => {
    const first = setUp();
    expect(first.entrance.enter('#token=abc')).toBe(true);
    expect(first.entrance.session).not.toBeNull();
    const reloaded = setUp(first.storage);
    expect(reloaded.entrance.enter('')).toBe(false);
    expect(reloaded.tokens).toEqual(['abc']);
  });

  it('asks for a link without a token', () => {
    const { entrance } = setUp();
    expect(entrance.enter('')).toBe(false);
    expect([entrance.session, entrance.refused]).toEqual([null, false]);
  });

  it('takes a new link that is opened in the same tab', () => {
    const { entrance, tokens } = setUp();
    entrance.enter('#token=old');
    const old = entrance.session;
    entrance.enter('#token=new');
    expect(tokens).toEqual(['old', 'new']);
    expect(old?.connection.phase).toBe('stopped');
  });

  it('shows a session that needs no link, as in the desktop’s window', () => {
    const { entrance, transport, time, tokens, storage } = setUp();
    const session = new Session({ transport, time, storage, named: () => undefined });
    entrance.admit(session);
    expect([entrance.session, entrance.refused, tokens, transport.opened]).toEqual([session, false, [], 1]);
  });

  it('stays signed in when the fragment changes to something else', () => {
    const { entrance, tokens } = setUp();
    entrance.enter('#token=abc');
    entrance.enter('#elsewhere');
    expect(tokens).toEqual(['abc']);
  });

  it('signs in with what is pasted, says what is wrong with it, or goes where it leads', () => {
    const { entrance, tokens, visited } = setUp();
    entrance.paste('nothing of the kind');
    expect(entrance.fault).toContain('neither a link nor a token');
    entrance.paste('http://127.0.0.1:4790/#token=abc');
    expect([entrance.fault, visited]).toEqual([undefined, ['http://127.0.0.1:4790/#token=abc']]);
    entrance.paste('http://127.0.0.1:4780/#token=abc');
    expect(tokens).toEqual(['abc']);
  });

  it('asks for another link when the token is refused before anything was shown', async () => {
    const { entrance, transport } = setUp();
    transport.becomes('refusing');
    entrance.enter('#token=old');
    await settle();
    expect([entrance.session, entrance.refused]).toEqual([null, true]);
  });

  it('keeps what was pasted when it is refused', async () => {
    const { entrance, transport } = setUp();
    transport.becomes('refusing');
    entrance.paste('mistyped');
    await settle();
    expect([entrance.session, entrance.refused, entrance.pasted]).toEqual([null, true, 'mistyped']);
  });

  it('keeps the page when the token is refused later, until the reader asks for a new link', async () => {
    const { entrance, transport, time } = setUp();
    entrance.enter('#token=old');
    await settle();
    transport.becomes('refusing');
    transport.drop();
    await time.pass(1_000);
    expect(entrance.session?.connection.phase).toBe('refused');
    entrance.askAgain();
    expect(entrance.session).toBeNull();
    transport.becomes('reachable');
    entrance.paste('fresh');
    await settle();
    expect(entrance.session?.connection.phase).toBe('open');
  });
});

describe('what is remembered', () => {
  it('is kept in memory where the browser keeps nothing', () => {
    const storage = openStorage(() => {
      throw new Error('denied');
    });
    storage.setItem('a', '1');
    expect(storage.getItem('a')).toBe('1');
    storage.removeItem('a');
    expect(storage.getItem('a')).toBeNull();
  });

  it('is the theme, applied from the start', () => {
    const storage = createMemoryStorage();
    const applied: string[] = [];
    new Preferences(storage, (choice) => applied.push(choice)).theme = 'dark';
    expect(new Preferences(storage, (choice) => applied.push(choice)).theme).toBe('dark');
    expect(applied).toEqual(['system', 'dark', 'dark']);
  });

  it('is the system’s theme when what was stored is none', () => {
    const storage = createMemoryStorage();
    storage.setItem('vivarium.theme', 'neon');
    expect(new Preferences(storage, () => undefined).theme).toBe('system');
  });
});
