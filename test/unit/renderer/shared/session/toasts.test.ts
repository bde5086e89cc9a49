// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import { Toasts } from '../../../../../renderer/shared/session/toasts.svelte.ts';
import { refuses } from '../../../../support/fake-client.ts';
import { createFakeClock, settle } from '../../../../support/fake-clock.ts';

function setUp() {
  const time = createFakeClock();
  const toasts = new Toasts(time);
  const undo = async () => {
    toasts.undoLast();
    await settle();
  };
  return { time, toasts, undo, texts: () => toasts.list.map(({ text }) => text) };
}

describe('toasts', () => {
  it('disappear after a while, but not while the user reads them', async () => {
    const { time, toasts, texts } = setUp();
    toasts.say('Copied.');
    await time.pass(9_999);
    expect(texts()).toEqual(['Copied.']);
    toasts.hold();
    await time.pass(60_000);
    expect(texts()).toEqual(['Copied.']);
    toasts.release();
    await time.pass(10_000);
    expect(texts()).toEqual([]);
  });

  it('that appear while the user reads stay as well', async () => {
    const { time, toasts, texts } = setUp();
    toasts.hold();
    toasts.say('Copied.');
    await time.pass(60_000);
    expect(texts()).toEqual(['Copied.']);
  });

  it('are at most four; the oldest is removed first', () => {
    const { toasts, texts } = setUp();
    for (const text of ['1', '2', '3', '4', '5', '6']) toasts.say(text);
    expect(texts()).toEqual(['3', '4', '5', '6']);
  });

  it('of one kind replace each other, and each can still be undone', async () => {
    const { toasts, undo, texts } = setUp();
    const undone: string[] = [];
    for (const name of ['Ada', 'Rex']) {
      toasts.done({ text: `Sold ${name}.`, undo: async () => undone.push(name), undone: 'Back.', kind: 'sold' });
    }
    expect(texts()).toEqual(['Sold Rex.']);
    await undo();
    await undo();
    expect(undone).toEqual(['Rex', 'Ada']);
  });

  it('undo the last action first, even if its report is gone, and each action once', async () => {
    const { time, toasts, undo, texts } = setUp();
    const undone: string[] = [];
    const remove = (name: string) =>
      toasts.done({ text: `Removed ${name}.`, undo: async () => undone.push(name), undone: `${name} is back.` });
    remove('Ada');
    remove('Rex');
    await time.pass(20_000);
    for (let count = 0; count < 3; count++) await undo();
    expect(undone).toEqual(['Rex', 'Ada']);
    expect(texts()).toEqual(['Rex is back.', 'Ada is back.']);
    expect(toasts.canUndo).toBe(false);
  });

  it('end with their session, and so does what could be undone', async () => {
    const { toasts, undo, texts } = setUp();
    const undone: string[] = [];
    toasts.done({ text: 'Removed Ada.', undo: async () => undone.push('Ada'), undone: 'Ada is back.' });
    toasts.clear();
    await undo();
    expect([undone, texts(), toasts.canUndo]).toEqual([[], [], false]);
  });

  it('report what failed, and why', async () => {
    const { toasts, texts } = setUp();
    await toasts.attempt('The zone could not be removed.', async () => refuses('not_found', 'There is none.')());
    await toasts.attempt('Nothing.', () => Promise.resolve());
    expect(toasts.list.map(({ tone }) => tone)).toEqual(['failed']);
    expect(texts()).toEqual(['The zone could not be removed. There is none.']);
  });

  it('report the result of an undo that is known only afterwards', async () => {
    const { toasts, undo, texts } = setUp();
    let state = 'pending';
    toasts.done({ text: 'Removed.', undo: async () => (state = 'verified'), undone: () => `It is back, ${state}.` });
    await undo();
    expect(texts()).toEqual(['It is back, verified.']);
  });

  it('report why something could not be undone', async () => {
    const { toasts, undo } = setUp();
    const refused = async () => refuses('conflict', 'There is a pet 7 already.')();
    toasts.done({ text: 'Removed Ada.', undo: refused, undone: 'Ada is back.' });
    await undo();
    const text = 'It could not be undone. There is a pet 7 already.';
    expect(toasts.list).toMatchObject([{ tone: 'failed', text }]);
  });
});
