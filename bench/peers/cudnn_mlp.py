"""cuDNN's MLP, through its graph API: the product with w_up; the product with w_gate, whose epilogue applies the unit
to both products; and the down projection. Each is a graph, of which the fastest plan is taken.

Plans are timed in the first call, when the benchmark is checked. The choice is stored for the next process
(docs/commands.md)."""

import functools

from fusegate.errors import one_line
from fusegate.measuring.cuda_meter import CudaMeter

from remembered import Remembered, cache_folder

# cuDNN's heuristics put the most promising plans first; each takes a moment to compile.
MOST_PLANS = 16
TUNED_BATCH_NS = 500_000
# cuDNN's and torch's names.
_DTYPES = {"bf16": ("BFLOAT16", "bfloat16"), "fp16": ("HALF", "float16")}


@functools.lru_cache(maxsize=None)
def _handle(cudnn, stream):
    handle = cudnn.create_handle()
    cudnn.set_stream(handle=handle, stream=stream)
    return handle


class Product:
    """y = x w^T of (rows, inputs, outputs), as a graph; with an activation (cuDNN's name of it),
    y = activation(x w^T) * up. It runs on torch's current stream at its creation."""

    def __init__(self, cudnn, torch, sizes, dtype, activation=""):
        rows, inputs, outputs = sizes
        self._torch, self._handle = torch, _handle(cudnn, torch.cuda.current_stream().cuda_stream)
        kind, single = getattr(cudnn.data_type, _DTYPES[dtype][0]), cudnn.data_type.FLOAT
        graph = cudnn.pygraph(handle=self._handle, io_data_type=kind, intermediate_data_type=single,
                              compute_data_type=single)

        def tensor(name, height, width, strides):
            return graph.tensor(name=name, dim=[1, height, width], stride=[height * width, *strides], data_type=kind)
        # A weight is stored as (outputs, inputs), and the product takes it as (inputs, outputs).
        taken = [tensor("x", rows, inputs, (inputs, 1)), tensor("w", inputs, outputs, (1, inputs))]
        y = graph.matmul(*taken, name="product")
        if activation:
            taken.append(tensor("up", rows, outputs, (outputs, 1)))
            y = graph.mul(getattr(graph, activation)(y, name="activation"), taken[-1], name="gate")
        y.set_output(True).set_data_type(kind)
        graph.validate()
        graph.build_operation_graph()
        graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
        self._graph, self._uids, self._index, self._workspace = graph, [each.get_uid() for each in (*taken, y)], 0, None

    def plans(self):
        """Names of the plans, the most promising first."""
        count = min(MOST_PLANS, self._graph.get_execution_plan_count())
        return [self._graph.get_plan_name_at_index(index) for index in range(count)]

    def take(self, index):
        """Takes the plan of that number. Raises cuDNN's exceptions if it cannot build it."""
        self._graph.build_plan_at_index(index)
        size = self._graph.get_workspace_size_plan_at_index(index)
        self._index = index
        self._workspace = self._torch.empty(max(1, size), dtype=self._torch.uint8, device="cuda")

    def launch(self, *tensors):
        """tensors: x, w, up where there is an activation, and y."""
        self._graph.execute_plan_at_index(dict(zip(self._uids, tensors)), self._workspace, self._index, self._handle)


class CudnnMlp:
    """choices: the chosen plan by stage. Empty before the first call."""

    def __init__(self, libraries, problem, unit, activation):
        self._cudnn, self._torch, self._problem = libraries["cudnn"], libraries["torch"], problem
        self._products = {f"{name}_proj": self._product(sizes, kind) for name, sizes, kind in (
            ("up", (problem.rows, problem.dim, problem.hidden), ""),
            (f"gate_{unit}", (problem.rows, problem.dim, problem.hidden), activation),
            ("down", (problem.rows, problem.hidden, problem.dim), ""))}
        self._up, self._gate, self._down = self._products.values()
        self.choices = {}

    def _product(self, sizes, activation):
        return Product(self._cudnn, self._torch, sizes, self._problem.dtype, activation)

    def __call__(self, x, w_gate, w_up, w_down):
        problem, kind = self._problem, getattr(self._torch, _DTYPES[self._problem.dtype][1])
        up, hidden, out = (self._torch.empty((problem.rows, width), dtype=kind, device="cuda")
                           for width in (problem.hidden, problem.hidden, problem.dim))
        calls = ((x, w_up, up), (x, w_gate, up, hidden), (hidden, w_down, out))
        if not self.choices:
            self._choose(calls)
        for product, tensors in zip((self._up, self._gate, self._down), calls):
            product.launch(*tensors)
        return out

    def _choose(self, calls):
        versions = f"cuDNN {self._cudnn.backend_version_string()}, frontend {self._cudnn.__version__}"
        stored = Remembered(cache_folder("cudnn", self._torch.cuda.get_device_name()) / "plans.json")
        meter, choices = CudaMeter(self._torch), {"cudnn_library": self._cudnn.backend_version_string()}
        for (stage, product), tensors in zip(self._products.items(), calls):
            key = f"{versions}: {stage} of {self._problem.sizes}"
            choices[stage] = take_stored(product, stored.get(key)) or take_fastest(product, meter, tensors)
            stored.put(key, choices[stage])
            product.launch(*tensors)  # writes the next product's input
        self.choices = choices


def take_stored(product, name):
    """The name; empty if the product has no such plan, or the plan does not run."""
    try:
        product.take(product.plans().index(name))
        return name
    except Exception:  # pylint: disable=broad-except
        return ""


def take_fastest(product, meter, tensors):
    """Times the plans, takes the fastest, and returns its name."""
    times, refused = {}, "it has no plans"
    for index, name in enumerate(product.plans()):
        try:
            product.take(index)
            product.launch(*tensors)  # loads it, which is forbidden in a capture
            meter.synchronize()
            times[index] = call_ns(meter, lambda: product.launch(*tensors))
        except Exception as error:  # pylint: disable=broad-except
            refused = f"{name}: {one_line(error)}"
    if not times:
        raise RuntimeError(f"cuDNN has no plan that runs here ({refused})")
    fastest = min(times, key=times.get)
    product.take(fastest)
    return product.plans()[fastest]


def call_ns(meter, launch):
    """Times calls in a graph, as benchmarks are timed."""
    pilot = meter.record(launch, 2, "warm")
    pilot.run()
    calls = max(2, min(100, round(TUNED_BATCH_NS / (pilot.run().batch_ns / 2))))
    batch = meter.record(launch, calls, "warm")
    batch.run()
    return min(batch.run().batch_ns for _ in range(5)) / calls
