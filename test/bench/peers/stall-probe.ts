/**
 * Loaded into a server before its own code: when asked, tells the parent the longest stretch of work since the last
 * request, in milliseconds of the main thread's processor time. Time in which other processes hold the core does not
 * count; garbage collection does.
 */
const CHECK_MS = 1;

let longestMs = 0;
let usedMs = used();

function used(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function check(): void {
  const nowMs = used();
  longestMs = Math.max(longestMs, nowMs - usedMs);
  usedMs = nowMs;
}

setInterval(check, CHECK_MS).unref();
process.on('message', () => {
  check();
  process.send?.(longestMs);
  longestMs = 0;
});
process.channel?.unref();
