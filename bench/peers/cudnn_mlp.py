"""cuDNN's MLP, through its graph API: the product with w_up; the product with w_gate, whose epilogue applies the unit
to both products; and the down projection. Each is a graph, of which the fastest plan is taken.

Plans are timed in the first call, before the benchmark is checked. The choice is stored for the next process
(docs/commands.md)."""

import functools
import importlib

import fusegate
import torch
from fusegate.errors import one_line

from problems import rows, sizes
from remembered import cache_folder, remember, remembered

# cuDNN's heuristics put the most promising plans first; each takes a moment to compile.
MOST_PLANS = 16
# The calls of a sample take about so long.
SAMPLE_MS = 0.5
_DTYPES = {"bf16": "BFLOAT16", "fp16": "HALF"}


_handle = functools.lru_cache(maxsize=None)(lambda cudnn: cudnn.create_handle())


class Product:
    """y = x w^T of (rows, inputs, outputs), as a graph; with an activation (cuDNN's name of it),
    y = activation(x w^T) * up. It runs on torch's current stream."""

    def __init__(self, cudnn, sides, dtype, activation=""):
        height, inputs, outputs = sides
        self._cudnn, self._handle = cudnn, _handle(cudnn)
        kind, single = getattr(cudnn.data_type, _DTYPES[dtype]), cudnn.data_type.FLOAT
        graph = cudnn.pygraph(handle=self._handle, io_data_type=kind, intermediate_data_type=single,
                              compute_data_type=single)

        def tensor(name, height, width, strides):
            return graph.tensor(name=name, dim=[1, height, width], stride=[height * width, *strides], data_type=kind)
        # A weight is stored as (outputs, inputs), and the product takes it as (inputs, outputs).
        taken = [tensor("x", height, inputs, (inputs, 1)), tensor("w", inputs, outputs, (1, inputs))]
        y = graph.matmul(*taken, name="product")
        if activation:
            taken.append(tensor("up", height, outputs, (outputs, 1)))
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
        self._workspace = torch.empty(max(1, size), dtype=torch.uint8, device="cuda")

    def launch(self, *tensors):
        """tensors: x, w, up where there is an activation, and y."""
        self._cudnn.set_stream(handle=self._handle, stream=torch.cuda.current_stream().cuda_stream)
        self._graph.execute_plan_at_index(dict(zip(self._uids, tensors)), self._workspace, self._index, self._handle)


class CudnnMlp:
    """activation: cuDNN's name. choices: the chosen plan by stage. Empty before the first call. Raises what importing cuDNN
    raises."""

    def __init__(self, unit, activation, problem):
        if problem.dtype not in _DTYPES:
            raise ValueError(f"computes in {' and '.join(_DTYPES)} only")
        self._cudnn, self._problem = importlib.import_module("cudnn"), problem
        height, dim, hidden = rows(problem), problem.dim, problem.hidden
        self._products = {name: Product(self._cudnn, sides, problem.dtype, kind) for name, sides, kind in (
            ("up_proj", (height, dim, hidden), ""), (f"gate_{unit}_proj", (height, dim, hidden), activation),
            ("down_proj", (height, hidden, dim), ""))}
        self.choices = {}

    def __call__(self, x, w_gate, w_up, w_down):
        height, dim, hidden = rows(self._problem), self._problem.dim, self._problem.hidden
        u, h, out = (torch.empty((height, width), dtype=x.dtype, device="cuda") for width in (hidden, hidden, dim))
        calls = ((x, w_up, u), (x, w_gate, u, h), (h, w_down, out))
        if not self.choices:
            self._choose(calls)
        for (stage, product), tensors in zip(self._products.items(), calls):
            with fusegate.stage(stage):
                product.launch(*tensors)
        return out

    def _choose(self, calls):
        library = self._cudnn.backend_version_string()
        choices = {"cudnn_library": library}
        for (stage, product), tensors in zip(self._products.items(), calls):
            path = cache_folder("cudnn") / f"{library}, {self._cudnn.__version__}, {stage}, {sizes(self._problem)}"
            choices[stage] = take_remembered(product, path) or take_fastest(product, tensors)
            remember(path, choices[stage])
            product.launch(*tensors)  # writes the next product's input
        self.choices = choices


def take_remembered(product, path):
    """The plan's name; empty if the product has no such plan, or cannot build it."""
    name = remembered(path)
    try:
        product.take(product.plans().index(name))
        return name
    except Exception:  # pylint: disable=broad-except
        return ""


def take_fastest(product, tensors):
    """Times the plans, takes the fastest, and returns its name."""
    times, refused = {}, "it has no plans"
    for index, name in enumerate(product.plans()):
        try:
            product.take(index)
            times[index] = call_ms(lambda: product.launch(*tensors))
        except Exception as error:  # pylint: disable=broad-except
            refused = f"{name}: {one_line(error)}"
    if not times:
        raise RuntimeError(f"cuDNN has no plan that runs here ({refused})")
    fastest = min(times, key=times.get)
    product.take(fastest)
    return product.plans()[fastest]


def call_ms(launch):
    """In a CUDA graph, as benchmarks are timed."""
    from triton.testing import do_bench_cudagraph  # pylint: disable=import-outside-toplevel
    torch.cuda.synchronize()  # it calls on a stream of its own
    return do_bench_cudagraph(launch, rep=SAMPLE_MS, return_mode="min")
