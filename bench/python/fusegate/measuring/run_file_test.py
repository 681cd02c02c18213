"""The run file: whole after every step, and in Google Benchmark's layout."""

import json
import math
import os
import unittest

from fusegate.errors import InputError, WriteError
from fusegate.measuring.cuda_meter import Sample
from fusegate.measuring.fakes import FolderTest
from fusegate.measuring.graph_nodes import LaunchCount
from fusegate.measuring.run_file import (EntryWriter, RunFile, google_context, read_run_file, require_replaceable,
                                         require_same_measurement)
from fusegate.measuring.session import Record
from fusegate.implementation import Stage

RECORD = Record(relative_error=0.002, stages=[Stage("gelu", 10.0, 20.0), Stage("mul", 1.0, 30.0)],
                launches=LaunchCount(2, 1), host_ns=7000.0)
NAME = "geglu/liger/bf16/batch:1/seq:1/dim:1/hidden:8"


def entries_of(first_index=0, clock_hz=1.5e9, about_layout=None):
    writer = EntryWriter(NAME, family=3, process=2, repetitions=48)
    samples = [(Sample(2000.0, clock_hz), 500.0), (Sample(2400.0, clock_hz), 700.0)]
    return writer.layout_entries(first_index, samples, RECORD, 4, {"torch": "2.11.0"}, about_layout or {})


class EntryWriterTest(unittest.TestCase):
    def test_an_entry_is_a_sample_per_call(self):
        first, second = entries_of()
        self.assertEqual((first["name"], first["run_name"], first["run_type"]), (NAME, NAME, "iteration"))
        self.assertEqual((first["iterations"], first["real_time"], first["cpu_time"]), (4, 500.0, 125.0))
        self.assertEqual((first["time_unit"], first["family_index"], first["process"]), ("ns", 3, 2))
        self.assertEqual((second["repetition_index"], second["repetitions"], second["real_time"]), (1, 48, 600.0))

    def test_counters_are_fusegate_benchs(self):
        first = entries_of()[0]
        self.assertEqual({key: first[key] for key in ("flops", "min_bytes", "kernel_launches", "memory_operations",
                                                      "host_ns", "sm_clock_hz")},
                         {"flops": 11.0, "min_bytes": 50.0, "kernel_launches": 2.0, "memory_operations": 1.0,
                          "host_ns": 7000.0, "sm_clock_hz": 1.5e9})

    def test_a_clock_that_was_not_read_is_left_out(self):
        self.assertNotIn("sm_clock_hz", entries_of(clock_hz=math.nan)[0])

    def test_details_stand_in_the_first_entry_of_all(self):
        details = entries_of(about_layout={"warnings": [], "throttle_reasons": ["sw_power_cap"]})[0]["details"]
        self.assertEqual(details["choices"], {"torch": "2.11.0"})
        self.assertEqual(details["relative_error"], 0.002)
        self.assertEqual(details["stages"][1], {"name": "mul", "flops": 1.0, "min_bytes": 30.0})
        self.assertEqual(details["throttle_reasons"], ["sw_power_cap"])
        self.assertNotIn("warnings", details)

    def test_a_later_layout_has_only_its_own_details(self):
        first, second = entries_of(first_index=2, about_layout={"warnings": ["short_batch"]})
        self.assertEqual(first["repetition_index"], 2)
        self.assertEqual(first["details"], {"warnings": ["short_batch"]})
        self.assertNotIn("details", second)

    def test_a_failure_is_an_entry_too(self):
        entry = EntryWriter(NAME, 3, 1, 48).failure(5, "wrong result")
        self.assertEqual((entry["error_occurred"], entry["error_message"], entry["repetition_index"]),
                         (True, "wrong result", 5))


class RunFileTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "run" / "1.json"
        self.context = {**google_context("kernels.py"), "fusegate": {
            "suite": "all", "process": 1, "finished": False, "warnings": ["dirty_tree"],
            "protocol": {"samples": 2, "min_effect": 0.01, "allow": 0.02}, "environment": {"device": "NVIDIA H200"},
            "provenance": {"commit": "abc"}}}

    def read(self):
        return json.loads(self.path.read_text(encoding="utf-8"))

    def write(self, *entries):
        file = RunFile(self.path, self.context)
        file.append(entries)
        file.finish(())
        file.close()

    def test_is_whole_before_the_first_place_and_soon_after_every_one(self):
        file = RunFile(self.path, self.context)
        self.assertEqual(self.read()["benchmarks"], [])
        file.append(entries_of())
        file.append(entries_of(first_index=2), at_once=True)
        self.assertEqual([entry["repetition_index"] for entry in self.read()["benchmarks"]], [0, 1, 2, 3])
        self.assertFalse(self.read()["context"]["fusegate"]["finished"])
        file.close()
        self.assertEqual([path.name for path in self.path.parent.iterdir()], ["1.json"], "nothing else is left")

    def test_writes_no_more_often_than_two_hundredths_of_the_time(self):
        file = RunFile(self.path, self.context)
        file._last_took = 1000.0  # pylint: disable=protected-access
        file.append(entries_of())
        self.assertEqual(self.read()["benchmarks"], [])
        file.leave(())
        self.assertEqual(len(self.read()["benchmarks"]), 2)

    def test_says_when_it_is_finished_and_what_was_doubted(self):
        file = RunFile(self.path, self.context)
        file.finish({"unlocked_clocks"})
        fusegate = self.read()["context"]["fusegate"]
        self.assertTrue(fusegate["finished"])
        self.assertEqual(fusegate["warnings"], ["dirty_tree", "unlocked_clocks"])

    def test_adds_what_became_known_later_to_the_first_entry(self):
        file = RunFile(self.path, self.context)
        file.append([EntryWriter(NAME, 3, 1, 48).failure(0, "no"), *entries_of()])
        file.add_details({NAME: {"energy_per_call_j": 0.5}, "another": {"energy_per_call_j": 1.0}})
        failed, first, second = self.read()["benchmarks"]
        self.assertEqual((first["details"]["energy_per_call_j"], first["details"]["relative_error"]), (0.5, 0.002))
        self.assertNotIn("details", second)
        self.assertNotIn("details", failed)

    def test_names_the_file_that_cannot_be_written(self):
        self.path.parent.write_text("a file where the folder should be", encoding="utf-8")
        with self.assertRaisesRegex(WriteError, "1.json: cannot be written"):
            RunFile(self.path, self.context)

    def test_one_process_writes_a_file_at_a_time(self):
        file = RunFile(self.path, self.context)
        with self.assertRaisesRegex(InputError, f"process {os.getpid()} is writing this file"):
            RunFile(self.path, self.context)
        file.close()
        RunFile(self.path, self.context).close()

    def test_removes_what_killed_processes_left(self):
        for name in (".1.json.fusegate-abc123", ".1.json.fusegate-lock", ".2.json.fusegate-lock"):
            (self.folder / name).touch()
        for name in ("mine.fusegate-saved.json", ".mine"):
            (self.folder / name).touch()
        held = RunFile(self.folder / "3.json", google_context("x"))
        RunFile(self.folder / "1.json", google_context("x")).close()
        self.assertEqual({path.name for path in self.folder.iterdir()},
                         {"1.json", "3.json", ".3.json.fusegate-lock", "mine.fusegate-saved.json", ".mine"})
        held.close()

    def test_a_link_stays_one_and_a_device_is_not_replaced(self):
        target = self.folder / "target.json"
        target.touch()
        self.path.parent.mkdir()
        self.path.symlink_to(target)
        RunFile(self.path, self.context).close()
        self.assertTrue(self.path.is_symlink())
        self.assertIn("context", target.read_text(encoding="utf-8"))
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        RunFile(pipe, self.context).close()
        self.assertTrue(pipe.is_fifo())
        self.assertTrue(os.read(reader, 10).startswith(b"{"))
        os.close(reader)

    def test_without_a_path_writes_nothing(self):
        RunFile(None, self.context).append(entries_of())
        self.assertFalse(self.path.exists())

    def test_replaces_only_the_same_measurement(self):
        self.write(*entries_of())
        ours = self.context["fusegate"]
        require_replaceable(self.path, {**ours, "protocol": {"samples": 2}}, {NAME})  # other keys are the gate's
        for fusegate, names, expected in (
                (ours, {"other"}, f"benchmarks\\[0\\]: {NAME} would be lost"),
                ({**ours, "suite": "pr"}, {NAME}, 'context.fusegate.suite: is "all" in the file and "pr" now; --force replaces'),
                ({**ours, "protocol": {"samples": 3}}, {NAME}, "protocol.samples: is 2 in the file and 3 now")):
            with self.subTest(expected), self.assertRaisesRegex(InputError, expected):
                require_replaceable(self.path, fusegate, names)
        self.path.write_text("a letter", encoding="utf-8")
        with self.assertRaisesRegex(InputError, "exists and is not a run file; --force"):
            require_replaceable(self.path, ours, {NAME})
        self.path.write_text("", encoding="utf-8")
        require_replaceable(self.path, ours, {NAME})

    def test_resumes_only_the_same_measurement(self):
        self.write(*entries_of())
        context, entries = read_run_file(self.path)
        self.assertEqual(len(entries), 2)
        require_same_measurement(self.path, context, self.context["fusegate"])
        with self.assertRaisesRegex(InputError, 'provenance.commit: is "abc" in the file and "def" now; --resume needs'):
            require_same_measurement(self.path, context, {**self.context["fusegate"], "provenance": {"commit": "def"}})

    def test_says_what_is_wrong_with_a_file_that_is_read(self):
        for text, expected in (("{", "not valid JSON"), ("[]", "benchmarks: must be a list"),
                               ('{"benchmarks": [3]}', r"benchmarks\[0\].name: must be a text")):
            self.path.parent.mkdir(exist_ok=True)
            self.path.write_text(text, encoding="utf-8")
            with self.subTest(text), self.assertRaisesRegex(InputError, expected):
                read_run_file(self.path)
