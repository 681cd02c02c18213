"""Manual pages (man(7) macros) of a program and of each of its commands.

One page a command, as of git: `man fusegate-gate`. The program's own page lists them.
"""

import textwrap

EXIT_STATUS = [("0", "No regression, or nothing to judge."),
               ("1", "A regression."),
               ("2", "It could not judge: wrong flags or input, another environment, wrong results, nothing decided.")]
MEASURING_STATUS = [("0", "All was measured, or what was asked for is printed."),
                    ("2", "Wrong flags or input, a benchmark that failed, or a measurement that did not come to its end.")]


def plain(text):
    """Text as roff takes it: no escape of ours or of its own, whatever it holds."""
    escaped = "".join(f"\\[u{ord(c):04X}]" if ord(c) > 126 else c for c in text.replace("\\", "\\[rs]"))
    return escaped.replace("-", "\\-").replace("'", "\\[aq]").replace("`", "\\[ga]").replace("^", "\\[ha]").replace("~", "\\[ti]")


def lines(text):
    """Folded, since a source line should be short; none starts as a request does."""
    folded = textwrap.wrap(" ".join(text.split()), 72, break_on_hyphens=False, break_long_words=False)
    return [("\\&" if line.startswith((".", "'")) else "") + plain(line) for line in folded]


def quoted(text):
    return '"' + plain(text).replace('"', "\\[dq]") + '"'


def option_lines(option):
    names = ", ".join(f"\\fB{plain(name)}\\fR" for name in option.names)
    value = f" \\fI{plain(option.placeholder)}\\fR" if option.value and not option.is_argument else ""
    text = " ".join([option.description.rstrip(".") + ".", *option.notes])
    return [".TP", names + value + ("\\ .\\|.\\|." if option.takes_several else ""), *lines(text)]


def status_lines(status):
    return [".SH EXIT STATUS"] + [line for code, text in status for line in [".TP", f"\\fB{code}\\fR", *lines(text)]]


class ManPages:
    """The pages of one program: a dictionary from file name to text."""

    def __init__(self, program, version, date, see_also, status):
        self.program, self.version, self.date, self.status = program, version, date, status
        self.names = [self.page_name(command) for command in program.commands]
        self.see_also = [program.name, *self.names, *see_also]

    def page_name(self, command):
        return f"{self.program.name}-{command.name}"

    def pages(self):
        made = {f"{self.program.name}.1": self.page(self.program, self.program.name, self.program.usage())}
        for command in self.program.commands:
            name = self.page_name(command)
            made[f"{name}.1"] = self.page(command, name, command.usage(self.program.name))
        return made

    def page(self, command, name, usage):
        summary = command.description.partition(". ")[0].rstrip(".")
        text = [f'.TH {quoted(name.upper())} 1 "{self.date}" '
                f"{quoted('fusegate ' + self.version)} {quoted('fusegate manual')}",
                ".SH NAME", f"{plain(name)} \\- {plain(summary[0].lower() + summary[1:])}",
                ".SH SYNOPSIS", *self.synopsis(usage),
                ".SH DESCRIPTION", *lines(command.description.rstrip(".") + ".")]
        if command.footer:
            text += [".PP", *lines(command.footer)]
        if command.commands:
            text += [".SH COMMANDS"]
            for sub in command.commands:
                text += [".TP", f"\\fB{plain(sub.name)}\\fR", *lines(sub.description.rstrip(".") + "."),
                         f"See \\fB{plain(self.page_name(sub))}\\fR(1)."]
        if command.arguments:
            text += [".SH ARGUMENTS", *(line for option in command.arguments for line in option_lines(option))]
        text += [".SH OPTIONS"]
        for topic, options in command.topics():
            if topic != "Options":
                text += [f".SS {quoted(topic)}"]
            elif len(command.topics()) > 1:
                text += ['.SS "Others"']
            text += [line for option in options for line in option_lines(option)]
        if command.example:
            text += [".SH EXAMPLES", ".nf", plain(command.example), ".fi"]
        text += [*status_lines(self.status), *self.environment(command), *self.see_also_lines(name)]
        return "\n".join(text) + "\n"

    @staticmethod
    def synopsis(usage):
        program, _, rest = usage.partition(" ")
        return [f"\\fB{plain(program)}\\fR", *lines(rest)]

    @staticmethod
    def environment(command):
        named = [option for option in command.options if option.environment]
        if not named:
            return []
        return [".SH ENVIRONMENT"] + [line for option in named for line in [
            ".TP", f"\\fB{plain(option.environment)}\\fR", f"Does what \\fB{plain(option.names[-1])}\\fR does."]]

    def see_also_lines(self, name):
        others = [f"\\fB{plain(other)}\\fR(1)" for other in self.see_also if other != name]
        return [".SH SEE ALSO", *(other + "," for other in others[:-1]), *others[-1:]] if others else []
