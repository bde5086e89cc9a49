import type { NativeTheme, Shell } from 'electron';
import { tell } from './driver.ts';
import { strictly, StrictEmitter } from './strict.ts';

export const shell = strictly('shell', {
  openExternal(url) {
    tell({ kind: 'opened', what: url });
    return Promise.resolve();
  },
  openPath(path) {
    tell({ kind: 'opened', what: path });
    return Promise.resolve('');
  },
} satisfies Partial<Shell>);

export const nativeTheme = strictly('nativeTheme', {
  shouldUseDarkColors: false,
} satisfies Partial<NativeTheme>);

export const powerMonitor = strictly('powerMonitor', new StrictEmitter('powerMonitor', ['shutdown']));
