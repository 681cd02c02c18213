"""Times batches on a GPU, as bench/measuring/cuda_meter.cu does. Each sample is one CUDA graph: it reads the SM clocks,
records an event, makes every call, records another event and reads the clocks again. The events are inside the graph
(external=True in torch): around it, they would time the graph's launch too.

Calls that cannot be captured are timed by events around them, with the warning not_capturable."""

from __future__ import annotations

import contextlib
import statistics
import time
import warnings
from typing import Any, Callable, NamedTuple

from ..errors import one_line
from .call import Call, NotCapturable
from .graph_nodes import count_launches


class Sample(NamedTuple):
    """batch_ns: all calls together. sm_clock_hz: NaN if it could not be read. held_up_ns: on the CPU, for how long
    something else ran."""

    batch_ns: float
    sm_clock_hz: float
    held_up_ns: float = 0.0


def clock_hz(before, after) -> float:
    """The SM clock from readings before and after a batch: triples of SM, nanoseconds and cycles. The median over the SMs
    with both readings; NaN if there are none."""
    first = {sm: (time_ns, cycles) for sm, time_ns, cycles in before}
    last = {sm: (time_ns, cycles) for sm, time_ns, cycles in after}
    rates = [1e9 * (last[sm][1] - first[sm][1]) / (last[sm][0] - first[sm][0])
             for sm in first.keys() & last.keys() if last[sm][0] > first[sm][0]]
    return statistics.median(rates) if rates else float("nan")


class CudaMeter:
    """read_clocks: enqueue_read_clocks of sm_clock_kernel, or None without Triton. Everything runs on torch's current
    stream, which must not be the default one: that cannot be captured."""

    def __init__(self, torch, read_clocks=None):
        self._torch, self._read_clocks = torch, read_clocks
        properties = torch.cuda.get_device_properties(0)
        # Allocated once, so that layouts differ only in the benchmark's own tensors.
        self._clocks = torch.zeros((2, 2 * properties.multi_processor_count, 3), dtype=torch.int64, device="cuda")
        self._moments = [self._clocks[0], self._clocks[1]]
        self._flush_bytes, self._flush = 3 * properties.L2_cache_size, None

    @property
    def reads_clocks(self) -> bool:
        return self._read_clocks is not None

    def record(self, launch: Callable, calls: int, l2: str, is_captured: bool = True):
        """A batch of that many calls, which can run repeatedly. launch must outlive it."""
        flushed = l2 == "flushed"
        if flushed and self._flush is None:
            # More than twice the L2, so that no replacement policy preserves a part of it.
            self._flush = self._torch.empty(self._flush_bytes, dtype=self._torch.uint8, device="cuda")
            self._flush.fill_(1)  # loads the kernel, which is forbidden in a capture
        # Without flushing, one pair of events times all calls; else one pair times each.
        stretches = calls if flushed else 1
        events = [self._event_pair(is_captured) for _ in range(stretches)]

        def enqueue():
            self._enqueue_clocks(0)
            for number, (start, end) in enumerate(events):
                if flushed:
                    self._flush.fill_(number & 0xff)
                start.record()
                for _ in range(calls // stretches):
                    launch()
                if not is_captured:
                    self._torch.cuda.synchronize()  # the call may use any stream
                end.record()
            self._enqueue_clocks(1)
        return CudaBatch(self, self._captured(enqueue).replay if is_captured else enqueue, events)

    def check(self, call: Call) -> tuple[list[Any], Any]:
        """Captures one call, as it will be timed, fills its results with NaN, and replays it. Returns the results and the
        call's launches, or None if they cannot be counted. Raises NotCapturable."""
        call.run()  # compiles, loads and tunes, which is forbidden in a capture
        self._torch.cuda.synchronize()
        results: list[Any] = []
        call.restore()
        try:
            graph = self._captured(lambda: results.extend(call.run()), keep_graph=True)
        except Exception as error:  # pylint: disable=broad-except
            self._torch.cuda.synchronize()  # raises if the device is lost
            raise NotCapturable(one_line(error)) from error
        # Waits for work on other streams, which was not captured: its results must not be taken for the replay's.
        self._torch.cuda.synchronize()
        call.restore()
        call.poison(results)
        graph.replay()
        self._torch.cuda.synchronize()
        # The graph's memory is freed with it, so the results are copied.
        return call.copied(results), count_launches(graph.raw_cuda_graph())

    def check_uncaptured(self, call: Call) -> list[Any]:
        call.restore()
        call.poison()
        self._torch.cuda.synchronize()
        results = call.run()
        self._torch.cuda.synchronize()
        return call.copied(results)

    def host_ns(self, launch: Callable) -> float:
        """The host's time for one call, without waiting for the GPU."""
        # So few calls fit into the driver's queue. With more, a launch would wait for the GPU.
        rounds, calls, times = 9, 10, []
        for _ in range(rounds):
            start = time.perf_counter_ns()
            for _ in range(calls):
                launch()
            times.append((time.perf_counter_ns() - start) / calls)
            self.synchronize()
        return statistics.median(times)

    def synchronize(self) -> None:
        self._torch.cuda.current_stream().synchronize()

    def clock_hz(self) -> float:
        """The SM clock during the last batch."""
        if self._read_clocks is None:
            return float("nan")
        return clock_hz(*self._clocks.tolist())

    def _event_pair(self, is_captured: bool):
        return [self._torch.cuda.Event(enable_timing=True, external=is_captured) for _ in range(2)]

    def _enqueue_clocks(self, moment: int) -> None:
        if self._read_clocks is not None:
            self._read_clocks(self._moments[moment])

    def _captured(self, enqueue: Callable, keep_graph: bool = False):
        """Captures without torch.cuda.graph(), which synchronises the device and empties the cache each time."""
        graph, pool = self._torch.cuda.CUDAGraph(keep_graph=keep_graph), self._torch.cuda.graph_pool_handle()
        graph.capture_begin(pool=pool, capture_error_mode="thread_local")
        try:
            enqueue()
        except BaseException:
            with contextlib.suppress(RuntimeError):
                graph.capture_end()  # else the stream stays in capture
            self._recover(pool)
            raise
        try:
            graph.capture_end()
        except RuntimeError:
            self._recover(pool)
            raise
        return graph

    def _recover(self, pool) -> None:
        """After a failed capture, torch's allocator and, in some versions, its random generator still believe in it
        (CUDAGraph.cpp of PyTorch). A call resets the allocator; a successful capture resets the generator."""
        with contextlib.suppress(Exception):
            self._torch._C._cuda_endAllocateToPool(self._torch.cuda.current_device(), pool)
        with contextlib.suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an empty graph
            empty = self._torch.cuda.CUDAGraph()
            empty.capture_begin(capture_error_mode="thread_local")
            empty.capture_end()


class CudaBatch:
    """enqueue: puts the whole batch on the stream."""

    def __init__(self, meter: CudaMeter, enqueue: Callable, events):
        self._meter, self._enqueue, self._events = meter, enqueue, events

    def launch(self) -> None:
        """Runs to its end, but reads no clock: the GPU would idle while Python computes it."""
        self._enqueue()
        self._meter.synchronize()

    def run(self) -> Sample:
        self.launch()
        batch_ns = 1e6 * sum(start.elapsed_time(end) for start, end in self._events)
        return Sample(batch_ns, self._meter.clock_hz())
