# Completion of fusegate and fusegate_bench for bash: commands, options and choices as --help has them, else files.
_fusegate() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words='' i
  local -a call=("${COMP_WORDS[0]}")
  if [[ ${call[0]##*/} == fusegate && $COMP_CWORD -gt 1 ]]; then call+=("${COMP_WORDS[1]}"); fi
  # What follows "--" is the benchmark program's; behind slurm's, a command of fusegate.
  for ((i = 1; i < COMP_CWORD; ++i)); do
    if [[ ${COMP_WORDS[i]} != -- ]]; then continue; fi
    if [[ ${call[1]:-} == slurm ]]; then call=("${call[0]}" "${COMP_WORDS[i + 1]}"); else call=(fusegate_bench); fi
  done
  # "--out=x" is three words.
  if [[ $current == = ]]; then current=''; elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi
  COMPREPLY=()
  if [[ ${call[0]##*/} == fusegate && $COMP_CWORD -eq 1 ]]; then
    words=$("${call[@]}" --help 2>/dev/null | awk '/^Subcommands:/ { on = 1; next } on && /^$/ { exit } on { print $1 }')
  elif [[ $current == -* ]]; then
    words=$("${call[@]}" --help 2>/dev/null | sed -nE 's/^ +(-[a-z],)?(--[a-z][a-z-]*).*/\2/p')
  elif [[ $before == --* ]]; then
    words=$("${call[@]}" --help 2>/dev/null | sed -nE "s/^ +$before [^ ]*\{([^}]*)\}.*/\1/p" | tr , ' ')
  fi
  if [[ $words ]]; then mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current"); fi
}
complete -o bashdefault -o default -F _fusegate fusegate fusegate_bench
