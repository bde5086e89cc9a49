import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { isGone, leaveDialogs, watchCrashes } from './desktop-pages.ts';
import { DESKTOP_PROGRAM, type DesktopHost, type RunningApp, type ShownDialog } from './desktop.ts';
import { toChromium, privilegedSchemes } from '../electron-stand-in/addresses.ts';
import type { StandInCommand, StandInEvent } from '../electron-stand-in/driver.ts';
import { type Ended, follow } from '../program.ts';

/** The stand-in for Electron's program. */
export const ELECTRON = join(import.meta.dirname, '..', 'electron-stand-in', 'electron');

/** Chromium is slow on a busy machine. */
const PATIENCE_MS = 30_000;

/** The app and its engine start first. Less than a test may take, so that the test says what was there instead. */
const WINDOW_MS_MAX = 120_000;

/** The app, with the parts of its user interface that Electron does not expose. */
export interface StandInApp extends RunningApp {
  /** The lines of the tray's menu, once there is one. */
  trayLabels(): Promise<string[]>;
  /** Clicks an item of the tray's menu. */
  clickTray(label: string): Promise<void>;
  /** What `dialog.showErrorBox` has shown. */
  errorBoxes: { title: string; content: string }[];
  /** Addresses and folders that were opened in other programs. */
  opened: string[];
  /** Downloads of pages, including refused ones. */
  downloads: { url: string; prevented: boolean }[];
  /** Titles of notifications, in order. */
  notifications: string[];
  /** Clicks the last one, if the program still holds it; resolves with how many it holds after that. */
  clickNotification(): Promise<number>;
  /** What it has printed so far. */
  printed: Ended;
  /** Stops reading its output. */
  closeOutput(): void;
}

export interface StandInHost extends DesktopHost {
  /** @param program the app to run, if not the one built by `npm run build` */
  start(args: readonly string[], env: Record<string, string>, program?: string): StandInApp;
}

export const createStandInHost = (): StandInHost => ({ name: 'the stand-in for Electron', missing: null, start });

