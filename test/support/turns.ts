/** How often other work could run before `work` had ended. */
export async function turnsDuring(work: () => unknown): Promise<number> {
  let turns = 0;
  let working = true;
  const count = () => {
    if (!working) return;
    turns++;
    setImmediate(count);
  };
  setImmediate(count);
  await work();
  working = false;
  return turns;
}
