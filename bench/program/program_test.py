"""fusegate_bench as a program, on the CPU: flags, run files, failures and exit codes."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

PROGRAM = pathlib.Path(os.environ["FUSEGATE_BENCH"]).resolve()
FAKE_NVML = os.environ["FUSEGATE_FAKE_NVML_FOLDER"]
FAKE_CUDA = os.environ["FUSEGATE_FAKE_CUDA"]
FAULTY = pathlib.Path(os.environ["FUSEGATE_BENCH_FAULTY"]).resolve()

TINY = ["--device=cpu", "--batch=1", "--seq=4", "--dim=16", "--hidden=24", "--dtype=fp32",
        "--samples=4", "--layouts=2", "--batch-us=50", "--idle-us=0"]


def tiny(*flags):
    """TINY with these flags in place of its own of the same names."""
    given = {flag.split("=")[0] for flag in flags}
    return [*(flag for flag in TINY if flag.split("=")[0] not in given), *flags]


def run(*flags, program=PROGRAM, env=None):
    """env: variables beside those of this process."""
    return subprocess.run([program, *flags], capture_output=True, text=True, timeout=120, check=False,
                          env={**os.environ, **(env or {})})


def has_gpu():
    return run("--device=cuda", "--environment").returncode == 0


def events_of(output):
    return [json.loads(line.removeprefix("@fusegate "))
            for line in output.splitlines() if line.startswith("@fusegate ")]


def failures(run_file):
    return {entry["name"].split("/")[1]: entry["error_message"]
            for entry in run_file["benchmarks"] if entry.get("error_occurred")}


def names(run_file):
    return sorted({entry["name"] for entry in run_file["benchmarks"]})


class ProgramTest(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.out = pathlib.Path(self._folder.name) / "run" / "1.json"

    def read(self):
        return json.loads(self.out.read_text())

    def ends_with(self, code, *flags, **more):
        """The result of run(), which must have that exit code."""
        result = run(*flags, **more)
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    def test_says_which_kernels_no_suite_names(self):
        folder = pathlib.Path(self._folder.name)
        program = pathlib.Path(shutil.copy(PROGRAM, folder / "bench"))
        (folder / "suites").mkdir()
        sweep = {"operations": ["linear"], "implementations": ["addmm"], "dtype": ["fp32"], "batch": [1], "seq": [4], "dim": [16],
                 "hidden": [24]}
        suite = {"name": "own", "protocol": {"samples": 4, "layouts": 2, "batch_us": 50, "idle_us": 0}, "sweeps": [sweep]}
        (folder / "suites" / "own.json").write_text(json.dumps(suite))
        result = self.ends_with(0, "--device=cpu", "--suite=own", "--progress", program=program)
        self.assertRegex(result.stderr, r"no suite names (\S+, ){4}\S+ and \d+ more: the gate will not judge it; add it")
        note, start = events_of(result.stdout)[:2]
        self.assertEqual((note["event"], start["event"]), ("note", "start"))
        self.assertIn(note["text"], result.stderr)
        all_but_controls = {key: values for key, values in sweep.items() if key not in ("operations", "implementations")}
        all_but_controls["ranks"] = [1]
        (folder / "suites" / "rest.json").write_text(json.dumps({**suite, "sweeps": [all_but_controls]}))
        self.assertNotIn("no suite names", run("--device=cpu", "--suite=own", program=program).stderr)
        self.assertNotIn("no suite names", run(*TINY, "--operation=linear").stderr)

    def test_refuses_what_is_registered_twice(self):
        result = self.ends_with(2, *TINY, program=FAULTY, env={"FUSEGATE_PLANTED_TWICE": "1"})
        self.assertRegex(result.stderr, r"^fusegate_bench(_faulty)?: faulty_kernels\.cc: implementation "
                         r"'geglu/faulty_throw' for cpu: name: is registered twice, first at faulty_kernels\.cc$")

    def test_writes_google_benchmark_json(self):
        self.ends_with(0, *TINY, "--operation=geglu_mlp", f"--out={self.out}", "--process=3", "--seed=5")
        run_file = self.read()
        self.assertEqual(names(run_file),
                         [f"geglu_mlp/{name}/fp32/batch:1/seq:4/dim:16/hidden:24"
                          for name in ("fused_epilogue", "unfused")])
        self.assertEqual(len(run_file["benchmarks"]), 2 * 4, "an entry a sample")
        fusegate = run_file["context"]["fusegate"]
        self.assertTrue(fusegate["finished"])
        self.assertEqual((fusegate["process"], fusegate["seed"]), (3, 5))
        self.assertIn("device", fusegate["environment"])
        entry = next(e for e in run_file["benchmarks"] if "unfused" in e["name"])
        self.assertEqual(entry["kernel_launches"], 5)
        self.assertEqual(entry["flops"], 3 * 2 * 4 * 16 * 24 + 10 * 4 * 24)
        self.assertEqual([s["name"] for s in entry["details"]["stages"]],
                         ["gate_proj", "up_proj", "gelu", "mul", "down_proj"])
        for entry in run_file["benchmarks"]:
            self.assertGreater(entry["real_time"], 0)
            self.assertEqual(entry["time_unit"], "ns")

    def test_pins_the_choices_of_a_run_file_of_this_device(self):
        self.ends_with(0, *TINY, "--operation=linear", f"--out={self.out}")
        run_file = self.read()
        entry = next(e for e in run_file["benchmarks"] if "details" in e)
        entry["details"]["choices"] = {"addmm": "measured: candidate 2 of 3, some kernel"}
        earlier = self.out.parent / "earlier.json"
        earlier.write_text(json.dumps(run_file))
        again = self.ends_with(0, *TINY, "--operation=linear", f"--pin-choices={self.out}:{earlier}")
        self.assertNotIn("pinned to", again.stderr, "the first of this device has none")
        again = self.ends_with(0, *TINY, "--operation=linear", env={"FUSEGATE_KEEP_CHOICES": str(earlier)})
        self.assertIn(f"fusegate_bench: autotuned kernels are pinned to the choices in {earlier}\n", again.stderr)
        again = self.ends_with(0, *TINY, "--operation=linear",
                               env={"FUSEGATE_KEEP_CHOICES": str(earlier), "FUSEGATE_KEEP_STRICTLY": "true"})
        self.assertIn(f"pinned to the choices in {earlier}, without measuring\n", again.stderr)
        self.ends_with(0, *TINY, "--operation=linear", env={"FUSEGATE_KEEP_CHOICES": ""})
        again = self.ends_with(2, *TINY, "--keep-choices=none.json")
        self.assertIn("none.json", again.stderr)

    def started_with_a_turn(self, **environment):
        """A process that measures once it is its turn, and our end of its socket."""
        ours, its = socket.socketpair()
        self.addCleanup(ours.close)
        with its:
            process = subprocess.Popen(
                [PROGRAM, *TINY, "--operation=geglu", f"--out={self.out}"], pass_fds=[its.fileno()],
                env={**os.environ, "FUSEGATE_TURN": str(its.fileno()), **environment}, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        ours.settimeout(60)
        return process, ours

    def test_waits_for_its_turn(self):
        process, ours = self.started_with_a_turn()
        self.assertEqual(ours.recv(1), b"r")
        time.sleep(0.3)
        self.assertIsNone(process.poll())
        self.assertFalse(self.out.parent.exists(), "it leaves nothing before its turn")
        ours.send(b"\0")
        self.assertEqual(ours.recv(1), b"", "closed")
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, errors)
        self.assertTrue(self.read()["context"]["fusegate"]["finished"])

    def test_says_that_loading_has_used_a_gpu(self):
        _, ours = self.started_with_a_turn(LD_PRELOAD=FAKE_CUDA, ASAN_OPTIONS="verify_asan_link_order=0")
        self.assertEqual(ours.recv(1), b"u")

    def test_without_a_turn_measures_nothing(self):
        process, ours = self.started_with_a_turn()
        ours.close()
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 2)
        self.assertRegex(errors, "^fusegate_bench: FUSEGATE_TURN=.*: no turn came")
        self.assertFalse(self.out.exists())
        result = self.ends_with(2, *TINY, env={"FUSEGATE_TURN": "none"})
        self.assertIn("FUSEGATE_TURN=none: no turn came", result.stderr)
        self.ends_with(0, *TINY, "--operation=geglu", env={"FUSEGATE_TURN": ""})

    def test_identities_say_how_long_loading_takes(self):
        command = f'sleep 1; exec "$0" {" ".join(TINY)} --operation=geglu "--identify=$1"'
        subprocess.run(["sh", "-c", command, PROGRAM, self.out], check=True, capture_output=True, timeout=120)
        self.assertGreater(self.read()["load_s"], 0.99)
        self.assertLess(self.read()["load_s"], 60)

    def test_reports_progress_in_lines(self):
        result = run(*TINY, "--operation=geglu", "--progress", f"--out={self.out}")
        events = events_of(result.stdout)
        self.assertEqual(events[0], {"event": "start", "total": 4, "benchmarks": 2})
        checks = [event for event in events if event["event"] == "check"]
        self.assertEqual([(event["index"], event["total"]) for event in checks], [(0, 2), (1, 2)], "a benchmark each")
        events = [event for event in events if event["event"] != "check"]
        self.assertEqual([event["index"] for event in events[1:]], [1, 2, 3, 4], "a layout each")
        self.assertEqual({event["total"] for event in events}, {4})
        self.assertEqual(events[-1]["finished"], 2)
        self.assertGreater(events[1]["time_ns"], 0)

    def test_the_table_has_a_row_a_benchmark(self):
        for layouts in ("1", "2"):
            result = run(*tiny("--operation=geglu", f"--layouts={layouts}"))
            self.assertEqual(sum("geglu/" in line for line in result.stdout.splitlines()), 2,
                             result.stdout)

    def test_interleaves_layouts_by_default(self):
        many = tiny("--operation=geglu,linear", "--samples=8", "--layouts=8", f"--out={self.out}")

        def order(*flags):
            self.ends_with(0, *many, *flags)
            return [entry["name"] for entry in self.read()["benchmarks"]]

        def changes(order):
            return sum(a != b for a, b in zip(order, order[1:]))

        contiguous = order("--order=contiguous", "--force")
        self.assertEqual(changes(contiguous), 3)
        self.assertEqual(self.read()["context"]["fusegate"]["protocol"]["order"], "contiguous")
        first, second = order("--force"), order()
        self.assertEqual(self.read()["context"]["fusegate"]["protocol"]["order"], "interleaved")
        # Of 32 layouts in random order, 24 changes are expected; 3 come once in 10^14.
        self.assertGreater(changes(first), 3)
        self.assertNotEqual(first, second, "each process has an order of its own")
        for entries in (contiguous, first):
            self.assertEqual(sorted(entries), sorted(second), "the same samples in another order")
        for name in set(second):
            indexes = [e["repetition_index"] for e in self.read()["benchmarks"] if e["name"] == name]
            self.assertEqual(indexes, list(range(8)), name)
            details = ["details" in e for e in self.read()["benchmarks"] if e["name"] == name]
            self.assertTrue(details[0], name)

    def test_sustained_warms_up_and_does_not_idle(self):
        began = time.monotonic()
        self.ends_with(0, *[flag for flag in TINY if "idle" not in flag], "--operation=geglu",
                       "--regime=sustained", "--warm-ms=150", f"--out={self.out}")
        self.assertGreater(time.monotonic() - began, 2 * 2 * 0.15, "two layouts of two benchmarks")
        protocol = self.read()["context"]["fusegate"]["protocol"]
        self.assertEqual((protocol["regime"], protocol["warm_ns"], protocol["idle_ns"]),
                         ("sustained", 150_000_000, 0))

    def test_measures_controls_where_they_are_named(self):
        self.ends_with(0, *TINY, "--operation=control_copy,control_gemm", f"--out={self.out}")
        self.assertEqual([name.rsplit("/fp32")[0] for name in names(self.read())],
                         ["control_copy/memcpy", "control_gemm/onednn"])
        self.assertEqual(self.read()["context"]["fusegate"]["controls"], names(self.read()))
        copy = next(e for e in self.read()["benchmarks"] if "copy" in e["name"])
        self.assertEqual((copy["flops"], copy["min_bytes"]), (0, 2 * 4 * 24 * 4))
        self.assertIn("control_", run("--device=cpu", "--suite=smoke", "--benchmark_list_tests").stdout)

    def test_a_suite_names_controls_and_what_the_gate_allows(self):
        suite = pathlib.Path(self._folder.name) / "mine.json"
        suite.write_text(json.dumps({
            "name": "mine", "protocol": {"samples": 2, "layouts": 1, "batch_us": 50, "idle_us": 0},
            "gate": {"cpu": {"min_effect": 0.1, "allow": 0.25}}, "controls": ["^linear/addmm/"],
            "sweeps": [{"operations": ["linear", "control_copy"], "implementations": ["addmm", "matmul_add", "memcpy"],
                        "dtype": ["fp32"], "batch": [1], "seq": [4], "dim": [16], "hidden": [24]}]}))
        self.ends_with(0, "--device=cpu", f"--suite={suite}", f"--out={self.out}")
        fusegate = self.read()["context"]["fusegate"]
        self.assertEqual([name.rsplit("/fp32")[0] for name in fusegate["controls"]],
                         ["control_copy/memcpy", "linear/addmm"])
        self.assertEqual((fusegate["protocol"]["min_effect"], fusegate["protocol"]["allow"]), (0.1, 0.25))

    def test_google_benchmarks_flags_work(self):
        listed = self.ends_with(0, *TINY, "--benchmark_list_tests")
        self.assertIn("linear/addmm/fp32/batch:1/seq:4/dim:16/hidden:24", listed.stdout)
        own = pathlib.Path(self._folder.name) / "own.json"
        self.ends_with(0, *TINY, "--benchmark_filter=linear/addmm", "--benchmark_repetitions=3",
                       f"--benchmark_out={own}", f"--out={self.out}")
        self.assertEqual(len(self.read()["benchmarks"]), 4, "four samples in three layouts")
        self.assertEqual(self.read()["context"]["fusegate"]["protocol"]["layouts"], 3)
        self.assertEqual(len(names(self.read())), 1)
        self.assertGreater(len(json.loads(own.read_text())["benchmarks"]), 0)

    def test_prints_its_environment(self):
        result = self.ends_with(0, "--device=cpu", "--environment")
        facts = json.loads(result.stdout)
        self.assertEqual(facts["device_kind"], "cpu")
        self.assertIn("onednn", facts["environment"])

    def plan(self, *flags):
        result = run("--plan", *flags)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return json.loads(result.stdout)

    def test_prints_its_plan(self):
        self.ends_with(0, *TINY, "--operation=linear", f"--out={self.out}", "--seed=5")
        measured = self.read()["context"]["fusegate"]
        plan = self.plan(*TINY, "--operation=linear", "--seed=5")
        for key in ("suite", "seed", "environment", "provenance", "process"):
            self.assertEqual(plan["fusegate"][key], measured[key])
        self.assertEqual({**plan["fusegate"]["protocol"], "layout": "driver"}, measured["protocol"])
        self.assertNotIn("layout", plan["fusegate"]["protocol"], "it is the device's to choose")
        self.assertEqual(set(plan["benchmarks"]), set(names(self.read())))
        (only,) = self.plan(*TINY, "--operation=linear", "--benchmark_filter=addmm")["benchmarks"]
        self.assertTrue(only.startswith("linear/addmm/"), only)
        (swept,) = plan["work"]
        self.assertEqual(swept["operation"], "linear")
        (problem,) = swept["problems"]
        self.assertEqual(problem["name"], "fp32/batch:1/seq:4/dim:16/hidden:24")
        self.assertEqual(problem["axes"], {"batch": 1, "seq": 4, "dim": 16, "hidden": 24})
        self.assertEqual([(each["name"], each["shape"], each["fill"]["scale"]) for each in problem["inputs"]],
                         [("x", [4, 16], 1.0), ("w", [24, 16], 0.25), ("bias", [24], 0.25)])
        self.assertEqual(problem["inputs"][2], {"name": "bias", "shape": [24], "dtype": "fp32", "is_weight": True,
                                                "fill": {"kind": "uniform", "scale": 0.25, "center": 0.0}})
        self.assertEqual(problem["outputs"],
                         [{"name": "out", "shape": [4, 24], "dtype": "fp32", "tolerance": 1e-5}])

    def test_plans_what_this_device_cannot_compute_too(self):
        flags = ("--device=cpu", "--problem=1,4,16,24", "--problem=2,4,16,24", "--dtype=fp16", "--operation=geglu")
        for google in ((), ("--benchmark_filter=geglu",)):
            plan = self.plan(*flags, *google)
            self.assertEqual([problem["axes"]["batch"] for swept in plan["work"] for problem in swept["problems"]], [1, 2])
            self.assertEqual(plan["fusegate"]["suite"], "custom")

    def test_measures_problems_given_one_by_one(self):
        self.ends_with(0, "--device=cpu", "--problem=1,4,16,24", "--problem=1,4,16,32", "--dtype=fp32", "--operation=geglu",
                       "--implementation=fused", "--samples=1", "--batch-us=50", f"--out={self.out}")
        self.assertEqual(names(self.read()), [f"geglu/fused/fp32/batch:1/seq:4/dim:16/hidden:{hidden}"
                                              for hidden in (24, 32)])

    def test_help_shows_its_flags(self):
        result = self.ends_with(0, "--help")
        for text in ("--suite", "--idle-us", "--trace", "--benchmark_filter", "control_copy, control_gemm"):
            self.assertIn(text, " ".join(result.stdout.split()))
        for topic in ("What is measured", "How it is measured", "What is written"):
            self.assertIn(f"\n{topic}:\n", result.stdout)

    def trace(self, *flags, program=PROGRAM):
        """The result and what was written; None where nothing was."""
        path = pathlib.Path(self._folder.name) / "traces" / "trace.json"
        result = run("--device=cpu", "--batch=1", "--seq=4", "--dim=16", "--hidden=24", "--dtype=fp32",
                     f"--trace={path}", *flags, program=program)
        return result, json.loads(path.read_text()) if path.exists() else None

    def test_traces_three_steps_of_each_benchmark(self):
        result, trace = self.trace("--operation=geglu_mlp", "--implementation=unfused")
        self.assertEqual(result.returncode, 0, result.stderr)
        name = "geglu_mlp/unfused/fp32/batch:1/seq:4/dim:16/hidden:24"
        slices = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        self.assertEqual({event["cat"] for event in slices}, {"user_annotation"}, "no GPU")
        stages = ["gate_proj", "up_proj", "gelu", "mul", "down_proj"]
        self.assertEqual([event["name"] for event in slices],
                         [part for step in (2, 3, 4) for part in (f"ProfilerStep#{step}", name, *stages)])
        for first in range(0, len(slices), 7):
            step, whole, *parts = slices[first:first + 7]
            ends = [event["ts"] + event["dur"] for event in (*parts, whole, step)]
            self.assertEqual(ends, sorted(ends), "a step holds its benchmark, and that one its stages")
            starts = [event["ts"] for event in (step, whole, *parts)]
            self.assertEqual(starts, sorted(starts))
            self.assertGreater(sum(part["dur"] for part in parts), 0.5 * step["dur"], "all the work")
        self.assertEqual(trace["fusegate"]["benchmarks"], [{"name": name, "steps": [2, 3, 4]}])

    def test_traces_what_the_filter_lets_through(self):
        result, trace = self.trace("--operation=linear,geglu", "--benchmark_filter=linear/addmm")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([each["name"].split("/fp32")[0] for each in trace["fusegate"]["benchmarks"]],
                         ["linear/addmm"])

    def test_writes_no_trace_where_nothing_is_left(self):
        result, trace = self.trace("--operation=geglu", "--implementation=faulty_result", program=FAULTY)
        self.assertEqual((result.returncode, trace), (2, None), result.stderr)

    def test_bad_input_is_one_line_and_exit_2(self):
        broken = pathlib.Path(self._folder.name) / "broken.json"
        broken.write_text('{"name": "broken", "sweeps": [')
        for flags, expected in [
                (["--batch=1", "--implementation=magic"], "unknown name 'magic'"),
                (["--profile=maybe"], "--profile: "),
                ([f"--suite={broken}"], "broken.json: sweeps[0]: not valid JSON: line 1, column "),
                (["--benchmark_no_such_flag=1"], "--benchmark_no_such_flag"),
                (["--device=tpu"], "tpu"),
                (["--batch=x"], "batch"),
                ([*TINY, "--spin-us=100"], "protocol.spin_us"),
                ([*TINY, "--layout=numbered"], "protocol.layout"),
                (["--device=cpu", "--batch=1", "--dtype=fp16"], "fp16"),
                ([*TINY, "--out=/proc/no/such/folder/1.json"], "/proc/no"),
                (["--problem=1,2,3"], "--problem: '1,2,3': expected BATCH,SEQ,DIM,HIDDEN or AXIS:VALUE/..., with sizes"),
                (["--problem=1,2,3,0"], "--problem: '1,2,3,0'"),
                (["--problem=1,2,3,4", "--suite=pr"], "--problem"),
                (["--suit=smoke"], "--suit=smoke: unknown flag; did you mean --suite? See --help"),
                (["--xyzzy"], "--xyzzy: unknown flag; see --help"),
                (["--samples=\x1b[31m\n::error::x"], r"\x1b[31m\n::error::x"),
                ([*TINY, "--benchmark_filter=nothing"], "--benchmark_filter: matches none of "),
                ([*TINY, "--benchmark_filter=nothing", f"--out={self.out}"], "--benchmark_filter: matches none of "),
                ([*TINY, "--benchmark_filter=a["], '--benchmark_filter: "a[" is not a regular expression'),
                ([*TINY, "--suite=/dev/zero.json"], "/dev/zero.json: no such suite"),
                (["--plan", *TINY, "--benchmark_filter=nothing"], "--benchmark_filter"),
                *((["--plan", flag], f"{flag.partition('=')[0]}: cannot be used with --plan")
                  for flag in ("--resume", "--profile=off", f"--out={self.out}", "--progress", "--environment")),
                (["--trace=t.json", "--plan"], "--trace"),
                (["--trace=t.json", f"--out={self.out}"], "--trace"),
                (["--trace=t.json", "--resume"], "excludes --trace"),
                (["--trace=t.json", "--samples=4"], "excludes --samples"),
                (["--trace=t.json", "--benchmark_out=own.json"], "excludes --benchmark_out"),
                (["--trace=t.json", "--device=cpu", "--benchmark_filter=nothing"], "--benchmark_filter"),
                (["--trace=/proc/no/such/folder/t.json", "--device=tpu"], "/proc/no"),
                ([f"--trace={self._folder.name}", "--device=tpu"], "Is a directory")]:
            with self.subTest(flags=flags):
                result = self.ends_with(2, *flags)
                self.assertIn(expected, result.stderr)
                errors = [line for line in result.stderr.splitlines() if "left out" not in line]
                self.assertEqual(len(errors), 1, result.stderr)

    def test_says_where_standard_output_cannot_be_written(self):
        for flags in (["--operation=geglu"], ["--environment"], ["--plan"], ["--help"],
                      ["--operation=geglu", f"--out={self.out}", "--progress"]):
            with self.subTest(flags=flags), open("/dev/full", "w", encoding="utf-8") as full:
                result = subprocess.run([PROGRAM, *TINY, *flags], stdout=full, stderr=subprocess.PIPE,
                                        text=True, timeout=120, check=False)
                self.assertEqual(result.returncode, 2)
                self.assertRegex(result.stderr, "standard output: cannot be written|cannot write to file: No space")

    def test_does_not_warn_of_its_timings_for_a_library_that_takes_none(self):
        result = run(*TINY, "--operation=geglu")
        self.assertIn("geglu/fused", result.stdout)
        self.assertIn("Run on (", result.stderr)
        self.assertNotIn("DEBUG", result.stderr)

    def test_one_failure_does_not_take_the_others_with_it(self):
        # 2^22 x 2^22 floats fit no machine.
        huge = 2**22
        axes = {"operations": ["geglu"], "implementations": ["fused"], "dtype": ["fp32"],
                "batch": [1], "dim": [16]}
        suite = pathlib.Path(self._folder.name) / "mixed.json"
        suite.write_text(json.dumps({"name": "mixed", "sweeps": [
            {**axes, "seq": [huge], "hidden": [huge]}, {**axes, "seq": [4], "hidden": [24]}]}))
        result = self.ends_with(2, "--device=cpu", f"--suite={suite}", "--samples=2", "--idle-us=0",
                                f"--out={self.out}")
        self.assertIn("GB", result.stderr)
        failed = [e["name"] for e in self.read()["benchmarks"] if e.get("error_occurred")]
        self.assertEqual(failed, [f"geglu/fused/fp32/batch:1/seq:{huge}/dim:16/hidden:{huge}"])
        self.assertIn("geglu/fused/fp32/batch:1/seq:4/dim:16/hidden:24", names(self.read()))

    def test_kernels_that_go_wrong_are_named_and_never_timed(self):
        result = self.ends_with(2, *TINY, "--operation=geglu", f"--out={self.out}", program=FAULTY)
        self.assertRegex(result.stderr, "(?m)^fusegate_bench_faulty: geglu/faulty_result/.*wrong result",
                         "a program of others speaks by its own name")
        failed = failures(self.read())
        self.assertEqual(sorted(failed), ["faulty_later", "faulty_past_end", "faulty_result", "faulty_throw"])
        self.assertEqual(failed["faulty_past_end"],
                         "wrong memory: stage 'overrun' wrote past the end of output 'out'")
        self.assertIn("no memory left", failed["faulty_later"])
        self.assertIn("wrong result", failed["faulty_result"])
        self.assertIn("no algorithm", failed["faulty_throw"])
        samples = [e["name"].split("/")[1] for e in self.read()["benchmarks"]
                   if not e.get("error_occurred")]
        self.assertEqual({name: samples.count(name) for name in samples},
                         {"example": 4, "fused": 4, "unfused": 4, "faulty_later": 2}, "2 in its first layout")

    def sweep_the_example(self, *flags):
        flags = tiny(*flags, "--seq=4,5", "--operation=geglu", "--implementation=example", f"--out={self.out}")
        self.ends_with(0, *flags, program=FAULTY)
        self.assertEqual(len(names(self.read())), 2)
        for entry in self.read()["benchmarks"]:
            self.assertTrue(entry["name"].startswith("geglu/example/"), entry["name"])
            self.assertGreater(entry["real_time"], 0)
            self.assertNotIn("error_message", entry)

    def test_readmes_example_is_a_file_and_a_line_away_from_being_swept(self):
        self.sweep_the_example()
        unknown = self.ends_with(2, *TINY, "--operation=geglu", "--implementation=example")
        self.assertIn("unknown name 'example'", unknown.stderr)

    @unittest.skipUnless(has_gpu(), "this machine has no GPU")
    def test_readmes_example_for_a_gpu_is_swept_too(self):
        self.sweep_the_example("--device=cuda", "--dtype=bf16")

    @unittest.skipUnless(has_gpu(), "this machine has no GPU")
    def test_a_broken_cuda_context_costs_one_benchmark(self):
        flags = tiny("--device=cuda", "--dtype=bf16", "--operation=geglu", f"--out={self.out}")
        self.ends_with(2, *flags, program=FAULTY, env={"FUSEGATE_PLANTED_FAULT": "address"})
        self.assertEqual(list(failures(self.read())), ["planted_fault"])
        self.assertIn("llegal", failures(self.read())["planted_fault"])
        for name in ("fused", "unfused"):
            self.assertIn(f"geglu/{name}/bf16/batch:1/seq:4/dim:16/hidden:24", names(self.read()))
        self.assertTrue(self.read()["context"]["fusegate"]["finished"])

    def run_with_fault(self, fault, *flags, nvml=""):
        """On a GPU that is none, beside a healthy kernel. Both programs of a run that starts again end in one."""
        return run(*tiny("--device=fake_gpu", "--operation=geglu", *flags), f"--out={self.out}", program=FAULTY,
                   env={"FUSEGATE_PLANTED_FAULT": fault, "FUSEGATE_FAKE_NVML": nvml,
                        "LD_LIBRARY_PATH": ":".join(
                            filter(None, [FAKE_NVML, os.environ.get("LD_LIBRARY_PATH", "")]))})

    def check_one_failed(self, result, failure):
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(failures(self.read()), {"planted_fault": failure})
        samples = [e["name"].split("/")[1] for e in self.read()["benchmarks"] if not e.get("error_occurred")]
        self.assertEqual((samples.count("fused"), samples.count("planted_fault")), (4, 2), "all, and a layout")
        self.assertTrue(self.read()["context"]["fusegate"]["finished"])

    def test_the_energy_of_a_call_is_the_counters(self):
        # 20 W, by a counter that moves every 50 ms.
        moves = ",".join(f"energy_mj={1000 * move}@{0.05 * move:g}" for move in range(200))
        result = self.run_with_fault("", "--energy-ms=200", nvml=moves)
        self.assertEqual(result.returncode, 0, result.stderr)
        first = [e["details"] for e in self.read()["benchmarks"] if "energy_per_call_j" in e.get("details", {})]
        self.assertEqual(len(first), 2)
        for details in first:
            self.assertGreater(details["energy_per_call_j"], 0)
            self.assertAlmostEqual(details["energy_power_w"], 20, delta=8)

    def test_a_lost_context_costs_one_benchmark_and_no_warning(self):
        result = self.run_with_fault("address", nvml="xid=31@0.001,energy_mj=5@0.001")
        self.check_one_failed(result, "an illegal memory access was encountered (Xid 31)")
        warnings = self.read()["context"]["fusegate"]["warnings"]
        self.assertIn("xid", warnings)
        self.assertIn("gpu_lost", warnings)

    def test_a_kernel_that_never_ends_costs_one_benchmark(self):
        result = self.run_with_fault("endless", "--stuck-after-s=1")
        self.check_one_failed(result, "did not end within 1 s")
        self.assertIn("planted_fault/fp32/batch:1/seq:4/dim:16/hidden:24: did not end within 1 s", result.stderr)

    def test_memory_that_runs_out_costs_one_benchmark(self):
        self.check_one_failed(self.run_with_fault("memory"), "cannot allocate any more")

    def test_a_kernel_that_never_ends_can_be_interrupted(self):
        flags = tiny("--device=fake_gpu", "--operation=geglu", "--implementation=planted_fault", "--layouts=3")
        with subprocess.Popen([FAULTY, *flags, "--progress", f"--out={self.out}"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "FUSEGATE_PLANTED_FAULT": "endless"}) as process:
            while "index" not in process.stdout.readline():
                pass
            time.sleep(1)  # the next layout begins at once, and never ends
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 2)
        self.assertIn("interrupted, and geglu/planted_fault/fp32", errors)
        self.assertFalse(self.read()["context"]["fusegate"]["finished"])
        self.assertEqual((len(self.read()["benchmarks"]), failures(self.read())), (1, {}), "what was measured")

    def interrupt_after(self, layouts, *flags):
        """Sends SIGINT within the layout after this many."""
        with subprocess.Popen([PROGRAM, *flags, "--progress", f"--out={self.out}"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                if json.loads(line.removeprefix("@fusegate ")).get("index") == layouts:
                    break
            time.sleep(0.15)  # one sample or two
            process.send_signal(signal.SIGINT)
            began = time.monotonic()
            _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 2)
        self.assertLess(time.monotonic() - began, 10)
        self.assertIn("interrupted", errors)

    def test_an_interrupt_saves_whole_layouts_and_resume_adds_the_others(self):
        flags = ["--operation=geglu,linear", "--samples=12", "--layouts=3"]
        self.interrupt_after(5, *tiny(*flags, "--idle-us=100000"))
        before = self.read()
        self.assertFalse(before["context"]["fusegate"]["finished"])
        self.assertEqual(len(before["benchmarks"]), 5 * 4)
        other = self.ends_with(2, *tiny(*flags), f"--out={self.out}", "--resume")
        self.assertIn("1.json: context.fusegate.protocol.idle_", other.stderr)
        self.assertEqual(self.read(), before, "nothing is relabelled")
        self.ends_with(0, *tiny(*flags, "--idle-us=100000"), f"--out={self.out}", "--resume")
        after = self.read()
        self.assertEqual(after["benchmarks"][:20], before["benchmarks"], "what was there stays")
        self.assertTrue(after["context"]["fusegate"]["finished"])
        for name in names(after):
            entries = [e for e in after["benchmarks"] if e["name"] == name]
            self.assertEqual([e["repetition_index"] for e in entries], list(range(12)), name)
            self.assertEqual(len({e["family_index"] for e in entries}), 1, name)

    def test_what_is_there_is_replaced_by_the_same_measurement_or_by_force(self):
        flags = [*TINY, f"--out={self.out}"]
        self.ends_with(0, *flags, "--operation=geglu")
        before = self.out.read_bytes()
        result = self.ends_with(2, *flags, "--operation=linear")
        self.assertIn("would be lost; name another file", result.stderr)
        self.assertEqual(self.out.read_bytes(), before)
        self.ends_with(0, *flags, "--operation=geglu")
        self.assertNotEqual(self.out.read_bytes(), before, "measured again")
        self.ends_with(0, *flags, "--operation=linear", "--force")
        self.assertTrue(names(self.read())[0].startswith("linear/"))
        self.assertEqual(os.listdir(self.out.parent), ["1.json"])

    def test_two_do_not_write_one_file(self):
        slow = tiny("--operation=geglu", "--idle-us=200000", "--progress", f"--out={self.out}")
        with subprocess.Popen([PROGRAM, *slow], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as first:
            first.stdout.readline()
            while not self.out.exists():
                time.sleep(0.01)
            second = run(*slow)
            first.communicate(timeout=60)
        self.assertEqual((first.returncode, second.returncode), (0, 2), second.stderr)
        self.assertIn(f"1.json: process {first.pid} writes this file now", second.stderr)
        self.assertTrue(self.read()["context"]["fusegate"]["finished"])

    def test_resume_leaves_failures_alone(self):
        run(*TINY, "--operation=geglu", f"--out={self.out}", program=FAULTY)
        before = self.read()
        before["context"]["fusegate"]["finished"] = False
        self.out.write_text(json.dumps(before))
        self.ends_with(2, *TINY, "--operation=geglu", f"--out={self.out}", "--resume", program=FAULTY)
        self.assertEqual(self.read()["benchmarks"], before["benchmarks"])
        self.assertTrue(self.read()["context"]["fusegate"]["finished"], "nothing was missing")
