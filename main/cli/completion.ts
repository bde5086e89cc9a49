import type { LoadedCommand } from './command.ts';
import { DATA_DIR_FLAG, HELP_FLAG, isOn, readArguments, usageError } from './flags.ts';
import { EXIT_OK, printFailure, writeHelp } from './io.ts';

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
};

const COMPLETION_HELP = `vivarium completion: a shell script that completes commands, options and names

Usage
  vivarium completion bash|zsh|fish

Install
  bash  echo 'source <(vivarium completion bash)' >> ~/.bashrc
  zsh   echo 'source <(vivarium completion zsh)' >> ~/.zshrc
  fish  mkdir -p ~/.config/fish/completions && vivarium completion fish > ~/.config/fish/completions/vivarium.fish

  Projects, hostnames, zones, keys and snapshots are completed while a Vivarium is running. The command has to be
  on the path as "vivarium".

Examples
  vivarium completion bash
`;

/** The command `completion`. */
export const COMPLETION: LoadedCommand = {
  options: [DATA_DIR_FLAG, HELP_FLAG],
  words: Object.keys(SCRIPTS),
  help: () => COMPLETION_HELP,
  run(args, io) {
    try {
      const read = readArguments(args, COMPLETION.options);
      const [shell = '', surplus] = read.positionals;
      const script = Object.hasOwn(SCRIPTS, shell) && surplus === undefined ? SCRIPTS[shell] : undefined;
      if (isOn(read, 'help')) writeHelp(COMPLETION_HELP, io);
      else if (script === undefined) throw usageError(`Name a shell: ${Object.keys(SCRIPTS).join(', ')}.`);
      else io.stdout.write(script);
      return Promise.resolve(EXIT_OK);
    } catch (error) {
      return Promise.resolve(printFailure(error, args, io));
    }
  },
};
