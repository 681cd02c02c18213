"""Whether the commands that the user pages show exist: each flag of `fusegate` and `fusegate_bench` in code is looked up in --help.

Pages of docs/evidence are left out: their commands are those of the commit that they name.
"""

import os
import pathlib
import re
import unittest

from program_help import Help

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = {program.name: program for program in map(Help, (os.environ["FUSEGATE_PROGRAM"], os.environ["FUSEGATE_BENCH"]))}


def code_lines(text):
    """Lines of blocks, and what stands in backticks."""
    fenced = re.findall(r"^```.*?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    yield from (line for block in fenced for line in block.splitlines())
    rest = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    yield from (line[4:] for line in rest.splitlines() if line.startswith("    "))
    yield from re.findall(r"`([^`]+)`", re.sub(r"^ {4}.*$", "", rest, flags=re.MULTILINE).replace("\n", " "))


def calls_in(line):
    """The words of each call of a program of ours, its own name first, up to what ends a shell's command."""
    line = re.sub(r"\s#.*", "", re.sub(r'"[^"]*"', "TEXT", line))
    for part in re.split(r"[|;&()<>]|\$\(", line):
        words = part.split()
        for index, word in enumerate(words):
            # python3 -m fusegate is another program.
            if word.rpartition("/")[2] in PROGRAMS and words[index - 1:index] != ["-m"]:
                yield [word.rpartition("/")[2], *words[index + 1:]]
                break


def findings(line):
    for program, *words in calls_in(line):
        command = PROGRAMS[program]
        own = command.commands
        if own:
            if not words or not re.fullmatch(r"[a-z][a-z-]*", words[0]):
                continue  # "fusegate --version", or a sentence
            if words[0] not in own:
                # A sentence in backticks has other words; a block is a call.
                if any(word.startswith("--") for word in words):
                    yield f"{program} {words[0]} is not a command"
                continue
            command = own[words[0]]
        for word, following in zip(words, [*words[1:], ""]):
            if word == "--":  # behind slurm's stands what each task runs
                command = own[following] if command.name == "slurm" else PROGRAMS["fusegate_bench"]
            flag = re.match(r"\[?(--[a-z][\w-]*)", word)
            if flag and flag[1] not in command.flags | {"--version"} and not flag[1].startswith("--benchmark_"):
                yield f"{command.name} has no {flag[1]}"


class Examples(unittest.TestCase):
    def test_every_command_and_flag_in_the_pages_exists(self):
        seen, wrong = 0, []
        for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
            for line in code_lines(page.read_text(encoding="utf-8")):
                seen += len(list(calls_in(line)))
                wrong += [f"{page.name}: {finding}: {line.strip()}" for finding in findings(line)]
        self.assertEqual(wrong, [])
        self.assertGreater(seen, 60)

    def test_what_is_wrong_is_found(self):
        for line, found in {"fusegate gate --candidate RUN --jsno FILE": ["gate has no --jsno"],
                            "fusegate gat --candidate x": ["fusegate gat is not a command"],
                            "build/host/bin/fusegate run --suite s -- --samples 3 --simples 4": ["fusegate_bench has no --simples"],
                            "FUSEGATE_GPU=off fusegate_bench --suite=pr --benchmark_filter=x --out x # --odd": [],
                            "fusegate slurm submit --plan p -- run --odd -- --simples": ["run has no --odd", "fusegate_bench has no --simples"],
                            "ci/run.sh --suite nightly --replay": [], "python3 -m fusegate run --odd": [],
                            "cmake --build x && fusegate show --odd": ["show has no --odd"]}.items():
            self.assertEqual(list(findings(line)), found, line)


if __name__ == "__main__":
    unittest.main()
