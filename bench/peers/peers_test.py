"""The program: exit codes, messages, and a complete run on a fake GPU. Needs neither torch nor a GPU."""

import json
import os
import pathlib
import subprocess
import sys

from fusegate.errors import InputError
from fusegate.measuring.fakes import FakeDevice, FakeMeter, FolderTest, fake_protocol

import peers
from bench import find_bench
from fakes import ENVIRONMENT, fake_gpu, fake_libraries, plan_on_a_gpu

PROGRAM = pathlib.Path(__file__).resolve().parent / "peers.py"
NO_TORCH = "raise ImportError('not wanted here')"


class PeersTest(FolderTest):
    def process(self, *flags):
        """With a torch that cannot be imported, whatever this machine has."""
        (self.folder / "torch.py").write_text(NO_TORCH, encoding="utf-8")
        return subprocess.run([sys.executable, PROGRAM, *flags], capture_output=True, text=True, timeout=60,
                              check=False, env={**os.environ, "PYTHONPATH": str(self.folder)})

    def main(self, *flags, libraries=None, device=None):
        """On a fake GPU: its exit code, what it printed and what it logged."""
        with fake_gpu(device or FakeDevice(), FakeMeter(), libraries) as (out, errors):
            code = peers.main(["--samples=2", "--layouts=2", "--idle-us=0", *flags])
        return code, out.getvalue(), errors.getvalue()

    def test_without_torch_ends_with_2_and_one_line(self):
        result = self.process()
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr, "peers: torch: no peer can be measured: torch cannot be imported "
                                        "(ImportError: not wanted here)\n")

    def test_bad_input_ends_with_2_and_one_line_that_names_it(self):
        bad = self.folder / "bad.json"
        bad.write_text('{"name": "bad", "sweeps": 3}', encoding="utf-8")
        cut = self.folder / "cut.json"
        cut.write_text('{"name": ', encoding="utf-8")
        for flags, expected in (([f"--suite={bad}"], f"peers: {bad}: sweeps: must be a list"),
                                ([f"--suite={cut}"], f"peers: {cut}: name: not valid JSON"),
                                (["--suite=nope"], "peers: nope: no such suite"),
                                (["--speed=3"], "peers: --speed=3: unknown flag"),
                                (["--problem=1,2,3"], "peers: --problem: '1,2,3': expected BATCH,SEQ,DIM,HIDDEN"),
                                (["--bench=/nonexistent"], "peers: /nonexistent: cannot be started"),
                                (["--filter=nothing_has_this"], "peers: ladder: sweeps: nothing is left to run")):
            with self.subTest(flags):
                result = self.process(*flags)
                self.assertEqual(result.returncode, 2)
                self.assertTrue(result.stderr.startswith(expected), result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1)

    def test_wrong_flags_leave_the_run_file_unchanged(self):
        out_file = self.folder / "1.json"
        out_file.write_text("measured", encoding="utf-8")
        for flag, expected in (("--resume", "peers: --resume: cannot be used with --plan"),
                               ("--profile=on", "peers: --profile: invalid choice: 'on'")):
            code, _, errors = self.main("--problem=1,1,8,8", "--operation=linear", f"--out={out_file}", flag)
            self.assertEqual((code, errors[:len(expected)]), (2, expected))
            self.assertEqual(out_file.read_text(encoding="utf-8"), "measured")
        code, _, errors = self.main("--problem=1,1,8,8", "--operation=linear", "--profile=off")
        self.assertEqual(code, 0, errors)

    def test_prints_progress_for_fusegate(self):
        code, out, errors = self.main("--problem=64,128,768,3072", "--operation=linear", "--progress")
        self.assertEqual(code, 0, errors)
        events = [json.loads(line.split(" ", 1)[1]) for line in out.splitlines()]
        self.assertEqual((events[0]["event"], events[-1]["finished"], events[-1]["benchmarks"]), ("start", 2, 2))

    def test_measures_and_prints_a_line_for_each_benchmark(self):
        out_file = self.folder / "run" / "1.json"
        code, out, errors = self.main("--problem=64,128,768,3072", "--operation=linear", f"--out={out_file}")
        self.assertEqual(code, 0)
        self.assertRegex(errors, r"^peers: 2 benchmarks in \S+ s: \S+ s compiling and checking, \S+ s on the run "
                                 r"file\n$")
        self.assertEqual([line.split()[0].split("/")[1] for line in out.splitlines()],
                         ["torch_compile", "torch_eager"])
        self.assertIn("1.00 us", out)
        run_file = json.loads(out_file.read_text(encoding="utf-8"))
        self.assertEqual(len(run_file["benchmarks"]), 4)
        self.assertEqual(run_file["context"]["fusegate"]["suite"], "custom")

    def test_quick_tuning_changes_quacks_tuner(self):
        libraries, calls = fake_libraries(), []
        libraries.modules["quack"].autotuner._bench_cuda_graph_l2_rotate = lambda **numbers: calls.append(numbers)
        flags = ["--problem=1,1,8,8", "--operation=geglu_mlp", "--implementation=quack"]
        for more, numbers in (([], {}), (["--quack-tuning=quick"], {"warmup_target_ms": 20, "n_timed_calls": 60})):
            self.assertEqual(self.main(*flags, *more, libraries=libraries)[0], 0)
            libraries.modules["quack"].autotuner._bench_cuda_graph_l2_rotate()
            self.assertEqual(calls.pop(), numbers)

    def test_records_the_energy_of_a_call_where_asked(self):
        out_file = self.folder / "1.json"
        flags = ["--problem=1,1,8,8", "--operation=linear", "--implementation=torch_eager", f"--out={out_file}"]
        for more, is_there in (([], False), (["--force", "--energy-ms=1"], True)):
            self.assertEqual(self.main(*flags, *more)[0], 0)
            first = json.loads(out_file.read_text(encoding="utf-8"))["benchmarks"][0]
            self.assertEqual(first["details"].get("energy_per_call_j", 0) > 0, is_there)

    def test_says_what_is_left_out_and_goes_on(self):
        libraries = fake_libraries()
        libraries.drop("triton", "Triton runs no kernel here")
        code, out, errors = self.main("--problem=1,1,8,8", "--operation=linear", libraries=libraries)
        self.assertEqual(code, 0)
        self.assertEqual(errors.splitlines()[0], "peers: left out linear/torch_compile: Triton runs no kernel here")
        self.assertEqual(len(out.splitlines()), 1)

    def test_ends_with_2_where_every_benchmark_failed(self):
        code, out, errors = self.main("--problem=1,1,8,8", "--operation=linear", device=FakeDevice(error=1.0))
        self.assertEqual((code, out), (2, ""))
        self.assertIn("peers: every benchmark failed", errors)

    def test_ends_with_2_where_the_device_is_lost(self):
        device = FakeDevice(error=1.0)
        device.lost = True
        code, _, errors = self.main("--problem=1,1,8,8", "--operation=linear", device=device)
        self.assertEqual(code, 2)
        self.assertIn("the device was lost", errors)

    def test_replaces_a_file_of_other_content_only_with_force(self):
        out_file = self.folder / "1.json"
        flags = ["--problem=1,1,8,8", f"--out={out_file}"]
        out_file.write_text("a letter", encoding="utf-8")
        code, _, errors = self.main("--operation=linear", *flags)
        self.assertEqual((code, errors), (2, f"peers: {out_file}: exists and is not a run file; --force replaces the file\n"))
        self.assertEqual(out_file.read_text(encoding="utf-8"), "a letter")
        self.assertEqual(self.main("--operation=linear", *flags, "--force")[0], 0)
        self.assertEqual(self.main("--operation=linear", *flags)[0], 0, "the same is measured again")
        code, _, errors = self.main("--operation=geglu", *flags)
        self.assertEqual(code, 2)
        self.assertRegex(errors, "linear/torch_[a-z]+/bf16/batch:1/seq:1/dim:8/hidden:8 would be lost")

    def test_shows_what_others_wrote_without_acting_on_it(self):
        result = self.process("--suite=\x1b[2J::error::x")
        self.assertEqual(result.returncode, 2)
        self.assertNotIn("\x1b", result.stderr)
        self.assertIn("\\x1b[2J", result.stderr)

    def test_prints_the_environment(self):
        code, out, _ = self.main("--environment")
        self.assertEqual(code, 0)
        self.assertEqual(json.loads(out)["environment"]["cublas"], "13.1.0")
        self.assertEqual(json.loads(out)["warnings"], [], "that fusegate_bench was built for debugging is not torch's")
        self.assertEqual(json.loads(out)["libraries"]["liger"], "0.8.5")


