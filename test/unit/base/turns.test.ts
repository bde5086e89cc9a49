import { describe, expect, it } from 'vitest';
import { nextTurn, createTurns } from '../../../main/base/turns.ts';

describe('turns', () => {
  it('let two actions run at a time, and the others in the order of their calls', async () => {
    const turns = createTurns(2);
    const begun: string[] = [];
    const ends = new Map<string, PromiseWithResolvers<string>>();
    const results = ['a', 'b', 'c', 'd'].map((name) =>
      turns.enqueue(() => {
        begun.push(name);
        const end = Promise.withResolvers<string>();
        ends.set(name, end);
        return end.promise;
      }),
    );
    expect([begun, turns.waiting()]).toEqual([['a', 'b'], 2]);
    ends.get('b')?.resolve('B');
    await nextTurn();
    expect([begun, turns.waiting()]).toEqual([['a', 'b', 'c'], 1]);
    for (const name of ['a', 'c']) ends.get(name)?.resolve(name.toUpperCase());
    await nextTurn();
    ends.get('d')?.resolve('D');
    expect(await Promise.all(results)).toEqual(['A', 'B', 'C', 'D']);
  });

  it('continue after an action that fails', async () => {
    const turns = createTurns(1);
    const failing = turns.enqueue(() => Promise.reject(new Error('no')));
    const next = turns.enqueue(() => Promise.resolve('yes'));
    await expect(failing).rejects.toThrow('no');
    expect(await next).toBe('yes');
  });

  it('are not overtaken by a call that arrives when one ends', async () => {
    const turns = createTurns(1);
    const begun: string[] = [];
    const action = (name: string) => () => {
      begun.push(name);
      return Promise.resolve();
    };
    const first = turns.enqueue(action('first')).then(() => turns.enqueue(action('late')));
    await Promise.all([first, turns.enqueue(action('second')), turns.enqueue(action('third'))]);
    expect(begun).toEqual(['first', 'second', 'third', 'late']);
  });
});
