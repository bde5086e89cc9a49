import type { Services } from '../contract/index.ts';
import type { LanStatus } from '../contract/lan.ts';

export function createLanServices(lan: {
  status(): LanStatus;
  start(wanted: string, keep?: boolean): Promise<void>;
  stop(): Promise<void>;
}): Services['lan'] {
  return {
    status: lan.status,
    async start(input) {
      await lan.start(input?.interface ?? '', input?.keep ?? false);
      return lan.status();
    },
    async stop() {
      await lan.stop();
      return lan.status();
    },
  };
}
