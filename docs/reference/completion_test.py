"""What the two shells offer, by asking them. shells.py runs them."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import made_up_help
from generate import reference
from program_help import help_of, parse_help
from shells import Zsh, bash_offers

PROGRAMS = [os.environ["FUSEGATE_PROGRAM"], os.environ["FUSEGATE_BENCH"]]
SUITES = ["pr", "smoke"]


class Bash(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.root = pathlib.Path(scratch.name)
        cls.folder = cls.root / "here"
        (cls.folder / "runs").mkdir(parents=True)
        for name in ("own.json", "trace.gz"):
            (cls.folder / name).touch()
        cls.programs = [help_of(program) for program in PROGRAMS]
        cls.files = reference(*cls.programs, SUITES, "1.2.3", "2026-01-31")
        for name, text in cls.files.items():
            (cls.root / name).parent.mkdir(exist_ok=True)
            (cls.root / name).write_text(text)
        cls.start()

    @classmethod
    def start(cls):
        cls.shell, cls.path = "bash", cls.root / "bash" / "fusegate"

    def offers(self, line):
        return bash_offers(self.path, line, self.folder)

    def check(self, path):
        ended = subprocess.run([self.shell, "-n", path], capture_output=True, text=True, check=False)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))

    def test_is_a_script_that_the_shell_reads(self):
        self.check(self.path)
        odd = [parse_help(made_up_help.text(program), "made up") for program in (made_up_help.tool(), made_up_help.bench())]
        made_up = self.root / "made_up"
        made_up.write_text(reference(*odd, SUITES, "1.2.3", "2026-01-31")[self.path.relative_to(self.root).as_posix()])
        self.check(made_up)

    def test_offers_every_command(self):
        commands = {command.name for command in self.programs[0].commands}
        self.assertIn("gate", commands)
        self.assertEqual(set(self.offers("fusegate ")) - {"-h", "--help", "--version"}, commands)
        self.assertEqual(self.offers("fusegate trace-c"), ["trace-check"])

    def test_offers_every_option_of_every_command(self):
        for program in self.programs:
            for words, command in [(program.name, program)] + [(f"{program.name} {sub.name}", sub) for sub in program.commands]:
                wanted = {name for option in command.options for name in option.names if name.startswith("--")}
                with self.subTest(words=words):
                    self.assertEqual(set(self.offers(f"{words} --")), wanted)

    def test_offers_what_a_value_can_be(self):
        here = ["own.json", "runs", "trace.gz"]
        for line, offered in {
                "fusegate gate --candidate ": here,
                "fusegate gate --candidate own.json ": here,
                "fusegate gate --candidate ow": ["own.json"],
                "fusegate gate --json=": here,
                "fusegate run --out ": ["runs"],
                "fusegate run --suite ": sorted([*SUITES, "own.json", "runs"]),
                "fusegate_bench --suite=s": ["smoke"],
                "fusegate_bench --device ": ["auto", "cpu", "cuda"],
                "fusegate_bench --profile=": ["off", "on"],
                "fusegate trace-table --sort self": ["self-cpu", "self-cuda"],
                "fusegate show ": here,
                "fusegate show own.json ": here,
                "fusegate explain own.json ": here,
                "fusegate explain own.json trace.gz ": [],
                "fusegate gate --min-effect ": [],
        }.items():
            with self.subTest(line=line):
                self.assertEqual(self.offers(line), offered)

    def test_offers_the_benchmark_programs_flags_behind_the_dashes(self):
        self.assertEqual(self.offers("fusegate run --suite pr -- --dev"), ["--device"])
        self.assertEqual(self.offers("fusegate duet --suite pr -- --device "), ["auto", "cpu", "cuda"])

    def test_an_option_that_is_given_ends_the_values_before_it(self):
        self.assertEqual(self.offers("fusegate gate --candidate own.json --strict --json ow"), ["own.json"])
        self.assertIn("--fdr", self.offers("fusegate gate --candidate own.json --strict --"))


@unittest.skipUnless(shutil.which("zsh"), "no zsh")
class ZshShell(Bash):
    @classmethod
    def start(cls):
        cls.shell, cls.path = "zsh", cls.root / "zsh" / "_fusegate"
        cls.zsh = Zsh(cls.path.parent, cls.folder)
        cls.addClassCleanup(cls.zsh.close)

    def offers(self, line):
        return self.zsh.offers(line)


if __name__ == "__main__":
    unittest.main()
