"""Completion for zsh, of both programs, by its own _arguments: descriptions beside what is offered."""

from program_help import FILES, FOLDERS, SUITES

HEAD = """\
#compdef fusegate fusegate_bench
# Completion of fusegate and fusegate_bench for zsh. Made of what --help of both says (docs/reference).
"""

SUITES_FUNCTION = """
_fusegate_suites() {{
  local -a suites=({})
  _alternative 'suites:suite:compadd -a suites' 'files:file:_files -g "*.json"'
}}
"""

# The file's own name is what compinit calls from the second time on.
TAIL = """
_fusegate() {
  case $service in
    fusegate_bench) _fusegate_bench ;;
    *) _fusegate_commands ;;
  esac
}

_fusegate "$@"
"""

DISPATCH = """
_fusegate_commands() {{
  local curcontext=$curcontext state line ret=1
  local -a commands=(
{commands}
  )
  _arguments -C -s -S : \\
{options}
    '1:command:->command' '*::argument:->arguments' && ret=0
  case $state in
    command) _describe -t commands command commands && ret=0 ;;
    arguments)
      local separator=${{words[(i)--]}}
      if (( separator < CURRENT )); then
        words=(fusegate_bench "${{(@)words[separator + 1,-1]}}")
        (( CURRENT -= separator - 1 ))
        _fusegate_bench && ret=0
      elif (( ${{+functions[_fusegate_${{words[1]//-/_}}]}} )); then
        _fusegate_${{words[1]//-/_}} && ret=0
      fi ;;
  esac
  return ret
}}
"""


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def described(text):
    """A description within brackets, where backslash, colon and brackets have a meaning."""
    for character in "\\:[]":
        text = text.replace(character, "\\" + character)
    return text


def action(option):
    if option.choices:
        return f"({' '.join(option.choices)})"
    if option.value in FILES:
        return "_files"
    if option.value in FOLDERS:
        return "_files -/"
    if option.value in SUITES:
        return "_fusegate_suites"
    return " "


def message(option):
    return described(option.value.lower() or "value")


def argument_spec(place, option):
    number = "*" if option.takes_several else place
    return quoted(f"{number}:{described(option.names[0])}:{action(option)}")


def option_specs(option):
    """One of each name. All names of one option exclude each other unless it may be given again."""
    again = option.repeats or option.takes_several or bool(option.delimiter)
    for name in option.names:
        start = "*" if again else f"({' '.join((*option.names, *option.excludes))})"
        value = ""
        if option.value:
            # Several values end at the next option.
            several = "*-*" if option.takes_several and not option.delimiter else ""
            value = f":{several}" * bool(several) + f":{message(option)}:{action(option)}"
        equals = "=" if option.value and name.startswith("--") else ""
        yield quoted(f"{start}{name}{equals}[{described(option.description)}]{value}")


def specs(command):
    made = [spec for option in command.options if not option.is_argument for spec in option_specs(option)]
    return made + [argument_spec(place, option) for place, option in enumerate(command.arguments, 1)]


def function_name(program, command=None):
    return "_" + (f"{program.name}_{command.name}" if command else program.name).replace("-", "_")


def plain_function(name, command):
    lines = " \\\n".join(f"    {spec}" for spec in specs(command))
    return f"\n{name}() {{\n  _arguments -s -S : \\\n{lines}\n}}\n"


def program_functions(program):
    if not program.commands:
        return plain_function(function_name(program), program)
    commands = "\n".join("    " + quoted(f"{described(command.name)}:{command.description}") for command in program.commands)
    options = "\n".join(f"    {spec} \\" for spec in specs(program))
    return ("".join(plain_function(function_name(program, command), command) for command in program.commands)
            + DISPATCH.format(commands=commands, options=options))


def zsh_completion(programs, suites):
    return (HEAD + SUITES_FUNCTION.format(" ".join(suites))
            + "".join(program_functions(program) for program in programs) + TAIL)
