"""The pages name every command and flag that --help lists, and bash completes them."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from program_help import Help

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = [os.environ["FUSEGATE_PROGRAM"], os.environ["FUSEGATE_BENCH"]]

BASH = r"""
source "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_fusegate
printf '%s\n' "${COMPREPLY[@]}"
"""


class Reference(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.out = pathlib.Path(scratch.name)
        subprocess.run([HERE / "reference.sh", cls.out, "1.2.3", *PROGRAMS], check=True)
        cls.programs = [Help(program) for program in PROGRAMS]

    def test_markdown_has_every_command_and_flag(self):
        for program in self.programs:
            page = (self.out / "markdown" / f"{program.name}.md").read_text()
            for command in [program, *program.commands.values()]:
                self.assertRegex(page, f"(?m)^##? {command.name}$")
                for flag in command.flags:
                    self.assertIn(flag, page)

    @unittest.skipUnless(shutil.which("help2man"), "no help2man")
    def test_each_command_has_a_manual_page_with_its_flags(self):
        for program in self.programs:
            pages = {program.name: program, **{f"{program.name}-{name}": command for name, command in program.commands.items()}}
            for name, command in pages.items():
                text = (self.out / "man" / f"{name}.1").read_text().replace("\\", "")
                for flag in command.flags:
                    self.assertIn(flag, text, name)


class Completion(unittest.TestCase):
    def offers(self, *words):
        home = pathlib.Path(PROGRAMS[0]).parent
        ended = subprocess.run(["bash", "-c", BASH, "bash", HERE / "fusegate.bash", *words], capture_output=True, text=True, check=True,
                               env={**os.environ, "PATH": f"{home}:{os.environ['PATH']}"})
        self.assertEqual(ended.stderr, "")
        return set(ended.stdout.split())

    def test_offers_what_help_lists(self):
        tool, bench = map(Help, PROGRAMS)
        self.assertEqual(self.offers("fusegate", ""), set(tool.commands))
        long_flags = {flag for flag in tool.commands["gate"].flags if flag.startswith("--")}
        self.assertEqual(self.offers("fusegate", "gate", "--"), long_flags)
        self.assertEqual(self.offers("fusegate", "run", "--", "--dev"), {"--device"})
        task = ("fusegate", "slurm", "submit", "--out", "x", "--", "run")
        self.assertEqual(self.offers(*task, "--plan"), {"--plan"})
        self.assertEqual(self.offers(*task, "--", "--dev"), {"--device"})
        self.assertEqual(self.offers("fusegate_bench", "--device", ""), {"auto", "cuda", "cpu"})
        self.assertEqual(self.offers("fusegate_bench", "--profile", "=", "of"), {"off"})
        self.assertEqual(self.offers("fusegate", "gate", "--json", ""), set())
        self.assertIn("--samples", bench.flags)


if __name__ == "__main__":
    unittest.main()
