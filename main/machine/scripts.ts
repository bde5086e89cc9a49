import { posixPrintf, posixWord, powerShellString } from '../base/text/shell.ts';
import { markLines, type Step } from './change.ts';

/** The subject of a script: a change, or an entry of the ledger. */
interface Scripted {
  id: string;
  what: string;
  steps: readonly Step[];
  afterApply: readonly string[];
  afterUndo: readonly string[];
  /** Runs as the user who owns the trust stores, not as the administrator. */
  asUser?: boolean;
}

/**
 * The functions of both scripts. They need the programs that every system has: cat, cp, mv, rm, sed, grep. A file is
 * replaced only if it has the content that the script expects, by a rename, so readers and a crash find either the old
 * or the new one. A file that cannot be renamed onto (a bind mount, as in containers) is written in place; its complete
 * text stays beside it until then, so the next run recognises a torn one.
 */
const FUNCTIONS = `
left=0
leave() { echo "$1" >&2; left=1; }
same() { [ -f "$1" ] && [ "$("$2"; echo .)" = "$(cat "$1"; echo .)" ]; }
has() { if [ "$2" = none ]; then [ ! -e "$1" ]; else same "$1" "$2"; fi; }
torn() {
  [ -f "$1" ] && [ -f "$1.vivarium-new" ] || return 1
  part=$(cat "$1"; echo .); whole=$(cat "$1.vivarium-new"; echo .)
  case $whole in "\${part%.}"*) return 0 ;; *) return 1 ;; esac
}
put() {
  if [ -e "$1" ]; then cp -p "$1" "$1.vivarium-new" || return 1; fi
  cat >"$1.vivarium-new" || return 1
  sync "$1.vivarium-new" 2>/dev/null || :
  mv -f "$1.vivarium-new" "$1" 2>/dev/null || { cat "$1.vivarium-new" >"$1" && rm -f "$1.vivarium-new"; } || return 1
  if command -v restorecon >/dev/null 2>&1; then restorecon "$1" 2>/dev/null || :; fi
}
swap() {
  file=$root$1
  if has "$file" "$3"; then rm -f "$file.vivarium-new"; return; fi
  if ! has "$file" "$2" && ! torn "$file" && [ $take = 0 ]; then
    leave "$1 was changed since, and is left alone."; return
  fi
  if [ "$3" = none ]; then rm -f "$file" "$file.vivarium-new"; else "$3" | put "$file"; fi ||
    leave "$1 could not be written."
}
unblock() {
  file=$root$1
  if has "$file" "$2" || has "$file" "$3" || torn "$file"; then swap "$1" "$2" "$3"; return; fi
  rm -f "$file.vivarium-new"
  grep -q "$4" "$file" 2>/dev/null || return 0
  if ! grep -q "$5" "$file"; then leave "$1 has only one of Vivarium's two marks: edit it by hand."; return; fi
  if [ "$(sed -n "/$4/,/$5/p" "$file")" != "$("$6")" ] && [ $take = 0 ]; then
    leave "$1 was changed between Vivarium's marks, and is left alone."; return
  fi
  sed "/$4/,/$5/d" "$file" | put "$file" || leave "$1 could not be written."
}
value() {
  now=$(cat "$root$1" 2>/dev/null) || now=
  if [ "$now" = "$3" ]; then return; fi
  if [ "$now" != "$2" ] && [ $take = 0 ]; then leave "$1 is $now, and is left alone."; return; fi
  { echo "$3" >"$root$1"; } 2>/dev/null || leave "$1 could not be written."
}
folder() { [ -d "$root$1" ] || mkdir "$root$1" || leave "$1 could not be made."; }
run() { "$@" || echo "This failed, and may be run again: $*" >&2; }
`;

const head = (what: string, root: string): string => `#!/bin/sh
# ${what}
set -u
umask 022
LC_ALL=C; export LC_ALL
root=${posixWord(root)}`;

