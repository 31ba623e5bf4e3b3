import { UsageError, type CommandDefinition } from "../model.ts"
import { print } from "../output.ts"

const BASH = String.raw`# operations: completion for bash
_operations() {
  local line current="${"$"}{COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      :file) compopt -o default 2>/dev/null ;;
      :directory) compopt -o dirnames 2>/dev/null ;;
      *=) compopt -o nospace 2>/dev/null; COMPREPLY+=("$line") ;;
      *) COMPREPLY+=("$line") ;;
    esac
  done < <("${"$"}{COMP_WORDS[0]}" __complete -- "${"$"}{COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _operations operations`

const ZSH = String.raw`#compdef operations
# operations: completion for zsh
_operations() {
  local line
  local -a found open
  while IFS= read -r line; do
    case "$line" in
      :file) _files ;;
      :directory) _files -/ ;;
      *=) open+=("$line") ;;
      *) found+=("$line") ;;
    esac
  done < <("${"$"}{words[1]}" __complete -- "${"$"}{(@)words[2,CURRENT]}" 2>/dev/null)
  (( ${"$"}{#found} )) && compadd -a found
  (( ${"$"}{#open} )) && compadd -S '' -a open
}
if [ "$funcstack[1]" = "_operations" ]; then _operations "$@"; else compdef _operations operations; fi`

const FISH = String.raw`# operations: completion for fish
function __operations_complete
  set -l words (commandline -opc) (commandline -ct)
  for line in ($words[1] __complete -- $words[2..-1] 2>/dev/null)
    switch $line
      case ':file'
        __fish_complete_path (commandline -ct)
      case ':directory'
        __fish_complete_directories (commandline -ct)
      case '*'
        echo $line
    end
  end
end
complete -c operations -f -a '(__operations_complete)'`

const SCRIPTS = new Map([
  ["bash", BASH],
  ["zsh", ZSH],
  ["fish", FISH],
])

export const command: CommandDefinition = {
  usage: "<bash|zsh|fish>",
  details: "Commands, options, operations and the names of their inputs are completed.",
  examples: [
    ["completion bash >> ~/.bashrc", "For bash"],
    ['completion zsh > "${fpath[1]}/_operations"', "For zsh"],
    ["completion fish > ~/.config/fish/completions/operations.fish", "For fish"],
  ],
  options: {},
  hasSources: false,
  complete: [...SCRIPTS.keys()],
  arity: [1, 1],
  run(args, io) {
    const [shell = ""] = args.positionals
    const script = SCRIPTS.get(shell)
    if (script === undefined) {
      throw new UsageError(`There is a completion for bash, zsh and fish; got "${shell}".`)
    }
    print(io, script)
    return Promise.resolve(0)
  },
}
