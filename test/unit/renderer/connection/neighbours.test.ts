import { expect, it, onTestFinished } from 'vitest';
import { createNeighbours, NEIGHBOUR_MS_MAX, type Channel } from '../../../../renderer/connection/neighbours.ts';
import { createFakeClock, settle } from '../../../support/fake-clock.ts';

/** Tabs of one origin: what one posts, the others receive. */
function createOrigin() {
  const tabs: { hear: (event: { data: unknown }) => void; id: number }[] = [];
  const open = (): Channel => {
    const id = tabs.length;
    return {
      postMessage: (data: unknown) => {
        for (const tab of tabs) if (tab.id !== id) tab.hear({ data });
      },
      addEventListener: (_type: string, hear: (event: { data: unknown }) => void) => void tabs.push({ hear, id }),
    };
  };
  return { open };
}

function setUp() {
  const time = createFakeClock();
  onTestFinished(() => time.stop());
  const origin = createOrigin();
  return {
    time,
    tab: (token: string | null) => createNeighbours({ channel: origin.open(), time, token: () => token }),
  };
}

it('a signed-in tab passes its token to a new tab', async () => {
  const { tab } = setUp();
  tab(null);
  tab('signed-in');
  expect(await tab(null).ask()).toBe('signed-in');
});

it('the question ends if no tab is signed in, and no other text is accepted as a token', async () => {
  const { time, tab } = setUp();
  tab(null);
  tab('not a token');
  const answer = tab(null).ask();
  await settle();
  await time.pass(NEIGHBOUR_MS_MAX);
  expect(await answer).toBeNull();
});
