"""Times batches on a GPU, as bench/measuring/cuda_meter.cu does. Each sample is one CUDA graph: it reads the SM clocks,
records an event, makes every call, records another event and reads the clocks again. The events lie inside the graph
(torch allows it with external=True), since around it they would time the graph's own launch too.

What cannot be captured is timed by events around the calls, and doubted."""

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
    """batch_ns: all calls together. sm_clock_hz: NaN where it could not be read. held_up_ns: on the CPU, how much of
    the time something else ran."""

    batch_ns: float
    sm_clock_hz: float
    held_up_ns: float = 0.0


def clock_hz(before, after) -> float:
    """The SM clock from readings before and after a batch, each of one block: triples of SM, nanoseconds and cycles.
    The median over the SMs that have both readings, NaN where none has."""
    first = {sm: (time_ns, cycles) for sm, time_ns, cycles in before}
    last = {sm: (time_ns, cycles) for sm, time_ns, cycles in after}
    rates = [1e9 * (last[sm][1] - first[sm][1]) / (last[sm][0] - first[sm][0])
             for sm in first.keys() & last.keys() if last[sm][0] > first[sm][0]]
    return statistics.median(rates) if rates else float("nan")


class CudaMeter:
    """read_clocks: enqueue_read_clocks of sm_clock_kernel, or None where there is no Triton. Everything runs on torch's
    current stream. It must not be the default one, which cannot be captured."""

    def __init__(self, torch, read_clocks=None):
        self._torch, self._read_clocks = torch, read_clocks
        properties = torch.cuda.get_device_properties(0)
        # Once and for all, so that places differ by the benchmark's own tensors alone.
        self._clocks = torch.zeros((2, 2 * properties.multi_processor_count, 3), dtype=torch.int64, device="cuda")
        self._moments = [self._clocks[0], self._clocks[1]]
        self._flush_bytes, self._flush = 3 * properties.L2_cache_size, None

    @property
    def reads_clocks(self) -> bool:
        return self._read_clocks is not None

    def record(self, launch: Callable, calls: int, l2: str, is_captured: bool = True):
        """A batch of so many calls, which can be run again and again. launch must outlive it."""
        flushed = l2 == "flushed"
        if flushed and self._flush is None:
            # Twice the L2 and more, lest a replacement policy keep some of it.
            self._flush = self._torch.empty(self._flush_bytes, dtype=self._torch.uint8, device="cuda")
            self._flush.fill_(1)  # loads the kernel, which a capture may not
        # With nothing to flush, one timed stretch of all the calls; else a stretch a call.
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
                    self._torch.cuda.synchronize()  # it may have launched on any stream
                end.record()
            self._enqueue_clocks(1)
        return CudaBatch(self, self._captured(enqueue).replay if is_captured else enqueue, events)

    def check(self, call: Call) -> tuple[list[Any], Any]:
        """Captures one call, as it will be timed, fills its results with NaN, and replays it. Returns the results, and
        the call's launches, which are None where they cannot be counted. Raises NotCapturable."""
        call.run()  # compiles, loads and tunes, none of which a capture allows
        self._torch.cuda.synchronize()
        results: list[Any] = []
        call.restore()
        try:
            graph = self._captured(lambda: results.extend(call.run()), keep_graph=True)
        except Exception as error:  # pylint: disable=broad-except
            self._torch.cuda.synchronize()  # raises where the device is lost, which no other way of timing mends
            raise NotCapturable(one_line(error)) from error
        # What was not captured runs by now, on a stream of its own; what it writes must not pass for the replay's.
        self._torch.cuda.synchronize()
        call.restore()
        call.poison(results)
        graph.replay()
        self._torch.cuda.synchronize()
        # Copies: the graph's memory goes with it.
        return call.copied(results), count_launches(graph.raw_cuda_graph())

    def check_uncaptured(self, call: Call) -> list[Any]:
        call.restore()
        call.poison()
        self._torch.cuda.synchronize()
        results = call.run()
        self._torch.cuda.synchronize()
        return call.copied(results)

    def host_ns(self, launch: Callable) -> float:
        """How long the host takes for one call, without waiting for the GPU."""
        # Few enough calls a round for the driver's queue, beyond which a launch waits for the GPU.
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
        """Captures by hand, since torch.cuda.graph() synchronises the device and empties the cache each time."""
        graph, pool = self._torch.cuda.CUDAGraph(keep_graph=keep_graph), self._torch.cuda.graph_pool_handle()
        graph.capture_begin(pool=pool, capture_error_mode="thread_local")
        try:
            enqueue()
        except BaseException:
            with contextlib.suppress(RuntimeError):
                graph.capture_end()  # else the stream stays in capture for good
            self._recover(pool)
            raise
        try:
            graph.capture_end()
        except RuntimeError:
            self._recover(pool)
            raise
        return graph

    def _recover(self, pool) -> None:
        """A capture that failed leaves torch's allocator and, in some versions, its generator of random numbers in a
        capture (CUDAGraph.cpp of PyTorch). The first can be told; one that succeeds tells the second."""
        with contextlib.suppress(Exception):
            self._torch._C._cuda_endAllocateToPool(self._torch.cuda.current_device(), pool)
        with contextlib.suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it is empty
            empty = self._torch.cuda.CUDAGraph()
            empty.capture_begin(capture_error_mode="thread_local")
            empty.capture_end()


class CudaBatch:
    """enqueue: puts all of it on the stream."""

    def __init__(self, meter: CudaMeter, enqueue: Callable, events):
        self._meter, self._enqueue, self._events = meter, enqueue, events

    def launch(self) -> None:
        """Until it is through. Reads nothing: the GPU would idle while Python computes the clock."""
        self._enqueue()
        self._meter.synchronize()

    def run(self) -> Sample:
        self.launch()
        batch_ns = 1e6 * sum(start.elapsed_time(end) for start, end in self._events)
        return Sample(batch_ns, self._meter.clock_hz())
