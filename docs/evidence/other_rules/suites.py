"""What the rules are put to: processes that were measured, or simulated; comparisons of them; run folders for the gate."""

import json
import math
import pathlib
import random
import statistics
import tarfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[3]
NS_PER_UNIT = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
# baselines/calibration/classes.h: title and the least time in ns.
CLASSES = ((">= 20 us", 20_000.0), ("3 to 20 us", 3_000.0), ("< 3 us", 0.0))
KINDS = ("side by side", "stored")  # comparisons
SAMPLES = 9  # of a simulated process
# The operations that were controls before run files named those.
FORMER_CONTROLS = ("control_copy", "control_gemm")


class InputError(Exception):
    """What a person has to mend: file, field and problem in one line."""


def fast_half(times):
    """The mean between the 5 % and 50 % quantiles with fractional ends, as baselines/statistics/statistics.h has it."""
    ranks = numpy.arange(len(times))
    weights = numpy.clip(numpy.minimum(ranks + 1, 0.5 * len(times)) - numpy.maximum(ranks, 0.05 * len(times)), 0, None)
    return float(numpy.sort(times) @ weights / weights.sum())


FIGURES = {"median": lambda times: float(numpy.median(times)), "fast half": fast_half}


class Process:
    """One start of a benchmark program: by benchmark its samples, and where it stood among the others."""

    def __init__(self, context, times_ns, clocks_hz, counters, place=("", 0)):
        self.context = context
        self.times_ns = times_ns  # arrays
        self.clocks_hz = clocks_hz  # likewise; None where a sample has none
        self.counters = counters  # FLOPs and bytes of a call
        self.session, self.block = place
        self.slowed = {}  # by benchmark the factor
        self._figures = {}

    @property
    def card(self):
        return self.context.get("fusegate", {}).get("provenance", {}).get("device_uuid", "")

    @property
    def controls(self):
        """As baselines/record/controls.h has them."""
        return controls_of(self.context.get("fusegate"), self.times_ns)

    def times(self, benchmark):
        return self.times_ns[benchmark] * self.slowed.get(benchmark, 1.0)

    def cycles(self, benchmark):
        """A slower kernel takes more cycles: the clock stays."""
        clocks = self.clocks_hz[benchmark]
        return None if clocks is None else self.times(benchmark) * clocks * 1e-9

    def figure(self, kind, benchmark):
        if (kind, benchmark) not in self._figures:
            self._figures[kind, benchmark] = FIGURES[kind](self.times_ns[benchmark])
        return self._figures[kind, benchmark] * self.slowed.get(benchmark, 1.0)

    def slower(self, benchmarks, factor):
        copy = Process(self.context, self.times_ns, self.clocks_hz, self.counters, (self.session, self.block))
        copy.slowed, copy._figures = dict.fromkeys(benchmarks, factor), self._figures
        return copy

    def text(self):
        """Google Benchmark JSON. Without identities: of unchanged code the gate would test nothing."""
        entries = []
        for name, times in self.times_ns.items():
            factor, clocks = self.slowed.get(name, 1.0), self.clocks_hz[name]
            head = f'{{"name":{json.dumps(name)},"run_type":"iteration","iterations":1,"time_unit":"ns",' \
                   f'"repetitions":{len(times)},' + "".join(f'"{key}":{value},' for key, value in self.counters[name].items())
            for i, time in enumerate((times * factor).tolist()):
                clock = "" if clocks is None else f',"sm_clock_hz":{clocks[i]:.1f}'
                entries.append(f'{head}"repetition_index":{i},"real_time":{time:.9g},"cpu_time":{time:.9g}{clock}}}')
        return f'{{"context":{json.dumps(self.context)},"benchmarks":[\n' + ",\n".join(entries) + "\n]}\n"


class Comparison:
    """Processes against others; those of a session are compared block by block."""

    def __init__(self, baseline, candidate, session=""):
        self.baseline, self.candidate, self.session = baseline, candidate, session

    def slower(self, benchmarks, factor):
        return Comparison(self.baseline, [one.slower(benchmarks, factor) for one in self.candidate], self.session)

    def write(self, folder):
        """The two run folders, as `fusegate run` writes them."""
        for side, processes in (("baseline", self.baseline), ("candidate", self.candidate)):
            path = pathlib.Path(folder) / side
            path.mkdir()
            for i, one in enumerate(processes, 1):
                (path / f"{i}.json").write_text(one.text(), encoding="utf-8")
            if self.session:
                record = {"session": self.session, "finished": True, "invocations": [
                    {"file": f"{i}.json", "block": i, "extension": False} for i in range(1, len(processes) + 1)]}
                (path / "run.json").write_text(json.dumps(record), encoding="utf-8")