class ContextTest(FolderTest):
    @staticmethod
    def plan(*flags):
        plan = plan_on_a_gpu(find_bench(), ["--suite=ladder", "--process=2", "--seed=7", *flags])
        plan["fusegate"]["protocol"].pop("allow", None)  # ladder has it for a GPU alone, which may be here or not
        return plan

    def test_records_suite_process_and_seed(self):
        fusegate = peers.fusegate_context(self.plan(), FakeDevice(), {"torch": "2.11.0"}, {"dirty_tree"})
        self.assertEqual((fusegate["suite"], fusegate["process"], fusegate["seed"]), ("ladder", 2, 7))
        self.assertEqual(fusegate["protocol"], {**self.plan()["fusegate"]["protocol"], "layout": "driver"})
        self.assertEqual((fusegate["libraries"], fusegate["warnings"]), ({"torch": "2.11.0"}, ["dirty_tree"]))
        self.assertEqual(fusegate["controls"], [], "those of the plan are fusegate_bench's")
        self.assertEqual(fusegate["provenance"]["device_uuid"], "GPU-1")

    def test_environment_has_fusegate_benchs_keys_and_torchs_libraries(self):
        fusegate = peers.fusegate_context(self.plan(), FakeDevice(), {}, [])
        self.assertEqual(fusegate["environment"], {**ENVIRONMENT, "cuda": "13.0", "cublas": "13.1.0"})
        self.assertEqual(set(fusegate) - set(self.plan()["fusegate"]), {"libraries"})
        device = FakeDevice()
        device.versions = lambda: {"cuda": "13.0"}  # a cuBLAS without a version
        self.assertNotIn("cublas", peers.fusegate_context(self.plan(), device, {}, [])["environment"])

    def test_protocol_is_fusegate_benchs(self):
        self.assertEqual(peers.protocol_of(self.plan()), fake_protocol())
        flags = ("--samples=7", "--idle-us=9", "--l2=flushed", "--order=contiguous", "--batch-us=20")
        self.assertEqual(peers.protocol_of(self.plan(*flags)),
                         fake_protocol(samples=7, layouts=7, idle_ns=9000, l2="flushed", order="contiguous",
                                       batch_ns=20_000))

    def test_refuses_what_torch_cannot_do(self):
        for flag, expected in (("--spin-us=3", "ladder: protocol.spin_us: must be 0 for peers"),
                               ("--layout=numbered", "ladder: protocol.layout: must be \"driver\" for peers")):
            with self.assertRaisesRegex(InputError, expected):
                peers.protocol_of(self.plan(flag))
        self.assertEqual(peers.protocol_of(self.plan("--spin-us=0", "--layout=driver")), fake_protocol())
