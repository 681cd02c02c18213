"""What surrounds a measurement, and when it is warned of."""

import dataclasses
import math
import pathlib
import socket
import subprocess
import unittest

from fusegate.machine import host
from fusegate.machine.environment import Watch, environment, provenance
from fusegate.measuring.cuda_meter import Sample
from fusegate.measuring.fakes import UUID, FakeDevice, FakeNvml, FolderTest

SETTINGS = {"driver": "580.1", "power_limit_w": 700.0, "max_sm_clock_mhz": 1980, "ecc": True}


class WatchTest(unittest.TestCase):
    def warnings(self, **fields):
        return Watch(FakeNvml(**fields), UUID, ["dirty_tree"]).warnings

    def test_keeps_the_warnings_there_are(self):
        self.assertEqual(self.warnings(), {"dirty_tree"})

    def test_without_nvml_says_so_and_goes_on(self):
        self.assertEqual(Watch(None, UUID, []).warnings, {"nvml_missing"})
        self.assertEqual(Watch(FakeNvml(), "GPU-2", []).warnings, {"nvml_missing"})

    def test_warns_of_a_gpu_that_is_shared_or_too_hot(self):
        self.assertIn("other_gpu_process", self.warnings(compute_processes=2))
        self.assertIn("throttled", self.warnings(throttle_reasons=["hw_thermal_slowdown"]))
        self.assertNotIn("throttled", self.warnings(throttle_reasons=["sw_power_cap"]))

    def test_warns_of_clocks_that_move(self):
        watch = Watch(FakeNvml(), UUID, [])
        for hz in (1.50e9, math.nan, 1.505e9):
            watch.add(Sample(1.0, hz))
        self.assertNotIn("unlocked_clocks", watch.warnings)
        watch.add(Sample(1.0, 1.6e9))
        self.assertIn("unlocked_clocks", watch.warnings)

    def test_warns_of_settings_that_change_and_counters_that_show_errors(self):
        for field, before, after, expected in (
                ("settings", SETTINGS, {**SETTINGS, "power_limit_w": 500.0}, "limits_changed"),
                ("settings", SETTINGS, {"driver": "580.1"}, "gpu_lost"),
                ("application_clock_mhz", 1980, 1500, "limits_changed"), ("energy_mj", 10, 9, "gpu_lost"),
                ("memory_errors", 3, 4, "ecc_errors"), ("clocks_held", False, True, "limits_changed"),
                ("is_slice", False, True, "mig_slice")):
            with self.subTest(field, expected=expected):
                nvml = FakeNvml(**{field: before})
                watch = Watch(nvml, UUID)
                watch.check()
                self.assertEqual(watch.warnings, set())
                nvml.gpu = dataclasses.replace(nvml.gpu, **{field: after})
                watch.check()
                self.assertEqual(watch.warnings, {expected})

    def test_a_gpu_that_answers_no_more_is_lost(self):
        nvml = FakeNvml()
        watch = Watch(nvml, UUID)
        nvml.state = lambda _: None
        watch.check()
        self.assertEqual(watch.warnings, {"gpu_lost"})

    def test_warns_of_a_cpu_that_did_something_else(self):
        watch = Watch(None, "")
        watch.add(Sample(100.0, 1e9, 2.0))
        self.assertEqual(watch.warnings, set())
        watch.add(Sample(100.0, 1e9, 5.0))
        self.assertEqual(watch.warnings, {"busy_host"})

    def test_names_the_machine_that_host_times_are_of(self):
        facts = Watch(None, "").machine()
        self.assertEqual(facts["host"], socket.gethostname())
        named = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").count("model name")
        self.assertEqual("cpu" in facts, named > 0)
        if named:
            self.assertEqual(facts["cpu"], host.model_name())
            self.assertNotEqual(facts["cpu"], "CPU")

    def test_environment_is_under_fusegate_benchs_keys(self):
        self.assertEqual(environment(FakeDevice(), Watch(FakeNvml(settings=SETTINGS), UUID)),
                         {"device": "NVIDIA H200", "cuda": "13.0", "cublas": "13.1.0", **SETTINGS})


class ProvenanceTest(FolderTest):
    def git(self, *arguments):
        subprocess.run(["git", "-C", self.folder, "-c", "user.name=a", "-c", "user.email=a@b", *arguments], check=True,
                       capture_output=True)

    def test_is_the_commit_of_the_kernels(self):
        self.assertEqual(provenance(self.folder, FakeDevice(), {})["commit"], "")
        (self.folder / "kernels.py").write_text("1", encoding="utf-8")
        for command in (["init"], ["add", "."], ["commit", "-m", "first"]):
            self.git(*command)
        origin = provenance(self.folder, FakeDevice(), {"torch": "2.11.0"})
        self.assertRegex(origin["commit"], "^[0-9a-f]{40}$")
        self.assertEqual((origin["dirty"], origin["device_uuid"]), (False, UUID))
        self.assertIn(", torch 2.11.0", origin["toolchain"])
        (self.folder / "kernels.py").write_text("2", encoding="utf-8")
        self.assertTrue(provenance(self.folder, FakeDevice(), {})["dirty"])
