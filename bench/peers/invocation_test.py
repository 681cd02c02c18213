"""Whole invocations on a fake device: what is written when, and what a failure costs."""

import contextlib
import io
import json

import invocation as module
from bench import find_bench
from fakes import UUID, FakeDevice, FakeMeter, FakeNvml, FolderTest, fake_libraries, plan_on_a_gpu
from input_error import DeviceLost, InputError
from options import name_filter, parse_options
from plan import make_plan
from protocol import protocol_of
from run_file import RunFile, fusegate_context, google_context
from watch import Watch

PEERS = "--implementation=torch_eager,torch_compile"


class FailingMeter(FakeMeter):
    """Fails at the record after so many."""

    def __init__(self, good, error):
        super().__init__()
        self._good, self._error = good, error

    def record(self, call, calls, l2):
        if len(self.recorded) >= self._good:
            raise self._error
        return super().record(call, calls, l2)


class InvocationTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "1.json"
        self.lines = []

    def invocation(self, *flags, device=None, meter=None):
        options = parse_options(["--problem=1,128,768,3072", "--operation=linear", PEERS, "--samples=6", "--places=3",
                                 "--idle-us=0", "--seed=9", *flags])
        given = plan_on_a_gpu(find_bench(), options.plan_flags)
        device, libraries = device or FakeDevice(), fake_libraries()
        plan = make_plan(given, name_filter(options), libraries.missing)
        context = {**google_context(), "fusegate": fusegate_context(given, device, libraries.versions, [])}
        return module.Invocation(device, meter or FakeMeter(), Watch(FakeNvml(), UUID, []), plan, protocol_of(given),
                                 9, 1, libraries, RunFile(self.path, context), self.lines.append)

    def run_file(self):
        return json.loads(self.path.read_text(encoding="utf-8"))

    def events(self):
        return [json.loads(line.removeprefix("@fusegate ")) for line in self.lines]

    def quietly(self, run):
        with contextlib.redirect_stderr(io.StringIO()) as errors:
            run()
        return errors.getvalue()

    def test_measures_every_place_of_every_peer(self):
        invocation = self.invocation()
        invocation.run()
        entries = self.run_file()["benchmarks"]
        by_name = {}
        for entry in entries:
            by_name.setdefault(entry["name"].split("/")[1], []).append(entry)
        self.assertEqual(sorted(by_name), ["torch_compile", "torch_eager"])
        for own in by_name.values():
            self.assertEqual([entry["repetition_index"] for entry in own], list(range(6)))
            self.assertEqual([entry["real_time"] for entry in own], [1000.0] * 6)
            self.assertEqual(["stages" in entry.get("details", {}) for entry in own], [True] + [False] * 5)
        self.assertEqual(by_name["torch_eager"][0]["details"]["choices"], {"torch": "2.11.0+cu130"})
        self.assertTrue(self.run_file()["context"]["fusegate"]["finished"])
        self.assertEqual(len(invocation.measured()), 2)

    def test_places_are_on_disk_before_the_next_begins(self):
        sizes = []
        test = self

        class WatchingDevice(FakeDevice):
            def fresh_memory(self):
                super().fresh_memory()
                sizes.append(len(test.run_file()["benchmarks"]))
        self.invocation(device=WatchingDevice()).run()
        self.assertEqual(sizes, [0, 2, 4, 6, 8, 10])

    def test_tells_fusegate_how_far_it_is(self):
        self.invocation().run()
        start, *events = self.events()
        self.assertEqual(start, {"event": "start", "total": 6, "benchmarks": 2})
        self.assertEqual([event["index"] for event in events], [1, 2, 3, 4, 5, 6])
        self.assertEqual(events[-1]["finished"], 2)
        self.assertEqual((events[-1]["time_ns"], events[-1]["spread"]), (1000.0, 0.0))

    def test_a_wrong_peer_is_recorded_as_failed_and_never_timed(self):
        invocation = self.invocation(device=FakeDevice(error=0.5))
        errors = self.quietly(invocation.run)
        entries = self.run_file()["benchmarks"]
        self.assertEqual([entry["error_occurred"] for entry in entries], [True, True])
        self.assertIn("wrong result: relative error 5.00e-01", entries[0]["error_message"])
        self.assertIn("peers: linear/torch_compile", errors)
        self.assertEqual(invocation.measured(), [])
        self.assertEqual(self.events()[-1]["index"], 6, "what failed is done")

    def test_a_peer_that_fails_later_costs_itself(self):
        # The first peer's first place takes three records: two pilots and its batch.
        invocation = self.invocation("--order=contiguous", meter=FailingMeter(3, MemoryError("out of\nmemory")))
        self.quietly(invocation.run)
        first, *rest = self.run_file()["benchmarks"]
        self.assertNotIn("error_occurred", first)
        failures = [entry for entry in rest if entry.get("error_occurred")]
        self.assertEqual(len(failures), 2)
        self.assertEqual((failures[0]["repetition_index"], failures[0]["error_message"]), (2, "MemoryError: out of"))

    def test_stops_where_the_device_is_lost(self):
        device = FakeDevice()
        device.lost = True
        invocation = self.invocation(device=device, meter=FailingMeter(0, RuntimeError("CUDA error")))
        with self.assertRaisesRegex(DeviceLost, "illegal memory access"):
            self.quietly(invocation.run)
        run_file = self.run_file()
        self.assertFalse(run_file["context"]["fusegate"]["finished"])
        self.assertEqual(len(run_file["benchmarks"]), 1)

    def test_stops_where_the_run_file_cannot_be_written(self):
        invocation = self.invocation()
        self.path.unlink()
        self.path.mkdir()
        (self.path / "in the way").touch()
        with self.assertRaisesRegex(InputError, "cannot be written"):
            invocation.run()
