const { VIVARIUM_URL, VIVARIUM_KEY, REPEATS_POST, HAS_NO_TIMEOUT } = process.env;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const IDEMPOTENT = ['GET', 'HEAD', 'PUT', 'DELETE'];

function waitOf(answer, attempt) {
  const value = answer?.headers.get('retry-after') ?? '';
  const date = Date.parse(value);
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  return Number.isNaN(date) ? 100 * 2 ** attempt : Math.max(0, date - Date.now()) + 100;
}

/** Asks again after 429 and 503 and, if the request may be repeated, when it is unknown what came of it. */
export async function request(method, path, body) {
  const mayRepeat = REPEATS_POST === '1' || IDEMPOTENT.includes(method);
  for (let attempt = 0; ; attempt++) {
    let answer;
    let failure;
    try {
      answer = await fetch(VIVARIUM_URL + path, {
        method,
        headers: { Authorization: `Bearer ${VIVARIUM_KEY}`, ...(body && { 'Content-Type': 'application/json' }) },
        body: body && JSON.stringify(body),
        signal: HAS_NO_TIMEOUT === '1' ? undefined : AbortSignal.timeout(5000),
      });
      if (answer.ok) return await answer.json();
      await answer.arrayBuffer();
    } catch (error) {
      failure = error;
    }
    const isRefused = answer?.status === 429 || answer?.status === 503;
    const isLost = failure !== undefined || answer?.status >= 500;
    if (attempt === 3 || !(isRefused || (isLost && mayRepeat))) {
      const what =
        failure === undefined ? answer.status : `${failure.message} (${failure.cause?.code ?? failure.name})`;
      throw new Error(`${method} ${path}: ${what}`);
    }
    await sleep(waitOf(answer, attempt));
  }
}
