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

/** The command `completion`. */
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