def read_processes(path):
    """Of a run folder, a folder of such, or a tar archive of either."""
    runs = {}
    for folder, name, text in _files(pathlib.Path(path)):
        runs.setdefault(folder, {})[name] = _parsed(text, f"{folder}/{name}")
    processes = []
    for folder, files in sorted(runs.items()):
        record = files.pop("run.json", {})
        places = {own.get("file"): own for own in record.get("invocations", [])}
        for name in sorted(files, key=lambda name: (len(name), name)):
            place = places.get(name, {})
            one = _process(files[name], f"{folder}/{name}", (record.get("session") or folder, place.get("block", 0)))
            # What extended a run measured doubtful benchmarks alone.
            if one.context.get("fusegate", {}).get("finished", True) and not place.get("extension"):
                processes.append(one)
    if not processes:
        raise InputError(f"{path}: holds no run file")
    return processes


def _files(path):
    """Folder, name and text of the run files and of run.json."""
    if path.is_dir():
        found = ((str(file.parent), file.name, file.read_bytes()) for file in sorted(path.rglob("*.json")))
    elif tarfile.is_tarfile(path):
        with tarfile.open(path) as archive:
            members = [(pathlib.PurePath(own.name), archive.extractfile(own)) for own in archive if own.isfile()]
            found = [(f"{path}:{name.parent}", name.name, file.read()) for name, file in members if name.suffix == ".json"]
    else:
        raise InputError(f"{path}: is neither a folder nor a tar archive")
    return [own for own in found if own[1] not in ("identities.json", "experiment.json") and not own[1].startswith(".")]


def _parsed(text, source):
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f"{source}: no valid JSON: {error}") from error


def _process(run, source, place):
    if not isinstance(run, dict) or not isinstance(run.get("benchmarks"), list):
        raise InputError(f"{source}: benchmarks: is missing, so this is no Google Benchmark file")
    times, clocks, counters = {}, {}, {}
    for i, entry in enumerate(run["benchmarks"]):
        try:
            if entry.get("run_type", "iteration") != "iteration" or entry.get("error_occurred") or entry.get("skipped"):
                continue
            name, time = entry.get("run_name", entry["name"]), entry["real_time"] * NS_PER_UNIT[entry["time_unit"]]
            if not 0 < time < math.inf:
                raise ValueError("real_time must be positive")
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"{source}: benchmarks[{i}]: {error}") from error
        times.setdefault(name, []).append(time)
        clocks.setdefault(name, []).append(entry.get("sm_clock_hz", math.nan))
        counters.setdefault(name, {key: entry[key] for key in ("flops", "min_bytes") if key in entry})
    clocks = {name: None if numpy.isnan(own).any() else numpy.array(own) for name, own in clocks.items()}
    return Process(run.get("context", {}), {name: numpy.array(own) for name, own in times.items()}, clocks, counters, place)


class Measured:
    """Processes of unchanged code, compared card by card."""

    is_measured = True

    def __init__(self, processes):
        self.processes = processes
        self.benchmarks = sorted(set.intersection(*(set(one.times_ns) for one in processes)))
        self.controls = set.intersection(*(one.controls for one in processes))
        self.classes = {name: class_of(statistics.geometric_mean(one.figure("median", name) for one in processes))
                        for name in self.benchmarks}

    def _groups(self, key):
        groups = {}
        for one in self.processes:
            groups.setdefault(key(one), []).append(one)
        return groups

    def comparisons(self, kind, side, most, seed):
        source, drawn = random.Random(seed), {}
        draw, possible = self._stored(side) if kind == "stored" else self._side_by_side(side)
        while len(drawn) < min(most, possible):
            key, comparison = draw(source)
            drawn.setdefault(key, comparison)
        return list(drawn.values())

    def _stored(self, side):
        """Any processes of a card against any others of it."""
        cards = [own for own in self._groups(lambda one: one.card).values() if len(own) >= 2 * side]

        def draw(source):
            card = source.choice(cards)
            order = source.sample(range(len(card)), 2 * side)
            left, right = sorted(order[:side]), sorted(order[side:])
            return (id(card), *left, *right), Comparison([card[i] for i in left], [card[i] for i in right])
        return draw, sum(math.comb(len(own), side) * math.comb(len(own) - side, side) for own in cards)

    def _side_by_side(self, side):
        """Pairs of a session, one of each to either side: of a block, or else neighbours in time."""
        sessions = []
        for (session, _), own in self._groups(lambda one: (one.session, one.card)).items():
            own.sort(key=lambda one: one.block)
            if len(own) >= 2 * side:
                sessions.append((session, list(zip(own[0::2], own[1::2]))))

        def draw(source):
            session, pairs = source.choice(sessions)
            taken = sorted(source.sample(range(len(pairs)), side))
            turned = [source.randrange(2) for _ in taken]
            sides = zip(*(pairs[i][::-1] if turn else pairs[i] for i, turn in zip(taken, turned)))
            return (id(pairs), *taken, *turned), Comparison(*map(list, sides), session)
        return draw, sum(math.comb(len(pairs), side) * 2 ** side for _, pairs in sessions)


