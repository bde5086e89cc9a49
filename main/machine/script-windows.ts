import { powerShellString } from '../base/text/shell.ts';
import type { Scripted } from './script-posix.ts';
import { markLines, type Step } from './step.ts';

/** Without it, Windows PowerShell reads a script in the code page of the system (about_Character_Encoding). */
const BYTE_ORDER_MARK = '\uFEFF';

/** Latin-1, as in the ledger, so a file in any encoding survives. */
const FUNCTIONS = `$latin1 = [Text.Encoding]::GetEncoding(28591)
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
    return `Swap ${powerShellString(step.path)} ${text(step.was)} ${text(step.is)}`;
  });
  return `${BYTE_ORDER_MARK}# Vivarium: ${what}. The ledger has what was there before; undo.ps1 brings it back.
$Take = $false
${FUNCTIONS}
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
${FUNCTIONS}
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
      return `Remove-Block ${powerShellString(step.path)} ${text(step.is)} ${text(step.was)} ${marks} ${block}`;
    }
    case 'file':
    case 'value':
      return `Swap ${powerShellString(step.path)} ${text(step.is)} ${text(step.was)}`;
  }
}

const text = (content: string | null): string => (content === null ? '$null' : powerShellString(content));