function start(args: readonly string[], env: Record<string, string>, program = DESKTOP_PROGRAM): StandInApp {
  // As the program registers it, for the addresses of its pages.
  privilegedSchemes.add('app');
  const child = spawn(ELECTRON, [program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...process.env, NO_COLOR: '1', ELECTRON_STAND_IN_NODE: process.execPath, ...env },
  });
  const { printed, ended } = follow(child);
  const early = ended.then<never>((end) => {
    throw new Error(`The app ended with ${end.code ?? end.signal}: ${end.stderr}`);
  });
  early.catch(() => undefined);

  const dialogs = createQueue<ShownDialog>();
  const withdrawn = new Set<number>();
  const browser = Promise.withResolvers<Browser>();
  // The app may end while it is being connected to; who asks for a page gets the reason.
  browser.promise.catch(() => undefined);
  const questions: string[] = [];
  const evaluations = new Map<number, PromiseWithResolvers<unknown>>();
  const errorBoxes: StandInApp['errorBoxes'] = [];
  const opened: string[] = [];
  const downloads: StandInApp['downloads'] = [];
  const notifications: string[] = [];
  let lastId = 0;
  const send = (command: StandInCommand) => {
    // The process may have ended meanwhile.
    if (child.connected) child.send(command, () => undefined);
  };

  child.on('message', (message) => {
    const event = message as StandInEvent;
    switch (event.kind) {
      case 'browser':
        return browser.resolve(connect(event.endpoint));
      case 'dialog':
        questions.push(event.message);
        return dialogs.push({
          ...toDialog(event, (response) => send({ kind: 'answer', id: event.id, response })),
          isWithdrawn: () => withdrawn.has(event.id),
        });
      case 'error-box':
        errorBoxes.push(event);
        return;
      case 'opened':
        opened.push(event.what);
        return;
      case 'download':
        downloads.push({ url: event.url, prevented: event.prevented });
        return;
      case 'notification':
        notifications.push(event.title);
        return;
      case 'evaluated':
        if (event.error === undefined) evaluations.get(event.id)?.resolve(event.value);
        else evaluations.get(event.id)?.reject(new Error(event.error));
        return;
      case 'dialog-closed':
        return void withdrawn.add(event.id);
      case 'fault':
        // The process ends with this fault; `ended` resolves.
        return;
    }
  });

  async function evaluateSource(source: string, argument: unknown): Promise<unknown> {
    const id = ++lastId;
    const evaluation = Promise.withResolvers<unknown>();
    evaluations.set(id, evaluation);
    send({ kind: 'evaluate', id, source, argument });
    return Promise.race([evaluation.promise, early]);
  }

  async function pageAt(address: string): Promise<Page> {
    const connected = await withLimit(Promise.race([browser.promise, early]), () => {
      const asked = questions.length === 0 ? 'without a question' : `having asked: ${questions.join('; ')}`;
      return `The app opened no window, ${asked}. It printed: ${printed.stderr}`;
    });
    const contexts = () => connected.contexts();
    const { promise, resolve, reject } = Promise.withResolvers<Page>();
    const look = () => {
      const found = contexts()
        .flatMap((context) => context.pages())
        .findLast((page) => !isGone(page) && page.url().startsWith(toChromium(address)));
      if (found !== undefined) resolve(found);
    };
    const watch = (page: Page) => {
      page.on('framenavigated', look);
      look();
    };
    for (const context of contexts()) {
      context.pages().forEach(watch);
      context.on('page', watch);
    }
    const timer = setTimeout(() => reject(new Error(`No page is at ${address}.`)), PATIENCE_MS);
    return promise.finally(() => {
      clearTimeout(timer);
      for (const context of contexts()) {
        context.off('page', watch);
        for (const page of context.pages()) page.off('framenavigated', look);
      }
    });
  }

  return {
    page: () => pageAt('app://vivarium/'),
    pageAt,
    evaluate: (run, argument) => evaluateSource(run.toString(), argument) as Promise<never>,
    nextDialog: () => Promise.race([dialogs.next(), early]),
    signal: (signal) => child.kill(signal),
    closeOutput: () => child.stdout?.destroy(),
    ended,
    printed,
    errorBoxes,
    opened,
    downloads,
    notifications,
    clickNotification: () => evaluateSource(`({ clickNotification }) => clickNotification()`, null) as Promise<number>,
    trayLabels: () =>
      evaluateSource(`({ trays: [tray] }) => tray?.menu?.items.map(({ label }) => label) ?? []`, null) as Promise<
        string[]
      >,
    clickTray: (label) =>
      evaluateSource(
        `({ trays: [tray] }, label) => tray.menu.items.find((item) => item.label === label).click()`,
        label,
      ) as Promise<void>,
  };
}

/** @throws Error with what `why` returns when the promise has not settled in time */
async function withLimit<Value>(promise: Promise<Value>, why: () => string): Promise<Value> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(why())), WINDOW_MS_MAX);
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
}

async function connect(endpoint: string): Promise<Browser> {
  const browser = await chromium.connectOverCDP(endpoint);
  for (const context of browser.contexts()) {
    watchCrashes(context);
    leaveDialogs(context);
  }
  return browser;
}

function toDialog(
  { message, detail, buttons, parent }: Extract<StandInEvent, { kind: 'dialog' }>,
  answer: (response: number) => void,
): ShownDialog {
  return {
    message,
    detail,
    buttons,
    parent,
    press(label) {
      const response = buttons.indexOf(label);
      if (response < 0) throw new Error(`The box has no button "${label}", but ${buttons.join(', ')}.`);
      answer(response);
    },
  };
}

function createQueue<Value>() {
  const values: Value[] = [];
  const waiting: ((value: Value) => void)[] = [];
  return {
    push(value: Value) {
      const taker = waiting.shift();
      if (taker === undefined) values.push(value);
      else taker(value);
    },
    next(): Promise<Value> {
      const value = values.shift();
      return value === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(value);
    },
  };
}
