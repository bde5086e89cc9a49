/** The names of procedures that change nothing, or only for as long as their stream is read, in every namespace. */
const READING = new Set(
  (
    'list running readable get getMany previewImport rates usage describe export owners platform propagating query explain trustStatus ' +
    'accounts externalKeys orders refusals limits watch hold summary har requests proxy browser lookup snippets run diff plan status catalogue report whatIf ask rehearse'
  ).split(' '),
);

/** Whether a procedure, such as `pets.list`, changes nothing: asking again is harmless without an idempotency key. */
export const isReading = (procedure: string): boolean => READING.has(procedure.slice(procedure.indexOf('.') + 1));

/** How long the engine keeps the outcome of a call under its idempotency key, in real milliseconds. */
export const OUTCOME_MS_MAX = 10 * 60_000;
