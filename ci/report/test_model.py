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
    return {"benchmark": benchmark, "verdict": kind, "effect_time": effect, "effect_cycles": effect,
            "interval": {"low": -0.001, "high": 0.001}, "baseline_ns": 1000.0, "candidate_ns": 1050.0,
            "reason": "a reason"}


def benchmark(name, failure=""):
    return {"name": name, "time_ns": None if failure else 52310.0, "spread": 0.0012, "launches": 5.0,
            "tflops": 688.0, "gbps": None, "invocations": 5, "failure": failure}


def run(**environment):
    return {"source": "run", "description": "5 invocations on NVIDIA H200",
            "environment": {"device": "NVIDIA H200", **environment},
            "provenance": {"commit": "0123456789ab", "host": ""}, "acceptance": None}


def model(verdicts=None, sweeps=(), benchmarks=()):
    gate = None
    if verdicts is not None:
        gate = {"rule": {"min_effect": 0.005, "false_discovery_rate": 0.01}, "verdicts": verdicts}
    return {"title": "A title", "headline": "A headline.", "outcome": "pass" if gate else "not compared",
            "doubts": [], "candidate": run(driver="2"), "baseline": run(driver="1") if gate else None,
            "gate": gate, "benchmarks": list(benchmarks), "sweeps": list(sweeps)}