/** The script that makes one change. It exits with 1 if the machine has changed since the plan. */
export function renderPosixApply({ what, steps, afterApply }: Scripted, root: string): string {
  const texts: string[] = [];
  const name = (text: string | null): string => functionOf(text, texts);
  const done = steps.flatMap((step): string[] => {
    switch (step.kind) {
      case 'file':
        return [...step.folders.map((path) => `folder ${posixWord(path)}`), swap(step.path, 'none', name(step.is))];
      case 'block':
        return [swap(step.path, name(step.was), name(step.is))];
      case 'value':
        return [value(step.path, step.was, step.is)];
      case 'command':
        return [step.apply];
    }
  });
  return `${head(`Vivarium: ${what}. The ledger has what was there before; undo.sh brings it back.`, root)}
take=0
${FUNCTIONS}
${texts.join('')}
${done.flatMap((line) => [line, '[ $left = 0 ] || exit 1']).join('\n')}
${afterApply.map((command) => `run ${command}`).join('\n')}
`;
}

/** The script that undoes entries without Vivarium, last first. It exits with 1 if something was left. */
export function renderPosixUndo(entries: readonly Scripted[], root: string): string {
  const texts: string[] = [];
  const name = (text: string | null): string => functionOf(text, texts);
  const latest = entries.toReversed();
  const undo = ({ steps, afterUndo }: Scripted): string[] => [
    ...steps.toReversed().flatMap((step): string[] => {
      switch (step.kind) {
        case 'file':
          return [
            swap(step.path, name(step.is), 'none'),
            ...step.folders.toReversed().map((path) => `rmdir "$root"${posixWord(path)} 2>/dev/null || :`),
          ];
        case 'block': {
          const [begin, end] = markLines(step.mark);
          const block = name(`${[begin, ...step.lines, end].join('\n')}\n`);
          const marks = [begin, end].map((line) => posixWord(`^${line.replaceAll('.', '\\.')}$`));
          return [`unblock ${posixWord(step.path)} ${name(step.is)} ${name(step.was)} ${marks.join(' ')} ${block}`];
        }
        case 'value':
          return [value(step.path, step.is, step.was)];
        case 'command':
          return [
            `as_user ${posixWord(step.undo)} || echo ${posixWord(`Not undone, or undone before: ${step.path}`)} >&2`,
          ];
      }
    }),
    ...afterUndo.map((command) => `run ${command}`),
  ];
  const part = (those: readonly Scripted[]): string =>
    those
      .map((entry) => `if wanted ${posixWord(entry.id)}; then\n${undo(entry).join('\n')}\nfi`)
      .concat(':')
      .join('\n');
  const own = part(latest.filter(({ asUser }) => asUser === true));
  const others = latest.filter(({ asUser }) => asUser !== true);
  const administrators = part(others);
  return `${head('Vivarium: takes back what it changed on this machine. Usage: sh undo.sh [--take] [ID…]', root)}
# --take also takes back what somebody else changed since. The ids; without one, all:
${latest.map(({ id, what }) => `#   ${id}  ${what}`).join('\n')}
take=0; files=0; ids=
for word do
  case $word in --take) take=1 ;; --files) files=1 ;; *) ids="$ids $word" ;; esac
done
wanted() { case "\${ids:- $1} " in *" $1 "*) return 0 ;; *) return 1 ;; esac; }
as_user() {
  if [ "$(id -u)" = 0 ] && [ -n "\${SUDO_USER-}" ]; then sudo -u "$SUDO_USER" -H sh -c "$1"; else sh -c "$1"; fi
}
${FUNCTIONS}
${texts.join('')}
if [ $files = 0 ]; then
${own}
fi
${others.length === 0 ? 'exit $left' : ''}
if [ $files = 0 ] && [ "$(id -u)" != 0 ] && { ${others.map(({ id }) => `wanted ${posixWord(id)}`).join(' || ') || 'false'}; }; then
  if [ $take = 1 ]; then exec sudo sh "$0" --files --take $ids; else exec sudo sh "$0" --files $ids; fi
