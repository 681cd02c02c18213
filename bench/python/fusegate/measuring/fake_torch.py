"""The part of torch that the meter uses, on a GPU that only counts time. Work takes its time when it is enqueued;
work that is captured takes it at every replay."""

import json
import types


class FakeTensor:
    """value: what a replay of the call that makes it writes."""

    def __init__(self, gpu, value=None):
        self._gpu, self.value = gpu, value

    def __getitem__(self, index):
        return index

    def fill_(self, value):
        self._gpu.enqueue(("fill", value), lambda: setattr(self, "value", value))
        return self

    def clone(self):
        return FakeTensor(self._gpu, self.value)


class FakeGpu:
    def __init__(self, call_ns=1000.0):
        self.call_ns, self.now_ns, self.capturing, self.done = call_ns, 0.0, None, []
        self.pools_left = []  # by the allocator, after a failed capture

    def enqueue(self, what, run=lambda: None, ns=0.0):
        def node():
            self.now_ns += ns
            self.done.append(what)
            run()
        if self.capturing is None:
            node()
        else:
            self.capturing.append(node)

    def synchronize(self):
        if self.capturing is not None:
            raise RuntimeError("CUDA error: operation not permitted when stream is capturing")
        self.done.append("synchronize")

    def call(self):
        out = FakeTensor(self)
        self.enqueue("call", lambda: setattr(out, "value", 1.0), self.call_ns)
        return out

    def torch(self):
        gpu = self

        class Event:
            def __init__(self, enable_timing, external):
                assert enable_timing
                self.at_ns, self.external = None, external

            def record(self):
                assert self.external == (gpu.capturing is not None), "inside of a graph, or not"
                gpu.enqueue("event", lambda: setattr(self, "at_ns", gpu.now_ns))

            def elapsed_time(self, end):
                return (end.at_ns - self.at_ns) * 1e-6

        class CUDAGraph:
            def __init__(self, keep_graph):
                self.keep_graph, self.nodes = keep_graph, []

            def capture_begin(self, capture_error_mode, pool=None):
                assert capture_error_mode == "thread_local"
                gpu.capturing = self.nodes

            def capture_end(self):
                gpu.capturing = None

            def replay(self):
                for node in self.nodes:
                    node()

            def raw_cuda_graph(self):
                assert self.keep_graph
                return 0

        stream = types.SimpleNamespace(synchronize=lambda: None)
        properties = types.SimpleNamespace(multi_processor_count=4, L2_cache_size=100)
        cuda = types.SimpleNamespace(Event=Event, CUDAGraph=CUDAGraph, current_stream=lambda: stream,
                                     get_device_properties=lambda _: properties,
                                     synchronize=gpu.synchronize, graph_pool_handle=lambda: (0, 1),
                                     current_device=lambda: 0)
        inner = types.SimpleNamespace(_cuda_endAllocateToPool=lambda _device, pool: gpu.pools_left.append(pool))
        return types.SimpleNamespace(_C=inner, cuda=cuda, int64=None, uint8=None, zeros=lambda *_, **__: FakeTensor(gpu),
                                     empty=lambda *_, **__: FakeTensor(gpu))


class FakeProfiler:
    """events: what torch's profiler records of everything."""

    def __init__(self, events, has_kineto=True):
        self._events, self._has_kineto = events, has_kineto

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def export_chrome_trace(self, path):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": self._events}, file)

    def torch(self):
        profiler = types.SimpleNamespace(profile=lambda activities: self,
                                         ProfilerActivity=types.SimpleNamespace(CPU="CPU", CUDA="CUDA"))
        return types.SimpleNamespace(profiler=profiler, cuda=types.SimpleNamespace(synchronize=lambda: None),
                                     autograd=types.SimpleNamespace(kineto_available=lambda: self._has_kineto))
