"""Complete processes on a fake device: what is written when, and what a failure affects."""

import contextlib
import io
import json
import threading

from fusegate.errors import DeviceLost, WriteError
from fusegate.machine.environment import Watch
from fusegate.measuring.fakes import UUID, FakeDevice, FakeMeter, FakeNvml, FolderTest, fake_benchmarks, fake_protocol
from fusegate.measuring.process import Process, Request
from fusegate.measuring.run_file import RunFile, google_context


class FailingMeter(FakeMeter):
    """Fails at the record after so many."""

    def __init__(self, good, error):
        super().__init__()
        self._good, self._error = good, error

    def record(self, *arguments):
        if len(self.recorded) >= self._good:
            raise self._error
        return super().record(*arguments)


class ProcessTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "1.json"
        self.lines = []

    def process(self, device=None, meter=None, earlier=(), order="interleaved", **request):
        benchmarks = fake_benchmarks("one", "two", dtypes=["bf16"],
                                     implementation_fields={"choices": lambda p: {"tile": 128}})
        protocol = fake_protocol(samples=6, layouts=3, idle_ns=0, order=order)
        context = {**google_context("x"), "fusegate": {"warnings": [], "finished": False}}
        self.run_file = RunFile(self.path, context, earlier)
        self.addCleanup(self.run_file.close)
        return Process(device or FakeDevice(), meter or FakeMeter(), Watch(FakeNvml(), UUID), benchmarks,
                          Request(protocol, 9, libraries={"torch": "2.11.0", "triton": "3.6.0"}, say=self.lines.append,
                                  **request), self.run_file, earlier)

    def read(self):
        return json.loads(self.path.read_text(encoding="utf-8"))

    def events(self):
        return [json.loads(line[len("@fusegate "):]) for line in self.lines]

    def quietly(self, run):
        with contextlib.redirect_stderr(io.StringIO()) as errors:
            run()
        return errors.getvalue()

    def test_measures_every_layout_of_every_benchmark(self):
        process = self.process()
        process.run()
        by_name = {}
        for entry in self.read()["benchmarks"]:
            by_name.setdefault(entry["name"], []).append(entry)
        self.assertEqual(sorted(by_name), ["double/one/bf16/rows:8", "double/two/bf16/rows:8"])
        for own in by_name.values():
            self.assertEqual([entry["repetition_index"] for entry in own], list(range(6)))
            self.assertEqual([entry["real_time"] for entry in own], [1000.0] * 6)
            self.assertEqual(["stages" in entry.get("details", {}) for entry in own], [True] + [False] * 5)
            self.assertEqual(own[0]["details"]["choices"], {"torch": "2.11.0", "tile": "128"})
        self.assertTrue(self.read()["context"]["fusegate"]["finished"])
        self.assertEqual(len(process.measured()), 2)

    def test_reports_progress_to_fusegate(self):
        self.process().run()
        start, *events = self.events()
        self.assertEqual(start, {"event": "start", "total": 6, "benchmarks": 2})
        self.assertEqual([event["index"] for event in events], [1, 2, 3, 4, 5, 6])
        self.assertEqual(events[-1]["finished"], 2)
        self.assertEqual((events[-1]["time_ns"], events[-1]["spread"]), (1000.0, 0.0))

    def test_a_wrong_benchmark_is_recorded_as_failed_and_never_timed(self):
        process = self.process(device=FakeDevice(error=0.5), program="peers")
        errors = self.quietly(process.run)
        entries = self.read()["benchmarks"]
        self.assertEqual([entry["error_occurred"] for entry in entries], [True, True])
        self.assertIn("wrong result: relative error 5.00e-01", entries[0]["error_message"])
        self.assertIn("peers: double/one/bf16/rows:8: wrong result", errors)
        self.assertEqual((process.measured(), len(process.failed())), ([], 2))
        self.assertEqual(self.events()[-1]["index"], 6, "what failed is done")

    def test_a_benchmark_that_fails_later_costs_itself(self):
        # The first one's first layout takes three records: two pilots and its batch.
        process = self.process(meter=FailingMeter(3, MemoryError("out of\nmemory")), order="contiguous")
        self.quietly(process.run)
        entries = self.read()["benchmarks"]
        self.assertNotIn("error_occurred", entries[0])
        failures = [entry for entry in entries if entry.get("error_occurred")]
        self.assertEqual(len(failures), 2)
        self.assertEqual((failures[0]["repetition_index"], failures[0]["error_message"]), (2, "MemoryError: out of"))

    def test_goes_on_where_the_run_file_ends(self):
        first = self.process(meter=FailingMeter(6, KeyboardInterrupt()))
        with self.assertRaises(KeyboardInterrupt):
            first.run()
        self.run_file.close()
        earlier = self.read()["benchmarks"]
        self.assertFalse(self.read()["context"]["fusegate"]["finished"])
        self.assertIn(len(earlier), (2, 4, 6, 8))
        meter = FakeMeter()
        process = self.process(earlier=earlier, meter=meter)
        self.lines.clear()
        process.run()
        entries = self.read()["benchmarks"]
        for name in ("one", "two"):
            own = sorted(entry["repetition_index"] for entry in entries if f"/{name}/" in entry["name"])
            self.assertEqual(own, list(range(6)))
        self.assertEqual(entries[:len(earlier)], earlier, "as they were")
        self.assertEqual(self.events()[1]["index"], len(earlier) // 2 + 1)

    def test_a_failure_that_is_gone_on_with_stays_one(self):
        self.quietly(self.process(device=FakeDevice(error=0.5)).run)
        self.run_file.close()
        process = self.process(earlier=self.read()["benchmarks"])
        process.run()
        self.assertEqual(len(process.failed()), 2)
        self.assertEqual(len(self.read()["benchmarks"]), 2)

    def test_stops_where_the_device_is_lost(self):
        device = FakeDevice()
        device.lost = True
        process = self.process(device=device, meter=FailingMeter(0, RuntimeError("CUDA error")))
        with self.assertRaisesRegex(DeviceLost, "illegal memory access"):
            self.quietly(process.run)
        self.assertFalse(self.read()["context"]["fusegate"]["finished"])
        self.assertEqual(len(self.read()["benchmarks"]), 1)

    def test_what_never_ends_costs_itself(self):
        left, held = threading.Event(), threading.Event()

        class Holding(FakeMeter):
            def record(self, *arguments):
                if threading.current_thread() is threading.main_thread() and len(self.recorded) == 3:
                    held.wait(20)
                return super().record(*arguments)

        def leave():
            left.set()
            held.set()
        process = self.process(meter=Holding(), stuck_after_s=0.2, leave=leave, order="contiguous")
        errors = self.quietly(process.run)
        self.assertTrue(left.wait(5))
        self.assertIn("double/one/bf16/rows:8: did not end within 0.2 s", errors)

    def test_stops_where_the_run_file_cannot_be_written(self):
        process = self.process()
        self.path.unlink()
        self.path.mkdir()
        (self.path / "in the way").touch()
        with self.assertRaisesRegex(WriteError, "cannot be written"):
            process.run()

    def test_numbered_layouts_have_room_for_the_largest(self):
        device = FakeDevice()
        process = self.process(device=device)
        process._protocol.layout = "numbered"  # pylint: disable=protected-access
        process.run()
        self.assertEqual(device.reserved, ([8], 9))
        self.assertEqual(sorted(device.layouts), [0, 0, 1, 1, 2, 2])

    def test_records_the_energy_of_a_call(self):
        self.process(energy_ms=1).run()
        first = self.read()["benchmarks"][0]
        self.assertGreater(first["details"]["energy_per_call_j"], 0)
        self.assertGreater(first["details"]["energy_power_w"], 0)
