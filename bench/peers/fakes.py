"""Stand-ins for tests: libraries without torch, and plans from fusegate_bench itself, which needs no GPU to make one."""

import contextlib
import functools
import io
import types
from unittest import mock

import peers  # makes the package known, and so stands first
from fusegate.measuring.fakes import UUID, FakeNvml
from fusegate.measuring.libraries import Libraries

import problems
from bench import find_bench, read_plan
from problems import Problem

ENVIRONMENT = {"device": "NVIDIA H200", "driver": "580.1", "cuda": "12.9", "cublas": "12.9.1", "power_limit_w": 700.0,
               "max_sm_clock_mhz": 1980, "max_memory_clock_mhz": 3201, "ecc": True, "mig": False}


def plan_on_a_gpu(program, flags):
    """In place of read_plan: the program's plan, as if it had seen the fake device."""
    plan = read_plan(program, flags)
    plan["fusegate"].update(environment=ENVIRONMENT, doubts=["debug_library"],
                            provenance={**plan["fusegate"]["provenance"], "device_uuid": UUID})
    return plan


@functools.lru_cache(maxsize=None)
def fake_problem(operation, sizes="1,128,768,3072", dtype="bf16"):
    plan = read_plan(find_bench(), [f"--problem={sizes}", f"--operation={operation}", f"--dtype={dtype}"])
    return Problem.of(plan["work"][0]["problems"][0])


@contextlib.contextmanager
def fake_gpu(device, meter, libraries=None):
    """peers.main() measures on these, with tensors that are numbers. Gives what it prints and what it complains of."""
    out, errors = io.StringIO(), io.StringIO()
    with mock.patch.multiple(peers, find_libraries=lambda _: libraries or fake_libraries(), read_plan=plan_on_a_gpu,
                             open_gpu=lambda _: (device, meter), Nvml=mock.Mock(open=FakeNvml)), \
            mock.patch.object(problems, "reference", lambda *_: 1.0), \
            contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        yield out, errors


def fake_libraries():
    """A torch whose tensors are numbers, and a Liger on top of it."""
    functional = types.SimpleNamespace(linear=lambda x, w, bias=0.0: x * w + bias,
                                       gelu=lambda x, approximate="none": x,
                                       silu=lambda x: x, relu=lambda x: x)
    torch = types.SimpleNamespace(nn=types.SimpleNamespace(functional=functional),
                                  compile=lambda function, **_: function)
    gelu_mul = types.SimpleNamespace(apply=lambda g, u: g * u)
    liger = types.SimpleNamespace(ops=types.SimpleNamespace(LigerGELUMulFunction=gelu_mul, LigerSiLUMulFunction=gelu_mul))
    return Libraries(modules={"torch": torch, "triton": None, "liger": liger},
                     versions={"torch": "2.11.0+cu130", "triton": "3.6.0", "liger": "0.8.5"})
