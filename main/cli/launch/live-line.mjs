/** A line that shows that something goes on. Plain Node (≥ 20), as `launch.mjs`. */

/**
 * In a terminal, the line is written over, so that it fits; elsewhere it grows.
 * @param out a stream; standard error by default
 */
export function showLine(title, out = process.stderr) {
  let latest = '';
  let dots = 0;
  out.write(title);
  const over = (text) => out.write(`\r${title}${text}\x1b[K`);
  return {
    /** `text`: what is new; empty if nothing is. */
    show(text = '') {
      if (out.isTTY !== true) return void out.write(text === '' ? ' .' : ` ${text}`);
      latest = text === '' ? latest : ` ${text}`;
      dots = (dots % 3) + 1;
      over(`${latest}${' .'.repeat(dots)}`);
    },
    note: (text) => void out.write(`\n${text}\n`),
    end(text = '') {
      const last = text === '' ? '' : ` ${text}`;
      if (out.isTTY === true) over(last === '' ? latest : last);
      else out.write(last);
      out.write('\n');
    },
  };
}
