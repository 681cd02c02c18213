"""Which program `python -m fusegate` becomes. The wheel's own test runs it (wheel_test.py)."""

import os
import unittest
from unittest import mock

from fusegate import gate_program, program
from fusegate.__main__ import main
from fusegate.errors import InputError
from fusegate.fakes import FolderTest


class FindGateProgramTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.in_path = self.program("path/fusegate")
        for patch in (mock.patch.dict(os.environ, PATH=str(self.folder / "path")),
                      mock.patch.object(gate_program, "FOLDERS", (self.folder / "package", self.folder / "build"))):
            patch.start()
            self.addCleanup(patch.stop)

    def program(self, path):
        path = self.write(path, "")
        path.chmod(0o755)
        return str(path)

    def test_prefers_the_package_s_to_the_checkout_s_to_that_in_path(self):
        self.assertEqual(gate_program.find_gate_program(), self.in_path)
        for better in ("build/bin/fusegate", "package/bin/fusegate"):
            better = self.program(better)
            self.assertEqual(gate_program.find_gate_program(), better)
        self.assertEqual(gate_program.find_gate_program("fusegate"), self.in_path, "the one that is named")

    def test_says_where_it_searched(self):
        os.unlink(self.in_path)
        for given, expected in ((None, "the program fusegate: was not found in .*/package/bin, .*/build/bin and in PATH"),
                                ("mine", "the program mine: was not found in PATH")):
            with self.assertRaisesRegex(InputError, expected):
                gate_program.find_gate_program(given)

    def test_does_not_become_its_own_script(self):
        with mock.patch("sys.argv", [self.in_path]), mock.patch.object(gate_program, "log") as log:
            self.assertEqual(gate_program.main(), 2)
        self.assertIn("the package has no program", str(log.call_args[0][0]))


class OldRunTest(unittest.TestCase):
    def test_names_a_file_first(self):
        for arguments, is_old in ((["run", "kernels.py", "--samples=2"], True), (["run", "--program", "a"], False),
                                  (["run"], False), (["gate", "run"], False), ([], False)):
            with mock.patch.object(program, "command", return_value=True), \
                    mock.patch.object(gate_program, "main", return_value=False):
                self.assertEqual(main(arguments), is_old, arguments)


if __name__ == "__main__":
    unittest.main()
