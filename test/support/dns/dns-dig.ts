import { execFile } from 'node:child_process';
import { linesOf } from './dns-tables.ts';
import { requireTool } from '../tools.ts';

/** Output of `dig` or `kdig` for one question. */
export interface Shown {
  rcode: string;
  flags: string[];
  answer: string[];
  authority: string[];
  additional: string[];
  /** OPT, as shown. */
  edns: string[];
}

/** The standard output of a program, or that of `both` streams. */
export function run(command: string, args: string[], outputs: 'stdout' | 'both' = 'stdout'): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(requireTool(command), args, { timeout: 15_000, maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) => {
      // dig exits with 9 without a reply; its message is then on stdout.
      if (outputs === 'both') resolve(`${stdout}\n${stderr}`);
      else if (error !== null && stdout === '')
        reject(new Error(`${command} ${args.join(' ')}: ${error.message} ${stderr}`));
      else resolve(stdout);
    });
  });
}

/** Sends all questions in one run; `questions` are `name TYPE`. */
export async function dig(
  tool: 'dig' | 'kdig',
  server: { port: number; address?: string },
  questions: string[],
  options: string[] = [],
): Promise<Shown[]> {
  const shared = ['+nocmd', '+noall', '+header', '+comments', '+answer', '+authority', '+additional', '+norecurse'];
  const own =
    tool === 'dig' ? shared.filter((option) => option !== '+header') : shared.filter((option) => option !== '+nocmd');
  const args = [`@${server.address ?? '127.0.0.1'}`, '-p', String(server.port), ...own, ...options];
  const text = await run(tool, [...args, ...questions.flatMap((question) => question.split(' ')).flatMap(asArgument)]);
  return parseShown(text);
}

/** The status and the sorted answers of one question, `NOERROR | A 192.0.2.1`. */
export async function asked(port: number, name: string, type = 'A', ...options: string[]): Promise<string> {
  const [shown] = await dig('dig', { port }, [`${name} ${type}`], options);
  const answers = (shown?.answer ?? []).map((line) => line.split(' ').slice(3).join(' '));
  return [shown?.rcode, ...answers.sort()].join(' | ');
}

/** `-q name -t TYPE`, so that names such as `.` and types such as TYPE65 are unambiguous. */
const asArgument = (word: string, index: number): string[] => [index % 2 === 0 ? '-q' : '-t', word];

function parseShown(text: string): Shown[] {
  const replies: Shown[] = [];
  let section: string[] | null = null;
  for (const line of text.split('\n')) {
    const header = /->>HEADER<<-.*status: (\w+)/.exec(line);
    const last = replies.at(-1);
    if (header !== null) {
      const rcode = (header[1] ?? '').replace('NOTIMPL', 'NOTIMP');
      replies.push({ rcode, flags: [], answer: [], authority: [], additional: [], edns: [] });
      section = null;
    } else if (last === undefined) continue;
    else if (/^;; flags:/i.test(line)) last.flags = (/flags:([^;]*);/i.exec(line)?.[1] ?? '').trim().split(' ');
    else if (/^;; .*SECTION:$/.test(line)) {
      const [name] = /answer|authority|additional/.exec(line.toLowerCase()) ?? [];
      section = name === undefined ? null : last[name as 'answer' | 'authority' | 'additional'];
    } else if (line.startsWith('; ') || /^;; (Version|Option|EDE)/.test(line))
      last.edns.push(line.replace(/^;+ */, ''));
    else if (!line.startsWith(';')) section?.push(...linesOf(line));
  }
  return replies;
}
