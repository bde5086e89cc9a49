/**
 * Loaded into a server before its own code: tells the parent, when asked, the longest stretch of work since it was last
 * asked, in milliseconds of the main thread's processor time. Other processes that hold the core are not the server's
 * doing, so their time does not count; collecting garbage is, so it does.
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
