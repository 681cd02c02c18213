"""A device that torch drives: memory, random inputs, the reference in double precision. peers.py runs it on CUDA; its
test runs on the CPU what needs no CUDA."""

import ctypes
import math
import random

import problems


class TorchDevice:
    def __init__(self, torch, kind="cuda", seed=0):
        self._torch, self.kind = torch, kind
        self._dtypes = {"bf16": torch.bfloat16, "fp16": torch.float16}
        self._ballast = None
        self._random = random.Random(seed)

    @property
    def uuid(self):
        """The GPU's name to NVML."""
        return f"GPU-{self._torch.cuda.get_device_properties(0).uuid}"

    def versions(self):
        """Versions of the CUDA runtime and of cuBLAS that torch brings along, under fusegate_bench's names."""
        versions = {"cuda": self._torch.version.cuda}
        try:
            # Loaded with torch: by this name the loader finds that one and no other.
            number = ctypes.CDLL(f"libcublasLt.so.{versions['cuda'].split('.')[0]}").cublasLtGetVersion
        except (OSError, AttributeError):
            return versions
        number.restype = ctypes.c_size_t
        value = number()
        return {**versions, "cublas": f"{value // 10000}.{value // 100 % 100}.{value % 100}"}

    def synchronize(self):
        self._torch.cuda.synchronize()

    def fresh_memory(self):
        """From now on the driver allocates anew. torch's cache is emptied, and a block of random size is allocated, so
        that a place is not the one that was just freed."""
        megabytes = self._random.randint(1, 64)
        self._ballast = self._torch.empty(megabytes << 20, dtype=self._torch.uint8, device=self.kind)
        self._torch.cuda.empty_cache()

    def inputs(self, problem, seed):
        """Random numbers, uniform in [-scale, scale), rounded to the problem's dtype. The seed decides them."""
        generator = self._torch.Generator(device=self.kind).manual_seed(random.Random(seed).getrandbits(63))
        tensors = []
        for given in problem.inputs:
            # torch takes a bias as a vector.
            size = (given["cols"],) if given["name"] == "bias" else (given["rows"], given["cols"])
            wide = self._torch.empty(size, dtype=self._torch.float32, device=self.kind)
            wide.uniform_(-given["scale"], given["scale"], generator=generator)
            tensors.append(wide.to(self._dtypes[problem.dtype]))
        return tensors

    def reference(self, operation, inputs):
        return problems.reference(self._torch, operation, [tensor.double() for tensor in inputs])

    def error(self, out, reference):
        """||out - reference|| / ||reference||, and how many elements of out are not finite. One of them makes
        the error infinite."""
        wide = out.double()
        not_finite = int((~wide.isfinite()).sum())
        if wide.shape != reference.shape or not_finite:
            return math.inf, not_finite
        return float((wide - reference).norm() / reference.norm()), 0
