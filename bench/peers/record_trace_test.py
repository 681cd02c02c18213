"""The recording of traces, with a torch that only records its arguments."""

import contextlib
import io
import pathlib
import tempfile
import types
import unittest
from unittest import mock

from fusegate.machine.libraries import Libraries
from fusegate.measuring.fakes import FakeDevice, FolderTest

import record_trace
from fakes import Packed, fake_libraries


class NotedTorch:
    def __init__(self, has_gpu=True, fails=False):
        self.said, self.fails, self.__version__ = [], fails, "2.11.0"
        self.cuda = types.SimpleNamespace(is_available=lambda: has_gpu, synchronize=lambda: self.said.append("wait"))
        self.profiler = types.SimpleNamespace(
            ProfilerActivity=types.SimpleNamespace(CPU="CPU", CUDA="CUDA"),
            schedule=lambda **numbers: numbers, record_function=self.named, profile=self.profile)

    def no_grad(self):
        return contextlib.nullcontext()

    @contextlib.contextmanager
    def named(self, name):
        self.said.append(name)
        yield

    @contextlib.contextmanager
    def profile(self, activities, schedule, on_trace_ready):
        self.said.append((tuple(activities), schedule))
        yield types.SimpleNamespace(step=lambda: self.said.append("step"))
        if self.fails:
            raise RuntimeError("no trace")
        on_trace_ready(types.SimpleNamespace(
            export_chrome_trace=lambda path: pathlib.Path(path).write_text("{}", encoding="utf-8")))


class RecordTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "linear-torch_eager.json"

    def test_runs_once_before_the_schedule_and_names_every_step(self):
        torch, calls = NotedTorch(), []
        record_trace.record(torch, "linear/torch_eager", lambda *inputs: calls.append(inputs), [1, 2], self.path)
        self.assertEqual(calls, [(1, 2)] * 6)
        schedule = (("CPU", "CUDA"), {"wait": 1, "warmup": 1, "active": 3, "repeat": 1})
        self.assertEqual(torch.said, ["wait", schedule] + ["linear/torch_eager", "wait", "step"] * 5)
        self.assertEqual(self.path.read_text(encoding="utf-8"), "{}")

    def test_leaves_an_older_trace_whole_when_it_fails(self):
        self.path.write_text("older", encoding="utf-8")
        with self.assertRaises(RuntimeError):
            record_trace.record(NotedTorch(fails=True), "", lambda: None, [], self.path)
        self.assertEqual(self.path.read_text(encoding="utf-8"), "older")


class ProgramTest(unittest.TestCase):
    def fault(self, *arguments, libraries=None):
        errors = io.StringIO()
        with mock.patch.object(record_trace, "find_libraries", lambda *_: libraries or Libraries()), \
                contextlib.redirect_stderr(errors):
            self.assertEqual(record_trace.main([*arguments, "--out=never"]), 2)
        return errors.getvalue()

    def test_says_what_is_wrong_with_the_command_line(self):
        for problem in ("64,128,768", "64,128,768,x", "64,128,768,0"):
            self.assertIn(f"--problem: '{problem}'", self.fault(f"--problem={problem}"))
        self.assertIn("linear/torch_eager", self.fault("--problem=1,1,8,8", "--implementation=magic"))

    def test_a_peer_is_called_with_what_it_prepared(self):
        libraries = fake_libraries()
        libraries.modules["torch"].cuda.is_available = lambda: True
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()), \
                mock.patch.multiple(record_trace, find_libraries=lambda *_: libraries, record=mock.DEFAULT,
                                    TorchDevice=lambda _: FakeDevice()) as patched:
            self.assertEqual(record_trace.main(["--problem=1,1,8,8", "--operation=geglu_mlp", f"--out={folder}",
                                                "--implementation=quack_concat"]), 0)
        self.assertEqual(patched["record"].call_args.args[3], [1.0, Packed(1.0, 1.0, ("B",)), 1.0])

    def test_says_what_is_missing(self):
        libraries = Libraries(missing={"torch": "torch cannot be imported"})
        self.assertIn("torch cannot be imported", self.fault("--problem=1,1,8,8", libraries=libraries))
        libraries = Libraries(modules={"torch": NotedTorch(has_gpu=False)})
        self.assertIn("finds no CUDA GPU", self.fault("--problem=1,1,8,8", libraries=libraries))