fi
${administrators}
exit $left
`;
}

const swap = (path: string, from: string, to: string): string => `swap ${posixWord(path)} ${from} ${to}`;
const value = (path: string, from: string, to: string): string =>
  `value ${posixWord(path)} ${posixWord(from)} ${posixWord(to)}`;

/** A shell function that prints a text; `none` stands for a missing file. */
function functionOf(text: string | null, texts: string[]): string {
  if (text === null) return 'none';
  const name = `text_${texts.length}`;
  texts.push(`${name}() { ${posixPrintf(Buffer.from(text, 'latin1'))}; }\n`);
  return name;
}

/** Without it, Windows PowerShell reads a script in the code page of the system (about_Character_Encoding). */
const BYTE_ORDER_MARK = '\uFEFF';

/** Latin-1, as in the ledger, so a file in any encoding survives. */
const WINDOWS_FUNCTIONS = `$latin1 = [Text.Encoding]::GetEncoding(28591)
$script:left = 0
function Leave($text) { [Console]::Error.WriteLine($text); $script:left = 1 }
function Read-Text($path) { if (Test-Path -LiteralPath $path) { $latin1.GetString([IO.File]::ReadAllBytes($path)) } }
function Write-Text($path, $text) {
  [IO.File]::WriteAllBytes("$path.vivarium-new", $latin1.GetBytes($text))
  if (Test-Path -LiteralPath $path) { [IO.File]::Replace("$path.vivarium-new", $path, $null) }
  else { [IO.File]::Move("$path.vivarium-new", $path) }
}
function Swap($path, $from, $to) {
  $now = Read-Text $path
  if ($now -ceq $to) { return }
  if (($now -cne $from) -and -not $Take) { Leave "$path was changed since, and is left alone."; return }
  try { if ($null -eq $to) { Remove-Item -LiteralPath $path } else { Write-Text $path $to } }
  catch { Leave "$path could not be written." }
}
function Remove-Block($path, $is, $was, $begin, $end, $block) {
  $now = Read-Text $path
  if (($now -ceq $is) -or ($now -ceq $was)) { Swap $path $is $was; return }
  if (($null -eq $now) -or -not $now.Contains($begin)) { return }
  $pattern = '(?ms)^' + [regex]::Escape($begin) + '\\r?$.*?^' + [regex]::Escape($end) + '\\r?\\n?'
  $found = [regex]::Match($now, $pattern)
  if (-not $found.Success) { Leave "$path has only one of Vivarium's two marks: edit it by hand."; return }
  if (($found.Value.Replace("\`r", '').TrimEnd() -cne $block) -and -not $Take) {
    Leave "$path was changed between Vivarium's marks, and is left alone."; return
  }
  try { Write-Text $path ($now.Remove($found.Index, $found.Length)) } catch { Leave "$path could not be written." }
}
`;

/** The script that makes one change as administrator. Its text is tested, but not run: tests run on Linux. */
export function renderWindowsApply({ what, steps, afterApply }: Scripted): string {
  const done = steps.map((step) => {
    if (step.kind === 'command') return step.apply;
    return `Swap ${powerShellString(step.path)} ${quoted(step.was)} ${quoted(step.is)}`;
  });
  return `${BYTE_ORDER_MARK}# Vivarium: ${what}. The ledger has what was there before; undo.ps1 brings it back.
$Take = $false
${WINDOWS_FUNCTIONS}
${done.flatMap((line) => [line, 'if ($script:left) { exit 1 }']).join('\n')}
${afterApply.join('\n')}
`;
}

/** The script that undoes entries without Vivarium, last first. */
export function renderWindowsUndo(entries: readonly Scripted[]): string {
  const parts = entries.toReversed().map(({ id, steps, afterUndo }) => {
    const lines = [...steps.toReversed().map(undoOf), ...afterUndo];
    return `if (($Id.Count -eq 0) -or ($Id -contains ${powerShellString(id)})) {\n${lines.join('\n')}\n}`;
  });
  return `${BYTE_ORDER_MARK}# Vivarium: takes back what it changed on this machine, in PowerShell as administrator.
# Usage: powershell -ExecutionPolicy Bypass -File undo.ps1 [-Take] [ID…]
# -Take also takes back what somebody else changed since.
param([switch]$Take, [Parameter(ValueFromRemainingArguments)][string[]]$Id = @())
${WINDOWS_FUNCTIONS}
${parts.join('\n')}
exit $script:left
`;
}

function undoOf(step: Step): string {
  switch (step.kind) {
    case 'command':
      return step.test === null ? step.undo : `if (${step.test}) { ${step.undo} }`;
    case 'block': {
      const [begin, end] = markLines(step.mark);
      const block = powerShellString([begin, ...step.lines, end].join('\n'));
      const marks = `${powerShellString(begin)} ${powerShellString(end)}`;
      return `Remove-Block ${powerShellString(step.path)} ${quoted(step.is)} ${quoted(step.was)} ${marks} ${block}`;
    }
    case 'file':
    case 'value':
      return `Swap ${powerShellString(step.path)} ${quoted(step.is)} ${quoted(step.was)}`;
  }
}

const quoted = (content: string | null): string => (content === null ? '$null' : powerShellString(content));
