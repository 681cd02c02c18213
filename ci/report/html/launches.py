"""What each call launched, laid out for the page: GPU time by stage as bars, what was expected and seen, and what
the kernels of both sides tell. Every figure comes with the model."""

from panels import SERIES_COLOURS

# The bar's width, in its own units.
BAR_WIDTH = 300
GAPS = "gaps"
OUTSIDE = "outside of stages"


def profile_groups(model):
    """The profiled benchmarks by operation and dtype: dicts with title, stages (name and colour) and profiles."""
    names = {benchmark["name"]: benchmark for benchmark in model["benchmarks"]}
    groups = {}
    for profile in model["profiles"]:
        benchmark = names.get(profile["benchmark"], {})
        title = (f"{benchmark['operation']}, {benchmark['dtype']}" if "operation" in benchmark
                 else "other benchmarks")
        groups.setdefault(title, []).append(profile)
    return [_group(title, profiles) for title, profiles in groups.items()]


def unmet(model):
    """Each part that is not as declared: dicts with benchmark and part."""
    return [{"benchmark": profile["benchmark"], "part": part} for profile in model["profiles"]
            for part in (profile["expectation"] or {"parts": []})["parts"] if not part["met"]]


def stories(gate):
    """Those of kernels, then those of pauses of the GPU alone: what the host does shows in many at once."""
    told = gate["kernels"]
    return {"kernels": [story for story in told if story["cause"] != "gaps"],
            "gaps": [story for story in told if story["cause"] == "gaps"]}


def _group(title, profiles):
    colours = {}
    for profile in profiles:
        for stage in profile["stages"] or []:
            if stage["stage"] is not None:
                colours.setdefault(stage["stage"], SERIES_COLOURS[len(colours) % len(SERIES_COLOURS)])
    return {"title": title, "colours": [{"stage": _stage_name(stage), "colour": colour}
                                        for stage, colour in colours.items()],
            "profiles": [{**profile, "bar": _bar(profile["stages"] or [], colours),
                          "stages": [{**stage, "stage": _stage_name(stage["stage"])}
                                     for stage in profile["stages"] or []]}
                         for profile in profiles]}


def _stage_name(stage):
    return GAPS if stage is None else stage or OUTSIDE


def _bar(stages, colours):
    """Parts of a bar, one after another. Medians need not add up to the whole: what is too long ends with the
    bar."""
    parts, at = [], 0.0
    for stage in stages:
        width = min((stage["share"] or 0) * BAR_WIDTH, BAR_WIDTH - at)
        if width > 0:
            parts.append({"at": round(at, 2), "width": round(width, 2), "stage": _stage_name(stage["stage"]),
                          "share": stage["share"], "colour": colours.get(stage["stage"])})
        at += width
    return parts
