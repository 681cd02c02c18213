"""Google Benchmark run files as the rules want them: the samples of every benchmark in every process."""

import json
import math
import pathlib
import statistics

NS_PER_UNIT = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}

# baselines/calibration/classes.h: key, title, and the least time in ns.
CLASSES = (("from_20_us", ">= 20 us", 20_000.0),
           ("from_3_to_20_us", "3 to 20 us", 3_000.0),
           ("below_3_us", "< 3 us", 0.0))

# The operations that were controls before run files named those.
FORMER_CONTROLS = ("control_copy", "control_gemm")


class InputError(Exception):
    """What a person has to mend: file, field and problem in one line."""


class Invocation:
    """One process: its context, and by benchmark its entries as they stand in the file."""

    def __init__(self, source, context, entries):
        self.source = source
        self.context = context
        self.entries = entries
        self.times_ns = {name: [entry["real_time"] * NS_PER_UNIT[entry["time_unit"]] for entry in own]
                         for name, own in entries.items()}
        self.cycles = {name: _cycles(own, self.times_ns[name]) for name, own in entries.items()}

    @property
    def card(self):
        return self.provenance.get("device_uuid", "")

    @property
    def provenance(self):
        return self.context.get("fusegate", {}).get("provenance", {})

    @property
    def controls(self):
        """As baselines/record/run_context.h has them."""
        fusegate = self.context.get("fusegate", {})
        former = [name for name in self.entries if name.split("/")[0] in FORMER_CONTROLS] if fusegate else []
        return set(fusegate.get("controls", former))

    @property
    def environment(self):
        """A plain Google Benchmark program gives such facts as custom context."""
        return self.context.get("fusegate", {}).get("environment", self.context)


def _cycles(entries, times_ns):
    """None where any sample has no clock: a rule that wants cycles then has none."""
    if any("sm_clock_hz" not in entry for entry in entries):
        return None
    return [time_ns * 1e-9 * entry["sm_clock_hz"] for entry, time_ns in zip(entries, times_ns)]


def read_invocation(path):
    try:
        run = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    except json.JSONDecodeError as error:
        raise InputError(f"{path}: no valid JSON: line {error.lineno}, column {error.colno}: {error.msg}") from error
    if not isinstance(run, dict) or not isinstance(run.get("benchmarks"), list):
        raise InputError(f"{path}: benchmarks: is missing, so this is no Google Benchmark file")
    if not isinstance(run.get("context", {}), dict):
        raise InputError(f"{path}: context: must be an object")
    entries = {}
    for index, entry in enumerate(run["benchmarks"]):
        if not isinstance(entry, dict):
            raise InputError(f"{path}: benchmarks[{index}]: must be an object")
        if entry.get("run_type", "iteration") != "iteration" or entry.get("error_occurred") or entry.get("skipped"):
            continue
        _check_entry(entry, f"{path}: benchmarks[{index}]")
        entries.setdefault(entry.get("run_name", entry["name"]), []).append(entry)
    if not entries:
        raise InputError(f"{path}: benchmarks: has no sample")
    return Invocation(str(path), run.get("context", {}), entries)


def _check_entry(entry, where):
    if not isinstance(entry.get("name"), str):
        raise InputError(f"{where}.name: must be a string")
    for field in ("real_time", "cpu_time", "sm_clock_hz"):
        if not isinstance(entry.get(field, 0 if field == "sm_clock_hz" else None), (int, float)):
            raise InputError(f"{where}.{field}: must be a number")
    if not (math.isfinite(entry["real_time"]) and entry["real_time"] > 0):
        raise InputError(f"{where}.real_time: must be positive")
    if entry.get("time_unit") not in NS_PER_UNIT:
        raise InputError(f"{where}.time_unit: must be one of {', '.join(NS_PER_UNIT)}")


def read_folder(folder):
    """The invocations of a run folder in their order; the other files are fusegate's own records."""
    paths = [path for path in pathlib.Path(folder).glob("*.json")
             if path.name not in ("run.json", "identities.json", "experiment.json") and not path.name.startswith(".")]
    if not paths:
        raise InputError(f"{folder}: holds no run file")
    return [read_invocation(path) for path in sorted(paths, key=lambda path: (len(path.name), path.name))]


class Group:
    """Processes of unchanged code under one protocol, among which comparisons are drawn card by card."""

    def __init__(self, name, invocations):
        self.name = name
        self.cards = {}
        for invocation in invocations:
            self.cards.setdefault(invocation.card, []).append(invocation)
        common = set.intersection(*(set(invocation.times_ns) for invocation in invocations))
        if not common:
            raise InputError(f"{name}: no benchmark was measured in every process")
        self.benchmarks = sorted(common)
        self.classes = {benchmark: duration_class(_typical_time_ns(benchmark, invocations))
                        for benchmark in self.benchmarks}

    @property
    def slowable(self):
        """All but the controls: no change of code slows those, and fusegate calls none of them."""
        controls = set.intersection(*(invocation.controls for invocation in self.invocations))
        return [benchmark for benchmark in self.benchmarks if benchmark not in controls]

    @property
    def invocations(self):
        return [invocation for card in self.cards.values() for invocation in card]

    def facts(self):
        """What the figures are of; without what the files do not say."""
        every = self.invocations
        found = {"device": {one.environment.get("device") for one in every},
                 "driver": {one.environment.get("driver") for one in every},
                 "commits": {one.provenance.get("commit") for one in every},
                 "dates": {one.context.get("date", "")[:10] for one in every}}
        return {key: sorted(values - {None, ""}) for key, values in found.items() if values - {None, ""}}


def _typical_time_ns(benchmark, invocations):
    return statistics.geometric_mean(statistics.median(one.times_ns[benchmark]) for one in invocations)


def duration_class(time_ns):
    return next(key for key, _, least_ns in CLASSES if time_ns >= least_ns)


def family_of(benchmark):
    """What one slower kernel slows, as baselines/calibration/classes.h has it."""
    parts = benchmark.split("/")
    family = parts[:1]
    for part in parts[1:]:
        if ":" in part or (part.isascii() and part.isdigit()):
            break
        family.append(part)
    return "/".join(family)


def read_groups(folders, together):
    """A group a folder; a folder of folders is a group for each of these. together: all folders one group."""
    leaves = [leaf for folder in folders for leaf in _leaves(folder)]
    runs = [(str(leaf), read_folder(leaf)) for leaf in leaves]
    if together:
        return [Group(" ".join(name for name, _ in runs), [one for _, run in runs for one in run])]
    return [Group(name, run) for name, run in runs]


def _leaves(folder):
    folder = pathlib.Path(folder)
    if not folder.is_dir():
        raise InputError(f"{folder}: is no folder")
    if any(folder.glob("*.json")):
        return [folder]
    leaves = sorted(child for child in folder.iterdir() if child.is_dir() and any(child.glob("*.json")))
    if not leaves:
        raise InputError(f"{folder}: holds no run file, nor a folder of run files")
    return leaves
