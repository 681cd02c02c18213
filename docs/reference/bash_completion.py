"""Completion for bash, of both programs, in one text that each of them may be completed by.

What a shell cannot know by itself is a table: which options a command has, and what a value is. The rest is the same
few lines for all. Nothing of the package bash-completion is needed.
"""

from program_help import FILES, FOLDERS, SUITES

HEAD = """\
# Completion of fusegate and fusegate_bench for bash. Made of what --help of both says (docs/reference).
"""

# Words: a command is the first; what follows "--" is the benchmark program's. With "=" among COMP_WORDBREAKS
# "--out=x" is three words.
BODY = r"""
_fusegate_reply() {
  local kind=$1 current=$2
  case $kind in
    file) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    folder) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
    suite)
      mapfile -t COMPREPLY < <(
        compgen -W "$(_fusegate_suites)" -- "$current"
        compgen -f -X '!*.json' -- "$current"
        compgen -d -- "$current"
      ) ;;
    '{'*) mapfile -t COMPREPLY < <(compgen -W "${kind:1}" -- "$current") ;;
  esac
  if [[ $kind == file || $kind == folder || $kind == suite ]]; then compopt -o filenames 2>/dev/null; fi
}

_fusegate_complete() {
  local program=${COMP_WORDS[0]##*/} current=${COMP_WORDS[COMP_CWORD]} option='' word value i=1 arguments=0
  COMPREPLY=()
  if [[ $program == fusegate && $COMP_CWORD -gt 1 ]]; then
    program+=" ${COMP_WORDS[1]}"
    i=2
  fi
  for (( ; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ $word == -- ]]; then
      program=fusegate_bench option=''
    elif [[ $word == -* ]]; then
      value=$(_fusegate_value "$program" "$word")
      option=${value:+$word}
    elif [[ $word != = && $option ]]; then
      [[ $(_fusegate_value "$program" "$option") == *+ ]] || option=''
    elif [[ $word != = ]]; then
      arguments=$((arguments + 1))
    fi
  done
  if [[ $current == = ]]; then current=''; fi
  if [[ $option ]]; then
    value=$(_fusegate_value "$program" "$option")
  else
    value=$(_fusegate_value "$program" $((arguments + 1)))
  fi
  if [[ $current == -* || ! $value ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_fusegate_options "$program")" -- "$current")
  else
    _fusegate_reply "${value%+}" "$current"
  fi
}

complete -F _fusegate_complete fusegate
complete -F _fusegate_complete fusegate_bench
"""


def kind_of(option):
    """What _fusegate_reply is told: where a value is free, a word that it offers nothing for; "" for a flag."""
    if option.choices:
        kind = "{" + " ".join(option.choices)
    elif option.value in FILES:
        kind = "file"
    elif option.value in FOLDERS:
        kind = "folder"
    elif option.value in SUITES:
        kind = "suite"
    else:
        kind = "text" if option.value else ""
    return kind + "+" if kind and option.takes_several else kind


def values_of(command, key):
    """Lines of _fusegate_value's table. Arguments go by their place; the last one stands for all that follow it."""
    for option in command.options:
        if option.is_argument or not kind_of(option):
            continue
        for name in option.names:
            yield f"    '{key} {name}') echo '{kind_of(option)}' ;;"
    for place, option in enumerate(command.arguments, 1):
        pattern = f"'{key} '[0-9]*" if option.takes_several else f"'{key} {place}'"
        yield f"    {pattern}) echo '{kind_of(option)}' ;;"


def names_in(command):
    return " ".join([sub.name for sub in command.commands] +
                    [name for option in command.options if not option.is_argument for name in option.names])


def tables(commands):
    """commands: pairs of what is typed, such as "fusegate gate", and the Command."""
    yield "\n_fusegate_options() {\n  case $1 in"
    yield from (f"    '{key}') echo '{names_in(command)}' ;;" for key, command in commands)
    yield "  esac\n}\n\n_fusegate_value() {\n  case \"$1 $2\" in"
    for key, command in commands:
        yield from values_of(command, key)
    yield "  esac\n}"


def bash_completion(programs, suites):
    commands = [(program.name, program) for program in programs]
    commands += [(f"{program.name} {command.name}", command) for program in programs for command in program.commands]
    return "\n".join([HEAD + f"\n_fusegate_suites() {{ echo '{' '.join(suites)}'; }}", *tables(commands)]) + "\n" + BODY
