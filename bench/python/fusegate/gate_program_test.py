"""Which program `python -m fusegate` becomes. The wheel's own test runs it (wheel_test.py)."""

import os
import pathlib
import tempfile
import unittest
from unittest import mock

from fusegate import gate_program
from fusegate.__main__ import is_old_run
from fusegate.errors import InputError


class FindGateProgramTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.in_path = self.program("path/fusegate")
        for patch in (mock.patch.dict(os.environ, PATH=str(self.folder / "path")),
                      mock.patch.object(gate_program, "_FOLDERS", (self.folder / "package", self.folder / "build"))):
            patch.start()
            self.addCleanup(patch.stop)

    def program(self, path):
        path = self.folder / path
        path.parent.mkdir(exist_ok=True)
        path.touch(0o755)
        return str(path)

    def test_prefers_the_package_s_to_the_checkout_s_to_that_in_path(self):
        self.assertEqual(gate_program.find_gate_program(), self.in_path)
        built = self.program("build/fusegate")
        self.assertEqual(gate_program.find_gate_program(), built)
        installed = self.program("package/fusegate")
        self.assertEqual(gate_program.find_gate_program(), installed)
        self.assertEqual(gate_program.find_gate_program("fusegate"), self.in_path, "the one that is named")

    def test_says_where_it_searched(self):
        os.unlink(self.in_path)
        with self.assertRaisesRegex(InputError, "the program fusegate: was not found in .*/package, .*/build and in PATH"):
            gate_program.find_gate_program()
        with self.assertRaisesRegex(InputError, "the program mine: was not found in PATH"):
            gate_program.find_gate_program("mine")

    def test_does_not_become_its_own_script(self):
        with mock.patch("sys.argv", [self.in_path]), mock.patch.object(gate_program, "log") as log:
            self.assertEqual(gate_program.main(), 2)
        self.assertIn("the package has no program", str(log.call_args[0][0]))


class OldRunTest(unittest.TestCase):
    def test_names_a_file_first(self):
        for arguments, is_old in ((["run", "kernels.py", "--samples=2"], True), (["run", "--program", "a"], False),
                                  (["run"], False), (["gate", "run"], False), ([], False)):
            self.assertEqual(is_old_run(arguments), is_old, arguments)


if __name__ == "__main__":
    unittest.main()
