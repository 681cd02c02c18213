"""Run folders: one for each test, which always have the last complete run."""

import unittest

from fusegate.errors import InputError
from fusegate.measuring.fakes import FolderTest
from fusegate.pytest_folder import RunFolder, folder_name, require_outside


class FolderNameTest(unittest.TestCase):
    def test_is_the_id_of_a_plain_test(self):
        self.assertEqual(folder_name("test_k.py::test_add"), "test_k.py_test_add")

    def test_no_two_tests_share_one(self):
        tests = ["test_k.py::test_add", "test_k.py::test_add[a/b]", "test_k.py::test_add[a b]", "test_k.py::test_add[a_b]",
                 "test_k.py::test_add[\u00e9]", "test_k.py::test_add[\udcff]", "a/test_k.py::test_add", "a_test_k.py::test_add",
                 "test_k.py::A::test_b", "test_k.py::A_test_b", "test_k.py::test_" + 200 * "a", "test_k.py::test_" + 201 * "a"]
        names = [folder_name(test) for test in tests]
        self.assertEqual(len(set(names)), len(tests), names)
        for name in names:
            self.assertRegex(name, r"\A[A-Za-z0-9_.-]{1,160}\Z")


class RunFolderTest(FolderTest):
    def measure(self, text, finishes=True):
        folder = RunFolder(self.folder / "run")
        try:
            (folder.begin() / "1.json").write_text(text, encoding="utf-8")
            if finishes:
                folder.finish()
        finally:
            folder.close()

    def stored(self):
        return (self.folder / "run" / "1.json").read_text(encoding="utf-8")

    def test_an_unfinished_run_does_not_replace_a_complete_one(self):
        self.measure("one")
        self.measure("two", finishes=False)
        self.assertEqual(self.stored(), "one")
        self.measure("three")
        self.assertEqual(self.stored(), "three")
        self.assertEqual([path.name for path in self.folder.iterdir()], ["run"])

    def test_goes_on_where_one_was_killed_between_its_renames(self):
        self.measure("one")
        (self.folder / "run").rename(self.folder / ".run.earlier")
        self.measure("two", finishes=False)
        self.assertEqual(self.stored(), "one")
        (self.folder / ".run.earlier").mkdir()
        self.measure("three")
        self.assertEqual(self.stored(), "three")
        self.assertEqual([path.name for path in self.folder.iterdir()], ["run"])

    def test_two_sessions_do_not_mix(self):
        first, second = RunFolder(self.folder / "run"), RunFolder(self.folder / "run")
        first.begin()
        with self.assertRaisesRegex(InputError, "run: process .* is writing this file"):
            second.begin()
        first.close()

    def test_says_what_cannot_be_written(self):
        (self.folder / "run.unfinished").touch()
        with self.assertRaisesRegex(InputError, "run.unfinished: cannot be written: Not a directory"):
            RunFolder(self.folder / "run").begin()

    def test_a_baseline_lies_outside(self):
        inside = self.folder / "out" / "run"
        inside.mkdir(parents=True)
        link = self.folder / "link"
        link.symlink_to(inside)
        for baseline in (inside, inside.parent, link, self.folder / "out" / "x" / ".." / "run"):
            with self.assertRaisesRegex(InputError, "lies in the folder of --fusegate-out"):
                require_outside(baseline, self.folder / "out", "--fusegate-out")
        require_outside(self.folder / "outside", self.folder / "out", "--fusegate-out")
        require_outside(inside, None, "--fusegate-out")
