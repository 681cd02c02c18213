"""QuACK's AllGatherRunner: copies carry each rank's rows of x to the others, while one gated product takes them as they arrive.
PyTorch and NCCL do the rest: the down projection and the reduce-scatter."""

import fusegate
import torch

from parallel import group, reduce_scatter
from problems import rows
from quack_mlp import load

TILE_M, TILE_N = 128, 256


class QuackAllGatherMlp:
    """activation: QuACK's name. QuACK's tuner takes no product that gathers, so the tile is one of its defaults for Hopper. Raises
    what load() raises."""

    def __init__(self, activation, problem):
        part = rows(problem) // problem.ranks
        if part % TILE_M != 0:
            raise ValueError(f"takes a multiple of {TILE_M} rows a rank only")
        # A tile must not have rows of two ranks, nor a cluster.
        self._cluster = 2 if part % (2 * TILE_M) == 0 else 1
        self._shape, self._unit = (rows(problem), problem.hidden // problem.ranks), activation
        self._product = load("quack.epilogue.library").linear_act_mod(activation, gated=True, has_c=False, has_rowvec=False,
                                                                      has_colvec=False)
        world = group(problem)
        # A captured call would else leave its copies and its barrier on streams that nothing after it waits for.
        self._runner = load("quack.distributed").AllGatherRunner(part, problem.dim, problem.torch_dtype, world,
                                                                 capture_lockstep=True)
        self._reduce_scatter = reduce_scatter(world, problem.ranks)
        self.choices = {f"all_gather_gate_up_{activation}": f"tile_m={TILE_M}, tile_n={TILE_N}, cluster_m={self._cluster}"}

    def __call__(self, x, w_gate_up, w_down):
        h = torch.empty(self._shape, dtype=x.dtype, device=x.device)
        with fusegate.stage(f"all_gather_gate_up_{self._unit}"), self._runner.gather(x) as (whole, arrivals):
            self._product.gemm(whole, w_gate_up, None, epi_args={"mAuxOut": h}, tile_M=TILE_M, tile_N=TILE_N,
                               cluster_M=self._cluster, b_kn=True, ag_args=arrivals)
        with fusegate.stage("down_proj"):
            summand = torch.nn.functional.linear(h, w_down)
        with fusegate.stage("reduce_scatter"):
            return self._reduce_scatter(summand)
