"""What --help-json of a program says (baselines/io/help_json.h), read.

Whatever is not understood is an error: a reference that leaves something out says nothing of it.
"""

import dataclasses
import json
import re
import subprocess

# What --help says that an option takes, and what a shell offers for it. Words of ours; those below are CLI11's.
FILES = {"FILE", "PATH", "PROGRAM"}
FOLDERS = {"FOLDER"}
SUITES = {"SUITE"}
FREE = {"TEXT", "NAME", "FRACTION", "INT", "UINT", "FLOAT", "PROBLEM", "PATTERN", "AXIS=SIZE,..."}

# What a call stands under, at the end of --help (baselines/io/help_json.h).
EXAMPLE = "Example:\n"

LIMITS = {"POSITIVE": "above 0", "NONNEGATIVE": "0 or more"}


class InputError(Exception):
    """Says what a person has to mend, and in which source and field."""

    def __init__(self, source, field, problem):
        super().__init__(": ".join(part for part in (str(source), field, problem) if part))


@dataclasses.dataclass(frozen=True)
class Option:
    names: tuple           # with their dashes; of an argument without
    topic: str
    description: str
    value: str             # one of the words above, or "" for a flag
    choices: tuple         # the only values that there are; empty where any will do
    limits: str            # "1 to 1000"
    default: str
    required: bool
    repeats: bool
    takes_several: bool
    delimiter: str
    excludes: tuple
    needs: tuple
    environment: str

    @property
    def is_argument(self):
        return not self.names[0].startswith("-")

    @property
    def placeholder(self):
        """What stands for the value in a line that shows how it is written."""
        if self.choices:
            return "{" + ",".join(self.choices) + "}"
        return self.value

    @property
    def notes(self):
        """What --help says of it besides, as sentences."""
        notes = [("Limits: " + self.limits) if self.limits else "",
                 ("Default: " + self.default) if self.default else "",
                 "Required" if self.required else "",
                 "May be given several times" if self.repeats and not self.takes_several else "",
                 f"Several values are separated by '{self.delimiter}'" if self.delimiter else "",
                 ("Not together with " + ", ".join(self.excludes)) if self.excludes else "",
                 ("Only together with " + ", ".join(self.needs)) if self.needs else "",
                 f"${self.environment} in the environment does the same" if self.environment else ""]
        return [note + "." for note in notes if note]


@dataclasses.dataclass(frozen=True)
class Command:
    name: str
    description: str
    footer: str
    example: str           # a call, or ""
    options: tuple
    commands: tuple

    @property
    def arguments(self):
        return [option for option in self.options if option.is_argument]

    @property
    def passes_on(self):
        """Whether what follows -- is another program's."""
        return "after -- is passed on" in self.footer

    def topics(self):
        """Pairs of a topic and its options, those without one last."""
        topics = {}
        for option in self.options:
            if not option.is_argument:
                topics.setdefault(option.topic, []).append(option)
        general = topics.pop("Options", [])
        return [*topics.items(), *([("Options", general)] if general else [])]

    def usage(self, program=""):
        """How it is called: "fusegate gate --candidate PATH... [OPTIONS]"."""
        words = [f"{program} {self.name}".strip()]
        if self.commands:
            words.append("COMMAND")
        words += [f"{option.names[-1]} {option.placeholder}" + ("..." if option.takes_several else "")
                  for option in self.options if option.required and not option.is_argument]
        words.append("[OPTIONS]")
        words += [option.names[0].upper() + ("..." if option.takes_several else "") for option in self.arguments]
        return " ".join(words + (["[-- FLAGS]"] if self.passes_on else []))


def kind_of(text, source, field):
    """Value, choices and limits of what CLI11 writes: "INT:INT in [1 - 9]", "TEXT:{a,b}", "{a,b}", "FLOAT:POSITIVE"."""
    value, _, check = text.partition(":")
    if value.startswith("{"):
        value, check = "TEXT", value
    if value and value not in FILES | FOLDERS | SUITES | FREE:
        raise InputError(source, field, f"takes '{value}', which docs/reference/program_help.py does not know")
    found = re.fullmatch(r"\w+ in \[(\S+) - (\S+)\]", check)
    if found:
        return value, (), f"{found[1]} to {found[2]}"
    if re.fullmatch(r"\{[^{}]+\}", check):
        return value, tuple(check[1:-1].split(",")), ""
    if check and check not in LIMITS:
        raise InputError(source, field, f"is checked by '{check}', which docs/reference/program_help.py does not know")
    return value, (), LIMITS.get(check, "")


def option_of(fields, source, field):
    field += " " + fields["names"][-1]
    value, choices, limits = kind_of(fields["value"], source, field)
    lists = {name: tuple(fields[name]) for name in ("names", "excludes", "needs")}
    plain = {name: fields[name] for name in ("topic", "description", "default", "required", "repeats",
                                             "takes_several", "delimiter", "environment")}
    if not plain["description"]:
        raise InputError(source, field, "has no description")
    return Option(value=value, choices=choices, limits=limits, **lists, **plain)


def command_of(fields, source, above=""):
    name = f"{above} {fields['name']}".strip()
    if not fields["description"]:
        raise InputError(source, name, "has no description")
    footer, _, example = fields["footer"].partition(EXAMPLE)
    return Command(fields["name"], fields["description"], footer.strip(), example.strip(),
                   tuple(option_of(option, source, name) for option in fields["options"]),
                   tuple(command_of(command, source, name) for command in fields["commands"]))


def parse_help(text, source):
    try:
        return command_of(json.loads(text), source)
    except json.JSONDecodeError as error:
        raise InputError(source, "--help-json", f"prints no JSON: {error}") from None
    except KeyError as error:
        raise InputError(source, "--help-json", f"lacks {error}") from None


def help_of(program):
    try:
        ended = subprocess.run([str(program), "--help-json"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(program, "--help-json", str(error)) from None
    if ended.returncode != 0:
        raise InputError(program, "--help-json", f"ends with {ended.returncode}: {ended.stderr.strip()}")
    return parse_help(ended.stdout, program)