class Simulated:
    """Suites with the names, durations and spreads between processes of a device's calibration.

    log time = u - share x k and log clock = k, u being the noise at equal clock and k the clock's, both drawn for every
    benchmark and process. Samples lie about that as far as the stored baseline says, alike in all processes, as layouts do.
    """

    is_measured = False

    def __init__(self, noise, folder=ROOT / "baselines" / "nvidia-h200"):
        self.noise = noise  # "normal" or "t3"
        calibration = _parsed((folder / "pr.calibration.json").read_text(), "pr.calibration.json")
        stored = _parsed((folder / "pr.json").read_text(), "pr.json")
        widths = {own["name"]: 1.4826 * own.get("spread", 0.002) for own in stored["benchmarks"]}
        self.counters = {own["name"]: {key: own["counters"][key] for key in ("flops", "min_bytes")}
                         for own in stored["benchmarks"]}
        self.rows = [(own["name"], own["time_ns"], *_spreads(own), widths.get(own["name"], 0.003))
                     for own in calibration["benchmarks"]]
        self.benchmarks = sorted(row[0] for row in self.rows)
        self.controls = controls_of(stored, self.benchmarks)
        self.classes = {name: class_of(time) for name, time, *_ in self.rows}
        self.context = {"date": calibration["date"], "fusegate": {
            "schema_version": 1, "environment": calibration["environment"], "protocol": calibration["protocol"],
            "suite": "pr", "provenance": {"commit": "0" * 40, "device_uuid": "GPU-simulated"}, "finished": True}}

    def comparisons(self, kind, side, most, seed):
        """The same processes, whatever the kind."""
        for suite in range(most):
            source = numpy.random.default_rng([seed, suite])
            sides = [[self._process(source) for _ in range(side)] for _ in range(2)]
            yield Comparison(*sides, "simulated" if kind == "side by side" else "")

    def _process(self, source):
        size = (2, len(self.rows))
        draws = source.standard_normal(size) if self.noise == "normal" else source.standard_t(3, size) / math.sqrt(3)
        times, clocks = {}, {}
        for (name, time, noise, clock_noise, share, width), u, k in zip(self.rows, *draws):
            across = -width * (share * _SCORES + math.sqrt(1 - share ** 2) * _ACROSS)
            clocks[name] = 1.9e9 * numpy.exp(clock_noise * k + across)
            times[name] = time * numpy.exp(noise * u - share * clock_noise * k + width * _SCORES)
        return Process(self.context, times, clocks, {name: self.counters.get(name, {}) for name in times})


def _spreads(own):
    """Noise at equal clock, noise of the clock, and the share by which time goes with the clock."""
    equal = own["spread_equal_clock"]
    in_time, in_cycles = (math.sqrt(max(0.0, own[key] ** 2 - equal ** 2)) for key in ("spread_time", "spread_cycles"))
    clock = in_time + in_cycles
    return equal, clock, in_time / clock if clock else 0.0


def _patterns():
    """Of samples in a process: normal scores, and as much at right angles to them."""
    scores = numpy.array([statistics.NormalDist().inv_cdf((i + 0.5) / SAMPLES) for i in range(SAMPLES)])
    across = numpy.abs(scores) - numpy.abs(scores).mean()
    return scores, across * math.sqrt((scores @ scores) / (across @ across))


_SCORES, _ACROSS = _patterns()


def controls_of(declaring, benchmarks):
    """declaring: a baseline, or "fusegate" of a run file's context, which other programs' files lack."""
    if declaring is None:
        return set()
    return set(declaring.get("controls", [name for name in benchmarks if name.split("/")[0] in FORMER_CONTROLS]))


def class_of(time_ns):
    return next(title for title, least_ns in CLASSES if time_ns >= least_ns)


def family_of(benchmark):
    """What one slower kernel slows, as baselines/calibration/classes.h has it."""
    family = []
    for part in benchmark.split("/"):
        if family and (":" in part or (part.isascii() and part.isdigit())):
            break
        family.append(part)
    return "/".join(family)
