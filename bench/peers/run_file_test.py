"""The run file: whole after every step, and in Google Benchmark's layout."""

import json
import math
import unittest

from bench import find_bench
from fakes import ENVIRONMENT, FakeDevice, FolderTest, plan_on_a_gpu
from graph_nodes import LaunchCount
from input_error import InputError
from meter import Sample
from problems import Stage
from run_file import EntryWriter, RunFile, fusegate_context, google_context
from session import Record

RECORD = Record(relative_error=0.002, stages=[Stage("gelu", 10.0, 20.0), Stage("mul", 1.0, 30.0)],
                launches=LaunchCount(2, 1), host_ns=7000.0)
NAME = "geglu/liger/bf16/batch:1/seq:1/dim:1/hidden:8"


def entries_of(first_index=0, clock_hz=1.5e9, about_place=None):
    writer = EntryWriter(NAME, family=3, invocation=2, repetitions=48)
    samples = [(Sample(2000.0, clock_hz), 500.0), (Sample(2400.0, clock_hz), 700.0)]
    return writer.place(first_index, samples, RECORD, 4, {"torch": "2.11.0"}, about_place or {})


class EntryWriterTest(unittest.TestCase):
    def test_an_entry_is_a_sample_per_call(self):
        first, second = entries_of()
        self.assertEqual((first["name"], first["run_name"], first["run_type"]), (NAME, NAME, "iteration"))
        self.assertEqual((first["iterations"], first["real_time"], first["cpu_time"]), (4, 500.0, 125.0))
        self.assertEqual((first["time_unit"], first["family_index"], first["invocation"]), ("ns", 3, 2))
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
        details = entries_of(about_place={"doubts": [], "throttle_reasons": ["sw_power_cap"]})[0]["details"]
        self.assertEqual(details["choices"], {"torch": "2.11.0"})
        self.assertEqual(details["relative_error"], 0.002)
        self.assertEqual(details["stages"][1], {"name": "mul", "flops": 1.0, "min_bytes": 30.0})
        self.assertEqual(details["throttle_reasons"], ["sw_power_cap"])
        self.assertNotIn("doubts", details)

    def test_a_later_place_says_only_what_was_noticed_there(self):
        first, second = entries_of(first_index=2, about_place={"doubts": ["short_batch"]})
        self.assertEqual(first["repetition_index"], 2)
        self.assertEqual(first["details"], {"doubts": ["short_batch"]})
        self.assertNotIn("details", second)

    def test_a_failure_is_an_entry_too(self):
        entry = EntryWriter(NAME, 3, 1, 48).failure(5, "wrong result")
        self.assertEqual((entry["error_occurred"], entry["error_message"], entry["repetition_index"]),
                         (True, "wrong result", 5))


class RunFileTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "run" / "1.json"
        self.context = {**google_context(),
                        "fusegate": fusegate_context(self.plan(), FakeDevice(), {"torch": "2.11.0"}, {"dirty_tree"})}

    @staticmethod
    def plan():
        return plan_on_a_gpu(find_bench(), ["--suite=ladder", "--invocation=2", "--seed=7"])

    def read(self):
        return json.loads(self.path.read_text(encoding="utf-8"))

    def test_is_whole_before_the_first_place_and_after_every_one(self):
        file = RunFile(self.path, self.context)
        self.assertEqual(self.read()["benchmarks"], [])
        file.append(entries_of())
        file.append(entries_of(first_index=2))
        self.assertEqual([entry["repetition_index"] for entry in self.read()["benchmarks"]], [0, 1, 2, 3])
        self.assertFalse(self.read()["context"]["fusegate"]["finished"])
        self.assertEqual([path.name for path in self.path.parent.iterdir()], ["1.json"], "nothing else is left")

    def test_says_when_it_is_finished_and_what_was_doubted(self):
        file = RunFile(self.path, self.context)
        file.finish({"unlocked_clocks"})
        fusegate = self.read()["context"]["fusegate"]
        self.assertTrue(fusegate["finished"])
        self.assertEqual(fusegate["doubts"], ["dirty_tree", "unlocked_clocks"])

    def test_context_says_what_was_asked_for(self):
        RunFile(self.path, self.context)
        fusegate = self.read()["context"]["fusegate"]
        self.assertEqual((fusegate["suite"], fusegate["invocation"], fusegate["seed"]), ("ladder", 2, 7))
        self.assertEqual(fusegate["protocol"], {**self.plan()["fusegate"]["protocol"], "layout": "driver"})
        self.assertEqual(fusegate["libraries"], {"torch": "2.11.0"})
        self.assertEqual(fusegate["provenance"]["device_uuid"], "GPU-1")

    def test_environment_has_fusegate_benchs_keys_and_torchs_libraries(self):
        fusegate = self.context["fusegate"]
        self.assertEqual(fusegate["environment"], {**ENVIRONMENT, "cuda": "13.0", "cublas": "13.1.0"})
        self.assertEqual(set(fusegate) - set(self.plan()["fusegate"]), {"libraries"})
        device = FakeDevice()
        device.versions = lambda: {"cuda": "13.0"}  # a cuBLAS that does not tell
        self.assertNotIn("cublas", fusegate_context(self.plan(), device, {}, [])["environment"])

    def test_names_the_file_that_cannot_be_written(self):
        self.path.parent.write_text("a file where the folder should be", encoding="utf-8")
        with self.assertRaisesRegex(InputError, "1.json: cannot be written"):
            RunFile(self.path, self.context)

    def test_without_a_path_writes_nothing(self):
        RunFile(None, self.context).append(entries_of())
        self.assertFalse(self.path.exists())
