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


def family(range_text="M <= 1024", trend="slower", effect=0.03, rows=("geglu/fused/a", "geglu/fused/b")):
    return {"family": "geglu/fused/bf16", "range": range_text, "trend": trend, "certain_together": True,
            "effect": effect, "effect_time": effect, "effect_cycles": effect,
            "interval": {"low": effect - 0.002, "high": effect + 0.002},
            "p": 0.001, "heterogeneity": 0.1, "spread": 0.001, "regressions": 1, "improvements": 0,
            "summary": "1 of 2 is a regression",
            "rows": [{"benchmark": name, "verdict": "regression", "effect": effect,
                      "shrunken_effect": effect * 0.9} for name in rows]}


def crept(what="geglu/fused/bf16, all 4 shapes", effect=0.021, beyond=False):
    return {"kind": "family", "what": what, "effect": effect,
            "interval": {"low": effect - 0.001, "high": effect + 0.001}, "benchmarks": ["a"],
            "beyond_max_creep": beyond}


def benchmark(name, failure=""):
    return {"name": name, "time_ns": None if failure else 52310.0, "spread": 0.0012, "launches": 5.0,
            "tflops": 688.0, "gbps": None, "invocations": 5, "failure": failure, "floor_ns": None,
            "time_over_floor": None, "binds": None}


def measured(name, time_ns, floor_ns=None):
    return {"name": name, "time_ns": time_ns, "failure": "" if time_ns else "threw", "floor_ns": floor_ns,
            "time_over_floor": time_ns / floor_ns if floor_ns else None, "binds": "memory" if floor_ns else None}


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


def model(verdicts=None, sweeps=(), benchmarks=(), families=(), creep=(), standings=None):
    gate = None
    if verdicts is not None:
        anchor = {"source": "pr.anchor.json", "when": "2026-10-01T00:00:00+00:00", "not_judged": None}
        gate = {"rule": {"min_effect": 0.005, "false_discovery_rate": 0.01}, "verdicts": verdicts,
                "families": list(families), "staleness": None, "anchor": anchor if creep else None,
                "creep": list(creep)}
    return {"title": "A title", "headline": "A headline.", "outcome": "pass" if gate else "not compared",
            "doubts": [], "candidate": run(driver="2"), "baseline": run(driver="1") if gate else None,
            "gate": gate, "benchmarks": list(benchmarks), "sweeps": list(sweeps), "standings": standings}
