"""For the tests: a model as fusegate writes it, and leaving them where packages are missing."""

import importlib.util
import sys

SKIPPED = 77  # ctest's SKIP_RETURN_CODE


def require_packages():
    missing = [name for name in ("matplotlib", "jinja2") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"skipped: no {' and '.join(missing)}; pip install -r ci/requirements.txt")
        sys.exit(SKIPPED)


def point(rows, dim, hidden, time_ns, speed_up, tflops=100.0, gbps=1000.0):
    return {"rows": rows, "dim": dim, "hidden": hidden, "time_ns": time_ns, "tflops": tflops, "gbps": gbps,
            "speed_up": speed_up}


def sweep(names=("unfused", "fused"), reference="unfused", rows=(128, 8192), shapes=((768, 3072),)):
    series = []
    for i, name in enumerate(names):
        points = [point(m, dim, hidden, 1000.0 * m / (1 + i), 1.0 + i) for dim, hidden in shapes for m in rows]
        series.append({"implementation": name, "points": points, "mean_speed_up": 1.0 + i,
                       "faster": len(points) if i else 0, "compared": len(points)})
    return {"operation": "geglu", "dtype": "bf16", "reference": reference, "series": series}


def verdict(benchmark, kind="unchanged", effect=0.0):
    return {"benchmark": benchmark, "verdict": kind, "effect": effect, "effect_time": effect, "effect_cycles": effect,
            "interval": {"low": -0.001, "high": 0.001}, "baseline_ns": 1000.0, "candidate_ns": 1050.0,
            "reason": "a reason"}


def family(name="geglu/fused/bf16", effect=0.03, regressions=1):
    return {"family": name, "rows": 12, "effect": effect, "lowest": effect - 0.01, "highest": effect + 0.01,
            "regressions": regressions, "improvements": 0}


def crept(what="geglu/fused/bf16/batch:1", effect=0.021, beyond=False):
    return {"what": what, "effect": effect, "interval": {"low": effect - 0.001, "high": effect + 0.001},
            "beyond_max_creep": beyond}


def bound(kind=None, on_stream=None, text="-", copy_share=None, gemm_share=None):
    return {"class": kind, "class_on_stream": on_stream, "class_text": text, "copy_share": copy_share,
            "gemm_share": gemm_share}


def benchmark(name, failure=""):
    return {"name": name, "time_ns": None if failure else 52310.0, "spread": 0.0012, "launches": 5.0,
            "tflops": 688.0, "gbps": None, "flops": None, "min_bytes": None, "host_ns": None, "host_graph_ns": None,
            "invocations": 5, "failure": failure, "floor_ns": None, "time_over_floor": None, **bound()}


def placed(operation, implementation, flops, min_bytes, tflops, dtype="bf16", **of_class):
    """A benchmark with a place in a roofline."""
    name = f"{operation}/{implementation}/{dtype}/batch:1/seq:128/dim:768/hidden:3072"
    return {**benchmark(name), "operation": operation, "implementation": implementation, "dtype": dtype,
            "flops": flops, "min_bytes": min_bytes, "tflops": tflops, **bound(**of_class)}


def ceilings(gemm=None, copy=None):
    return {"gemm_tflops": {"bf16": {"value": gemm, "benchmark": "linear/addmm/bf16/large"}} if gemm else {},
            "copy_gbps": {"value": copy, "benchmark": "control_copy/memcpy/bf16/large"} if copy else None}


def crossover(ratios, crossings=(), implementation="fused", against="unfused", shape=(768, 3072), text="a text"):
    points = [{"rows": rows, "ratio": ratio} for rows, ratio in ratios]
    return {"operation": "geglu", "dtype": "bf16", "dim": shape[0], "hidden": shape[1],
            "implementation": implementation, "against": against, "points": points, "text": text,
            "crossings": [{"rows": rows, "before": points[0], "after": points[-1]} for rows in crossings]}


def stage(name, own_ns, share):
    counted = None if name is None else 1
    return {"stage": name, "kernels": counted, "memory_operations": counted, "sum_ns": own_ns if counted else None,
            "own_ns": own_ns, "share": share}


def profile(benchmark_name, stages=None, parts=None):
    expectation = None
    if parts is not None:
        expectation = {"met": all(part["met"] for part in parts), "parts": parts}
    return {"benchmark": benchmark_name, "stages": stages, "expectation": expectation}


def part(name, expected, seen, met):
    return {"part": name, "expected": expected, "seen": seen, "met": met}


def story(benchmark_name, cause="other_kernel", kernels=()):
    sides = {"baseline": 1000.0, "candidate": None}
    return {"benchmark": benchmark_name, "cause": cause, "summary": f"a summary of {cause}", "changed": True,
            "kernels": list(kernels), "gaps_ns": sides, "leads_ns": sides, "memory_operations": sides,
            "host_ns": sides}


def measured(name, time_ns, floor_ns=None):
    text = "memory-bound" if floor_ns else "-"
    return {"name": name, "time_ns": time_ns, "failure": "" if time_ns else "threw", "floor_ns": floor_ns,
            "time_over_floor": time_ns / floor_ns if floor_ns else None,
            **bound(kind="memory-bound" if floor_ns else None, text=text)}


def problem(text, best=None, best_peer=None, ours=(), peers=()):
    ratio = best["time_ns"] / best_peer["time_ns"] if best and best_peer else None
    return {"problem": text, "best": best, "best_peer": best_peer, "ratio": ratio,
            "ours": {one["name"]: one for one in (*ours, *([best] if best else []))},
            "peers": {one["name"]: one for one in (*peers, *([best_peer] if best_peer else []))}}


def standings(problems, peers="3 invocations of peers", has_floors=True, notes=()):
    names = {side: sorted({name for one in problems for name in one[side]}) for side in ("ours", "peers")}
    return {"peers": peers, "notes": list(notes), "operations": [
        {"operation": "geglu_mlp", "dtype": "bf16", "has_floors": has_floors, **names, "problems": problems}]}


def run(**environment):
    return {"source": "run", "description": "5 invocations on NVIDIA H200",
            "environment": {"device": "NVIDIA H200", **environment},
            "provenance": {"commit": "0123456789ab", "host": ""}, "acceptance": None}


def model(verdicts=None, sweeps=(), benchmarks=(), families=(), creep=(), standings=None,
          stories=(), profiles=(), crossovers=(), ceilings=None):
    gate = None
    if verdicts is not None:
        anchor = {"source": "pr.anchor.json", "when": "2026-10-01T00:00:00+00:00", "not_judged": None}
        gate = {"rule": {"min_effect": 0.005, "false_discovery_rate": 0.01}, "verdicts": verdicts,
                "families": list(families), "staleness": None, "anchor": anchor if creep else None,
                "creep": list(creep), "kernels": list(stories)}
    return {"title": "A title", "headline": "A headline.", "outcome": "pass" if gate else "not compared",
            "doubts": [], "candidate": run(driver="2"), "baseline": run(driver="1") if gate else None,
            "gate": gate, "benchmarks": list(benchmarks), "sweeps": list(sweeps), "standings": standings,
            "profiles": list(profiles), "crossovers": list(crossovers),
            "ceilings": ceilings or {"gemm_tflops": {}, "copy_gbps": None}}
