"""The reference of a program's commands and options, as Markdown."""

INTRODUCTION = {
    "fusegate": "What each command is for, with examples, is in [Commands](../commands.md). Exit codes: 0 no regression, "
                "1 regression, 2 could not judge.",
    "fusegate_bench": "Google Benchmark's own flags, `--benchmark_*`, work too. How a number is measured is in "
                      "[Protocol](../protocol.md). Exit codes: 0 all was measured, 2 anything else.",
}


def escaped(text):
    """Text within a table: nothing in it is Markdown or HTML."""
    for character in "\\`*_{}[]<>|$":
        text = text.replace(character, f"&#{ord(character)};")
    return text


def code(text):
    return f"`{text}`" if "`" not in text else escaped(text)


def option_row(option):
    value = f" {option.placeholder}" if option.value and not option.is_argument else ""
    written = ", ".join(code(name + value + (" ..." if option.takes_several else "")) for name in option.names)
    text = " ".join([option.description.rstrip(".") + ".", *option.notes])
    return f"| {written} | {escaped(text)} |"


def option_tables(command):
    topics = ([("Arguments", command.arguments)] if command.arguments else []) + command.topics()
    for topic, options in topics:
        yield f"\n**{topic}**\n\n| option | what it does |\n| --- | --- |"
        yield from (option_row(option) for option in options)


def example_of(command):
    if command.example:
        yield f"\nFor example:\n\n    {command.example}"


def command_section(command, program):
    yield f"\n## {command.name}\n\n{escaped(command.description.rstrip('.'))}.\n\n    {command.usage(program)}"
    yield from example_of(command)
    if command.footer:
        yield f"\n{escaped(command.footer)}"
    yield from option_tables(command)


def commands_page(program):
    """The page's text. It stands in a folder beside the pages that it links to."""
    text = [f"# {program.name}\n\n{escaped(program.description.rstrip('.'))}.\n\n    {program.usage()}\n",
            INTRODUCTION.get(program.name, ""),
            *example_of(program), f"\nThis page is made of what `{program.name} --help` says. `man {program.name}` has the same."]
    if program.commands:
        text += ["\n| command | what it does |\n| --- | --- |"]
        text += [f"| [{command.name}](#{command.name}) | {escaped(command.description)} |" for command in program.commands]
    text += option_tables(program)
    for command in program.commands:
        text += command_section(command, program.name)
    return "\n".join(text) + "\n"
