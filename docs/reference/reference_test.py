"""The reference against the programs as they are, and against help that is hard to read."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import examples_test
import made_up_help
from commands_page import commands_page
from generate import reference
from program_help import InputError, help_of, parse_help

HERE = pathlib.Path(__file__).parent
PROGRAMS = [os.environ["FUSEGATE_PROGRAM"], os.environ["FUSEGATE_BENCH"]]
SUITES = ["pr", "smoke"]


def made_up(tool=None):
    programs = [parse_help(made_up_help.text(program), "made up")
                for program in (tool or made_up_help.tool(), made_up_help.bench())]
    return programs, reference(*programs, SUITES, "1.2.3", "2026-01-31")


def every_command(program):
    return [(program.name, program)] + [(f"{program.name} {command.name}", command) for command in program.commands]


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


class AsTheProgramsAre(unittest.TestCase):
    """Nothing that --help has is missing anywhere. --help itself is asked, and not the JSON that all is made of."""

    @classmethod
    def setUpClass(cls):
        cls.programs = [help_of(program) for program in PROGRAMS]
        cls.files = reference(*cls.programs, SUITES, "1.2.3", "2026-01-31")

    def help_text(self, program, command):
        words = [command] if command else []
        return subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=True).stdout

    def commands_of(self, program):
        return re.findall(r"^  ([a-z-]+) {2,}", self.help_text(program, "").partition("Subcommands:")[2], re.MULTILINE)

    def test_all_commands_and_options_are_in_each(self):
        for program in PROGRAMS:
            name = pathlib.Path(program).name
            commands = self.commands_of(program)
            self.assertEqual(len(commands) > 5, name == "fusegate", commands)
            page = self.files[f"markdown/{name}.md"]
            for command in ["", *commands]:
                section = page.partition(f"\n## {command}\n")[2].partition("\n## ")[0] if command else page
                manual = self.files[f"man/{name}-{command}.1" if command else f"man/{name}.1"].replace("\\-", "-")
                listed = re.search(rf"^    '{name}{' ' * bool(command)}{command}'\) echo '([^']*)' ;;$",
                                   self.files["bash/fusegate"], re.MULTILINE)[1].split()
                function = {"fusegate": "_fusegate_commands"}.get(name, f"_{name}") if not command else \
                    f"_{name}_{command.replace('-', '_')}"
                zsh = self.files["zsh/_fusegate"].partition(f"\n{function}() {{")[2].partition("\n}\n")[0]
                options = re.findall(r"^  (?:-\w,)?(--[\w-]+)", self.help_text(program, command), re.MULTILINE)
                self.assertIn("--help", options)
                for option in options:
                    with self.subTest(name=name, command=command, option=option):
                        self.assertRegex(section, rf"`{option}[ `]")
                        self.assertRegex(manual, rf"\\fB{option}\\fR")
                        self.assertIn(option, listed)
                        self.assertRegex(zsh, rf"'[^']*{option}=?\[")
                if command:
                    self.assertIn(command, self.files["bash/fusegate_bench"].partition("echo '")[2])
                    self.assertIn(f"'{command}:", self.files["zsh/_fusegate"])
                    self.assertIn(f"[{command}](#{command})", page)

    def test_each_has_an_example_that_is_right(self):
        for program in self.programs:
            for call, command in every_command(program):
                with self.subTest(call):
                    self.assertTrue(command.example.startswith(call + " "), command.example)
                    self.assertEqual(list(examples_test.findings(command.example)), [])
                    required = [option.names[-1] for option in command.options if option.required and not option.is_argument]
                    self.assertEqual([name for name in required if name not in command.example.split()], [])
                    words = call.split()[1:]
                    self.assertIn("Example:\n  " + command.example, self.help_text(PROGRAMS[program is self.programs[1]], *words or [""]))
                    self.assertIn(".SH EXAMPLES\n", self.files[f"man/{call.replace(' ', '-')}.1"])
                    self.assertIn(f"\n    {command.example}\n", self.files[f"markdown/{program.name}.md"])

    def test_descriptions_are_those_of_help(self):
        page, manual = self.files["markdown/fusegate.md"], self.files["man/fusegate-gate.1"]
        self.assertIn("False discovery rate over the suite; by default 1%.", page)
        self.assertIn("False discovery rate over the suite; by default 1%.", manual)
        self.assertIn("`--device {auto,cuda,cpu}`", self.files["markdown/fusegate_bench.md"])

    def test_all_of_it_can_be_made_by_the_script(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out"
            suites = pathlib.Path(PROGRAMS[1]).parent / "suites"
            subprocess.run([sys.executable, HERE / "generate.py", "--fusegate", PROGRAMS[0], "--fusegate-bench", PROGRAMS[1],
                            "--suites", suites, "--version", "1.2.3", "--date", "2026-01-31", "--out", out], check=True)
            written = {path.relative_to(out).as_posix(): path.read_text() for path in out.rglob("*") if path.is_file()}
            self.assertEqual(set(written), set(self.files))
            self.assertEqual(written["man/fusegate.1"], self.files["man/fusegate.1"])
            self.assertIn("nightly", written["bash/fusegate"])


class Refused(unittest.TestCase):
    """What would be left out silently is an error that names the program, the command and the option."""

    def refused(self, change, *words):
        tool = made_up_help.tool()
        change(tool["commands"][0])
        with self.assertRaises(InputError) as caught:
            made_up(tool)
        for word in ("made up", *words):
            self.assertIn(word, str(caught.exception))

    def test_a_value_that_no_shell_would_know(self):
        self.refused(lambda gate: gate["options"][1].update(value="THING"), "fusegate gate --odd", "THING")

    def test_a_check_that_nobody_would_understand(self):
        self.refused(lambda gate: gate["options"][1].update(value="TEXT:MAGIC"), "--odd", "MAGIC")

    def test_an_option_or_a_command_that_nothing_is_said_of(self):
        self.refused(lambda gate: gate["options"][1].update(description=""), "--odd", "no description")
        self.refused(lambda gate: gate.update(description=""), "fusegate gate", "no description")

    def test_a_field_that_is_missing(self):
        self.refused(lambda gate: gate["options"][1].pop("needs"), "needs")

    def test_a_program_that_does_not_tell(self):
        for program, problem in (("/nowhere/fusegate", "No such file"), ("/bin/false", "ends with 1"), ("/bin/echo", "JSON")):
            ended = subprocess.run([sys.executable, HERE / "generate.py", "--fusegate", program, "--fusegate-bench", program,
                                    "--suites", "x", "--version", "1", "--date", "2026-01-31", "--out", "x"],
                                   capture_output=True, text=True, check=False)
            self.assertEqual(ended.returncode, 2, ended)
            self.assertRegex(ended.stderr, f"^generate.py: {program}: --help-json: .*{problem}")
            self.assertEqual(ended.stderr.count("\n"), 1)


class Pages(unittest.TestCase):
    def test_what_an_option_takes_and_when(self):
        (tool, _), _ = made_up()
        page = commands_page(tool)
        self.assertIn("| `--count INT` | What it does. Limits: 1 to 9. Default: 5. Not together with --odd. "
                      "&#36;COUNT in the environment does the same. |", page)
        self.assertIn("| `--sizes INT ...` | What it does. Several values are separated by ','. |", page)
        self.assertIn("\n    fusegate gate [OPTIONS] RUN... [-- FLAGS]\n", page)

    def test_an_example_is_a_call_of_its_own(self):
        (tool, _), files = made_up()
        self.assertIn("\nFor example:\n\n    fusegate gate 'a b' --odd c\\d\n", commands_page(tool))
        self.assertIn("\nEverything after -- is passed on to the benchmark program.\n", commands_page(tool))
        self.assertIn(".SH EXAMPLES\n.nf\nfusegate gate \\[aq]a b\\[aq] \\-\\-odd c\\[rs]d\n.fi\n", files["man/fusegate-gate.1"])

    def test_odd_text_breaks_no_table(self):
        (tool, _), _ = made_up()
        rows = [line for line in commands_page(tool).splitlines() if "--odd" in line and line.startswith("|")]
        self.assertTrue(rows)
        for row in rows:
            self.assertEqual(row.count("|"), 3, row)
            self.assertNotRegex(row, "[<>]")


class ManualPages(Scratch):
    def lint(self, files):
        paths = [self.write(name, text) for name, text in files.items() if name.startswith("man/")]
        self.assertGreater(len(paths), 2)
        # Style is about source lines over 80 bytes.
        result = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *paths], capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        if shutil.which("groff"):
            for path in paths:
                result = subprocess.run(["groff", "-man", "-ww", "-z", "-Tascii", path], capture_output=True, text=True, check=False)
                self.assertEqual((result.returncode, result.stderr), (0, ""))

    @unittest.skipUnless(shutil.which("mandoc"), "no mandoc")
    def test_nothing_is_wrong_with_them(self):
        self.lint(reference(*(help_of(program) for program in PROGRAMS), SUITES, "1.2.3", "2026-01-31"))
        self.lint(made_up()[1])

    @unittest.skipUnless(shutil.which("mandoc"), "no mandoc")
    def test_odd_text_is_shown_as_it_is(self):
        _, files = made_up()
        # A bare "-" would be a hyphen, which no shell takes for a dash once it is copied.
        self.assertIn("\\fB\\-\\-odd\\fR", files["man/fusegate-gate.1"])
        path = self.write("gate.1", files["man/fusegate-gate.1"])
        shown = subprocess.run(["mandoc", "-T", "utf8", "-O", "width=1000", path], capture_output=True, text=True, check=True).stdout
        shown = " ".join(re.sub(".\b", "", shown).split())
        self.assertIn(".starts as a request does. 'So does this. " + made_up_help.ODD + ".", shown)
        self.assertIn("--odd TEXT What it does", shown.replace(made_up_help.ODD, "What it does"))
        self.assertIn("fusegate(1), fusegate-trace-diff(1), fusegate_bench(1)", shown)


if __name__ == "__main__":
    unittest.main()
