"""A small campaign of faults, and each of its checks seen to fail."""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import faults
from disks import NoMount, full_disk, readonly_store, room_runs_out
from interrupted_calls import interrupted_calls
from kills import Kills, kill_at_every_call, kill_with_its_program, without_acceptance
from programs import FinishedFiles, Lost, Programs, require_no_leftovers, require_nobody_in
from writers import two_accepts, two_runs

SEED = 17
KILLS = 20


class Folder(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.home = pathlib.Path(self._folder.name)


class Campaign(Folder):
    def setUp(self):
        super().setUp()
        self.programs = Programs(os.environ["FUSEGATE_BIN"], self.home)
        self.random = random.Random(SEED)

    def test_kills_at_every_call(self):
        self.assertGreater(kill_at_every_call(self.programs), 20)

    def test_a_killed_run_ends_its_program(self):
        kill_with_its_program(self.programs)

    def test_kills(self):
        self.assertEqual(Kills(self.programs, self.random).campaign(KILLS), KILLS)

    def test_a_full_disk(self):
        try:
            full_disk(self.programs, pages=(0, 2))
        except NoMount as error:
            self.skipTest(str(error))

    def test_room_that_runs_out(self):
        room_runs_out(self.programs, self.random, times=2)

    def test_a_store_that_cannot_be_written(self):
        readonly_store(self.programs)

    def test_two_writers(self):
        self.assertGreater(two_runs(self.programs, "fresh") + two_runs(self.programs, "fresh", "--append"), 0)
        two_accepts(self.programs, 1)

    def test_interrupted_calls(self):
        interrupted_calls(self.programs, self.random)


class TheChecksCanFail(Folder):
    def write(self, name, finished, entries=()):
        path = self.home / name
        path.write_text(json.dumps({"context": {"fusegate": {"finished": finished}}, "benchmarks": list(entries)}))
        return path

    def test_what_was_finished_may_not_change(self):
        for change in (lambda path: path.write_text("{}"), lambda path: path.unlink(),
                       lambda path: self.write(path.name, True, ["more"])):
            finished_files = FinishedFiles()
            path = self.write("1.json", True)
            finished_files.read(self.home)
            change(path)
            with self.assertRaises(Lost):
                finished_files.read(self.home)

    def test_what_was_not_finished_may(self):
        finished_files = FinishedFiles()
        self.write("1.json", False)
        finished_files.read(self.home)
        self.write("1.json", True)
        finished_files.read(self.home)
        self.assertEqual(len(finished_files), 1)

    def test_half_a_file_is_a_loss(self):
        for name in ("1.json", "run.json"):
            (self.home / name).write_text('{"context": ')
            with self.assertRaises(Lost):
                FinishedFiles().read(self.home)
            (self.home / name).unlink()
        (self.home / "baseline.json").write_text('{"acceptance": ')
        with self.assertRaises(Lost):
            without_acceptance(self.home / "baseline.json")

    def test_leftovers_are_seen(self):
        require_no_leftovers(self.home)
        (self.home / ".1.json.fusegate-AbCdEf").touch()
        with self.assertRaises(Lost):
            require_no_leftovers(self.home)

    def test_a_process_that_lives_on_is_seen(self):
        command = [sys.executable, "-c", "import time; print('here', flush=True); time.sleep(60)", self.home]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            with self.assertRaises(Lost):
                require_nobody_in(self.home, within_s=0.05)
            process.kill()
        require_nobody_in(self.home)

    def test_the_program_ends_with_one_where_something_is_lost(self):
        bench = pathlib.Path(os.environ["FUSEGATE_BIN"])
        for name in ("fusegate_bench", "libfusegate_faulty_calls.so"):
            (self.home / name).symlink_to(bench / name)
        (self.home / "fusegate").write_text("#!/bin/sh\nexit 3\n")
        (self.home / "fusegate").chmod(0o755)
        ended = subprocess.run([sys.executable, faults.__file__, f"--bin={self.home}", "--kills=1", "--seed=1"],
                               capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertIn("ended with 3 and not 0", ended.stderr)


if __name__ == "__main__":
    unittest.main()
