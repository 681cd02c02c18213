"""Times batches on a GPU, as bench/measuring/cuda_meter.cu does. Each sample is one CUDA graph: it reads the SM clocks,
records an event, makes every call, records another event and reads the clocks again. The events lie inside the graph
(torch allows it with external=True), since around it they would time the graph's own launch too."""

import collections
import contextlib
import statistics
import time

from graph_nodes import count_launches

# batch_ns: all calls together. sm_clock_hz: NaN where it could not be read.
Sample = collections.namedtuple("Sample", "batch_ns sm_clock_hz")


def clock_hz(before, after):
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

    def record(self, call, calls, l2):
        """A batch of so many calls, which can be run again and again. call must outlive it."""
        flushed = l2 == "flushed"
        if flushed and self._flush is None:
            # Twice the L2 and more, lest a replacement policy keep some of it.
            self._flush = self._torch.empty(self._flush_bytes, dtype=self._torch.uint8, device="cuda")
            self._flush.fill_(1)  # loads the kernel, which a capture may not
        # With nothing to flush, one timed stretch of all the calls; else a stretch a call.
        stretches = calls if flushed else 1
        events = [self._event_pair() for _ in range(stretches)]

        def enqueue():
            self._enqueue_clocks(0)
            for number, (start, end) in enumerate(events):
                if flushed:
                    self._flush.fill_(number & 0xff)
                start.record()
                for _ in range(calls // stretches):
                    call()
                end.record()
            self._enqueue_clocks(1)
        return CudaBatch(self, self._captured(enqueue), events)

    def check(self, call):
        """Captures one call, as it will be timed, fills its output with NaN, and replays it. Returns the output and the
        call's launches, which are None where they cannot be counted."""
        call()  # compiles, loads and tunes, none of which a capture allows
        self.synchronize()
        outputs = []
        graph = self._captured(lambda: outputs.append(call()), keep_graph=True)
        outputs[0].fill_(float("nan"))
        graph.replay()
        self.synchronize()
        # A copy: the graph's memory goes with it.
        return outputs[0].clone(), count_launches(graph.raw_cuda_graph())

    def host_ns(self, call):
        """How long the host takes for one call, without waiting for the GPU."""
        # Few enough calls a round for the driver's queue, beyond which a launch waits for the GPU.
        rounds, calls, times = 9, 10, []
        for _ in range(rounds):
            start = time.perf_counter_ns()
            for _ in range(calls):
                call()
            times.append((time.perf_counter_ns() - start) / calls)
            self.synchronize()
        return statistics.median(times)

    def synchronize(self):
        self._torch.cuda.current_stream().synchronize()

    def clock_hz(self):
        """The SM clock during the last batch."""
        if self._read_clocks is None:
            return float("nan")
        return clock_hz(*self._clocks.tolist())

    def _event_pair(self):
        return [self._torch.cuda.Event(enable_timing=True, external=True) for _ in range(2)]

    def _enqueue_clocks(self, moment):
        if self._read_clocks is not None:
            self._read_clocks(self._moments[moment])

    def _captured(self, enqueue, keep_graph=False):
        """Captures by hand, since torch.cuda.graph() synchronises the device and empties the cache each time."""
        graph = self._torch.cuda.CUDAGraph(keep_graph=keep_graph)
        graph.capture_begin(capture_error_mode="thread_local")
        try:
            enqueue()
        except BaseException:
            with contextlib.suppress(RuntimeError):
                graph.capture_end()  # else the stream stays in capture for good
            raise
        graph.capture_end()
        return graph


class CudaBatch:
    def __init__(self, meter, graph, events):
        self._meter, self._graph, self._events = meter, graph, events

    def run(self):
        self._graph.replay()
        self._meter.synchronize()
        batch_ns = 1e6 * sum(start.elapsed_time(end) for start, end in self._events)
        return Sample(batch_ns, self._meter.clock_hz())
