"""fusegate as a program: what it reads, and what of that reaches a terminal or a log."""

import fcntl
import gzip
import json
import os
import pathlib
import pty
import re
import resource
import struct
import subprocess
import tempfile
import termios
import threading
import unittest

PROGRAM = os.environ["FUSEGATE_PROGRAM"]
IS_SANITIZED = bool(os.environ["FUSEGATE_SANITIZERS"])
NAMES = [f"geglu_mlp/fused_epilogue/bf16/batch:{batch}/seq:128/dim:768/hidden:3072" for batch in (8, 64)]
# ESC, BEL, NUL, carriage return, C1's CSI, a right-to-left override, and commands of a workflow.
HOSTILE = "a\x1b[31m\x07\x00b\rc\u009b31m\u202ed\n::error::x\n##[error]y"
SPOKEN = HOSTILE.replace("\x00", "")  # as an argument and as a file's name
SHOWN = r"a\x1b[31m\x07\x00b\rc\u009b31m\u202ed\n::error::x\n##"


def controls(text):
    """The characters that a terminal or a viewer would act on."""
    return re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]", text)


def harmful(text):
    """These, and text that GitHub's runner would act on in a log."""
    return controls(text) + re.findall(r"^\s*::.*|##\[.*", text, re.MULTILINE)


def run_file(times, failures=()):
    entries = [{"name": name, "run_type": "iteration", "iterations": 10, "repetition_index": index,
                "real_time": time_ns * (1 + index / 10_000), "time_unit": "ns"}
               for name, time_ns in times.items() for index in range(5)]
    entries += [{"name": name, "error_occurred": True, "error_message": message}
                for name, message in failures]
    return {"context": {"date": HOSTILE, "fusegate": {"finished": True, "suite": "smoke", "environment":
                                                      {"device": "card " + HOSTILE}}}, "benchmarks": entries}


class InputOutputTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = {key: value for key, value in os.environ.items()
                            if key not in ("COLUMNS", "NO_COLOR")} | {"TERM": "xterm"}

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content), encoding="utf-8")
        return path

    def run_folder(self, name, times, failures=()):
        for number in range(1, 5):
            scaled = {benchmark: time_ns * (1 + number / 50_000) for benchmark, time_ns in times.items()}
            self.write(f"{name}/{number}.json", run_file(scaled, failures))
        return self.folder / name

    def trace(self, kernel):
        return self.write("trace.json", {"traceEvents": [
            {"ph": "X", "cat": "kernel", "name": kernel, "pid": 0, "tid": 7, "ts": 5, "dur": 2,
             "args": {"correlation": 1, "device": 0, "stream": 7}}]})

    def fusegate(self, *arguments, **options):
        # Bytes, as text would have its carriage returns translated.
        result = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, timeout=120,
                                check=False, env=self.environment, **options)
        result.stdout = result.stdout.decode("utf-8")
        result.stderr = result.stderr.decode("utf-8")
        return result

    def on_terminal(self, *arguments, columns=80):
        """The command's output on a terminal of that width."""
        master, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        parts = []

        def read():
            try:
                while part := os.read(master, 65536):
                    parts.append(part)
            except OSError:  # nobody writes any more
                pass

        reader = threading.Thread(target=read)
        reader.start()
        result = subprocess.run([PROGRAM, *map(str, arguments)], stdout=terminal, stderr=subprocess.PIPE,
                                timeout=120, check=False, env=self.environment)
        os.close(terminal)
        reader.join()
        os.close(master)
        self.assertEqual(result.stderr, b"")
        return b"".join(parts).decode("utf-8").replace("\r\n", "\n")

    def assert_error(self, result, *parts):
        self.assertEqual(result.returncode, 2, result.stdout[-300:] + result.stderr[-300:])
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr[-300:])
        self.assertLess(len(result.stderr), 2000)
        for part in parts:
            self.assertIn(str(part), result.stderr)

    # Output.

    def test_nothing_that_others_wrote_acts_on_a_terminal_or_a_log(self):
        times = {"a/" + HOSTILE: 20_000, "b/" + HOSTILE: 30_000}
        failures = [("c/" + HOSTILE, "reason " + HOSTILE)]
        base = self.run_folder("base", times, failures)
        head = self.run_folder("head " + SPOKEN, {**times, "a/" + HOSTILE: 40_000}, failures)
        markdown, page = self.folder / "out.md", self.folder / "out.html"
        trace = self.trace("kernel " + HOSTILE)
        spoken = ""
        for command, code in (
                (["show", head], 0),
                (["gate", "--baseline", base, "--candidate", head, "--markdown", markdown], 1),
                (["report", "--baseline", base, "--candidate", head], 0),
                (["explain", base, head, "a/" + SPOKEN], 2),
                (["accept", head, "--reason", "why " + SPOKEN, "--force", "--store",
                  self.folder / "store", "--who", "me"], 0),
                (["gate", "--store", self.folder / "store", "--candidate", head], 2),
                (["trace-table", trace], 0),
                (["gate", "--candidate", SPOKEN], 2),
                (["--" + SPOKEN], 2),
                (["gate", "--candidate", "x", "--" + SPOKEN], 2)):
            with self.subTest(command=command[0]):
                result = self.fusegate(*command)
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertEqual(harmful(result.stdout) + harmful(result.stderr), [])
                if code == 2:
                    self.assertEqual(result.stderr.count("\n"), 1 if result.stderr else 0)
                spoken += result.stdout
        self.assertIn("a/" + SHOWN, spoken)
        self.assertIn("kernel " + SHOWN[:20], spoken)
        self.assertEqual(harmful(markdown.read_text(encoding="utf-8")), [])
        drawn = self.fusegate("report", "--baseline", base, "--candidate", head, "--html", page)
        if drawn.returncode == 0:  # where Python has what draws it
            self.assertEqual(controls(page.read_text(encoding="utf-8")), [])
            self.assertIn(SHOWN, page.read_text(encoding="utf-8"))

    # On a terminal.

    def test_a_table_fits_the_terminal_and_a_pipe_gets_it_whole(self):
        gate = ["gate", "--baseline", self.run_folder("base", dict.fromkeys(NAMES, 20_000)),
                "--candidate", self.run_folder("head", dict.fromkeys(NAMES, 22_000))]
        self.environment["NO_COLOR"] = "1"
        piped = self.fusegate(*gate).stdout
        rows = [line for line in piped.splitlines() if line.startswith("inconclusive  ")]
        self.assertEqual(len(rows), 2)
        self.assertGreater(len(rows[0]), 120)
        narrow = self.on_terminal(*gate)
        table = narrow[narrow.index("verdict "):].split("\n\n", maxsplit=1)[0]
        self.assertLessEqual(max(map(len, table.splitlines())), 80, table)
        self.assertEqual(sorted(table.split()), sorted(piped[piped.index("verdict "):].split("\n\n")[0].split()),
                         "nothing is lost")
        self.assertEqual(self.on_terminal(*gate, "--wide"), piped)
        self.assertEqual(self.on_terminal(*gate, columns=200), piped)
        self.environment["COLUMNS"] = "200"
        self.assertEqual(self.on_terminal(*gate), piped)
        self.environment["COLUMNS"] = "60"
        self.assertEqual(self.fusegate(*gate).stdout, piped, "only a terminal has a width")

    def test_a_terminal_has_colours_unless_no_color_is_set(self):
        self.run_folder("base", dict.fromkeys(NAMES, 20_000))
        self.run_folder("head", {NAMES[0]: 22_000, NAMES[1]: 18_000})
        gate = ["gate", "--baseline", self.folder / "base", "--candidate", self.folder / "head"]
        coloured = self.on_terminal(*gate, columns=250)
        self.assertIn("\x1b[31mregression\x1b[0m  ", coloured)
        self.assertIn("\x1b[32mimprovement\x1b[0m", coloured)
        plain = re.sub("\x1b\\[[0-9]*m", "", coloured)
        self.assertEqual(plain, self.fusegate(*gate).stdout)
        self.environment["NO_COLOR"] = "1"
        self.assertEqual(self.on_terminal(*gate, columns=250), plain)

    # Input.

    def test_a_gzip_bomb_and_a_large_file_are_refused_by_name(self):
        bomb = self.folder / "bomb.json.gz"
        with gzip.open(bomb, "wb", compresslevel=9) as packed:
            for _ in range(20):
                packed.write(b" " * 2**20)
        self.assertLess(bomb.stat().st_size, 2**16)
        self.assert_error(self.fusegate("trace-table", bomb, "--max-file-mib", "16"), bomb,
                          "is larger than 16 MiB (unpacked); raise the limit with --max-file-mib")
        self.assert_error(self.fusegate("trace-table", bomb), bomb, "the file is empty")
        sparse = self.folder / "sparse.json"
        with sparse.open("wb") as file:
            file.truncate(2**40)
        self.assert_error(self.fusegate("show", sparse), sparse, "is larger than 512 MiB")

    def test_pipes_are_read(self):
        text = json.dumps(run_file({NAMES[0]: 20_000}))
        for command in ("show /dev/stdin", "show <(cat)"):
            result = subprocess.run(["bash", "-c", f"exec {PROGRAM} {command}"], input=text, text=True,
                                    capture_output=True, timeout=60, check=False)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(NAMES[0], result.stdout)

    @unittest.skipIf(IS_SANITIZED, "the sanitizers' own memory is beyond any limit")
    def test_names_the_file_that_memory_is_too_small_for(self):
        large = self.write("large.json", {**run_file({NAMES[0]: 20_000}), "ballast": ["x" * 100] * 600_000})
        for command in ("show", "trace-table"):
            result = self.fusegate(command, large, preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_AS, (110 << 20, 110 << 20)))
            self.assert_error(result, large, "memory")

    def test_messages_stay_short(self):
        path = self.folder / "long.json"
        path.write_text('{"context": {}, "benchmarks": [{"name": "' + "a" * 130_000 + '"]', encoding="utf-8")
        self.assert_error(self.fusegate("show", path), path, "not valid JSON")
        path = self.write("unit.json", {"benchmarks": [{"name": "a", "time_unit": "b" * 130_000, "real_time": 1,
                                                        "iterations": 1}]})
        shown = self.fusegate("show", path).stdout
        self.assertIn("time_unit: must be ns, us, ms or s", str(shown))
        self.assertLess(len(shown), 2000)

    # The command line.

    def test_names_paths_that_cannot_be_read(self):
        folder = self.run_folder("run", {NAMES[0]: 20_000})
        store = "s" * 300
        for command in (["gate", "--candidate", folder], ["accept", folder, "--reason", "x", "--who", "me"]):
            self.assert_error(self.fusegate(*command, "--store", store), store, "File name too long")
        if os.geteuid() != 0:  # who may read everything
            folder.chmod(0)
            self.addCleanup(folder.chmod, 0o700)
            self.assert_error(self.fusegate("show", folder), folder, "Permission denied")


if __name__ == "__main__":
    unittest.main()
