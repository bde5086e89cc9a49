import type { ErrorCode, InputIssue } from '../contract/errors.ts';
import type { RuntimeFile } from '../base/config.ts';

/** To the thread of the engines. `engine` names one. */
export type EngineRequest =
  | { kind: 'start'; engine: number; dataDir: string; empty: boolean }
  | { kind: 'stop'; engine: number };

/** What a started engine is. */
export interface Started {
  runtime: RuntimeFile;
  /** The procedures of the contract. */
  procedures: { namespace: string; name: string; isStream: boolean }[];
}

/** From the thread of the engines. */
export type EngineEvent =
  | { kind: 'started'; engine: number; started: Started }
  /** It runs no more, after a request or after `POST /stop` of its control port. */
  | { kind: 'stopped'; engine: number }
  | { kind: 'failed'; engine: number; error: { code: ErrorCode; message: string; issues: readonly InputIssue[] } };
