import { EXIT_OK } from '../text/io.ts';
import { localCommand } from './command.ts';
import { usageError } from './flags.ts';

/** Each asks `vivarium complete` for candidates. A reply of `:files` leaves the word to the shell's own file names. */
const SCRIPTS: Readonly<Record<string, string>> = {
  // The program reads the line itself: bash splits words at each ":" and "=". Works with bash 3.2, which macOS has.
  bash: `_vivarium() {
  local candidate IFS=$'\\n'
  COMPREPLY=()
  while IFS= read -r candidate; do
    if [ "$candidate" = :files ]; then
      COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
    else
      COMPREPLY[\${#COMPREPLY[@]}]=$candidate
    fi
  done < <(vivarium complete --bash "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
}
complete -F _vivarium vivarium
`,
  zsh: `#compdef vivarium
_vivarium() {
  local candidate
  local -a values shown
  for candidate in "\${(@f)$(vivarium complete -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}"; do
    if [[ $candidate == :files ]]; then _files; return; fi
    [[ -n $candidate ]] || continue
    values+=("\${candidate%%$'\\t'*}")
    shown+=("\${candidate/$'\\t'/  -- }")
  done
  compadd -l -d shown -a values
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
compdef _vivarium vivarium
`,
  fish: `function __vivarium_complete
  set -l before (commandline -opc)
  set -l current (commandline -ct | string unescape)
  set -l candidates (vivarium complete -- $before[2..-1] "$current" 2>/dev/null)
  if test "$candidates" = :files
    __fish_complete_path "$current"
  else
    printf '%s\\n' $candidates
  end
end
complete -c vivarium -f -a '(__vivarium_complete)'
`,
  // All words are one argument: PowerShell drops empty ones, and npm's script of the command drops "--". Without
  // candidates, PowerShell completes the names of files.
  powershell: String.raw`Register-ArgumentCompleter -Native -CommandName vivarium -ScriptBlock {
  param($current, $line, $cursor)
  $before = @($line.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object {
    if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.Extent.Text }
  })
  $words = ($before + ($current -replace '^["'']', '')) -join [char]9
  vivarium complete "--powershell=$words" 2>$null | Where-Object { $_ -ne ':files' } | ForEach-Object {
    $value, $does = $_ -split [char]9, 2
    $typed = if ($value -match '^[\w./:+=*-]+$') { $value } else { "'" + $value.Replace("'", "''") + "'" }
    $shown = if ($does) { $does } else { $value }
    [System.Management.Automation.CompletionResult]::new($typed, $value, 'ParameterValue', $shown)
  }
}
`,
};

const SHELLS = Object.keys(SCRIPTS);

export const COMPLETION = localCommand({
  name: 'completion',
  title: 'a shell script that completes commands, options and names',
  usage: [SHELLS.join('|')],
  options: [],
  words: SHELLS,
  notes: [
    'To install it:',
    "  bash        echo 'source <(vivarium completion bash)' >> ~/.bashrc",
    "  zsh         echo 'source <(vivarium completion zsh)' >> ~/.zshrc",
    '  fish        mkdir -p ~/.config/fish/completions && vivarium completion fish > ~/.config/fish/completions/vivarium.fish',
    "  powershell  Add-Content $PROFILE 'vivarium completion powershell | Out-String | Invoke-Expression'",
    '',
    'Projects, hostnames, zones, keys and snapshots are completed while a Vivarium is running. The command has to be',
    'on the path as "vivarium".',
  ],
  examples: ['vivarium completion bash'],
  run({ positionals: [shell = ''] }, _dataDir, { stdout }) {
    const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
    if (script === undefined) throw usageError(`Name a shell: ${SHELLS.join(', ')}.`);
    stdout.write(script);
    return Promise.resolve(EXIT_OK);
  },
});

/** A line of bash up to the cursor, read without running anything in it. */
export interface BashLine {
  /** The words after the command, unquoted; the last one is being typed and may be empty. */
  words: string[];
  /** The quote that is open at the cursor. */
  quote: '"' | "'" | '';
  /** How many characters of the last word bash takes for separate words, because they end in a word break. */
  skipped: number;
}

/** The word breaks of `COMP_WORDBREAKS` that occur in unquoted words. */
const BREAKS = ':=@';

/** Splits a line at blanks, with bash's quoting; expansions stay as they are typed. */
export function readBashLine(line: string): BashLine {
  const words: string[] = [];
  let word: string | null = null;
  let quote: BashLine['quote'] = '';
  let skipped = 0;
  for (let index = 0; index < line.length; index++) {
    const character = line.charAt(index);
    if (quote !== "'" && character === '\\') {
      word = (word ?? '') + line.charAt(++index);
    } else if (quote !== '') {
      if (character === quote) quote = '';
      else word = (word ?? '') + character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (character === ' ' || character === '\t') {
      if (word !== null) words.push(word);
      word = null;
      skipped = 0;
    } else {
      word = (word ?? '') + character;
      if (BREAKS.includes(character)) skipped = word.length;
    }
  }
  return { words: [...words, word ?? ''].slice(1), quote, skipped: quote === '' ? skipped : 0 };
}

/**
 * What bash is to insert for each candidate: in an open quote as it is, otherwise with what bash would interpret
 * escaped.
 */
export function bashReplies({ quote, skipped }: BashLine, candidates: readonly { value: string }[]): string[] {
  return candidates.map(({ value }) => {
    if (quote === "'") return value.replaceAll("'", "'\\''");
    if (quote === '"') return value.replace(/["\\$`]/g, '\\$&');
    return value.slice(skipped).replace(/[^\w./:=@%+,-]/g, '\\$&');
  });
}
