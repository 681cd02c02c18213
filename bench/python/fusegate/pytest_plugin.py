"""The pytest plugin: a fixture that measures benchmarks in fresh processes, and fails its test where `fusegate gate`
finds a regression.

    def test_geglu_is_no_slower(fusegate):
        fusegate("kernels.py", benchmark="geglu/triton/.*", processes=5)

`pytest --fusegate-baseline PATH` compares what was measured with a stored baseline, a run folder or a run file. Without
it a test that uses the fixture only checks that the benchmarks are right, and measures them; the session's end says so.
"""

from __future__ import annotations

import dataclasses
import glob
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, Optional

import pytest

from .console import for_log
from .errors import InputError
from .measuring.run_file import read_run_file
from .pytest_folder import RunFolder, folder_name, require_outside
from .suite import ALL
from .version import __version__

PROCESSES = 5
_SESSION = "fusegate_session"
# What a process prints and a program says may be in any encoding.
_TEXT = {"capture_output": True, "check": False, "encoding": "utf-8", "errors": "backslashreplace"}


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("fusegate", "what the fixture `fusegate` measures")
    group.addoption("--fusegate-baseline", metavar="PATH", type=pathlib.Path,
                    help="fail a test where `fusegate gate` finds a regression against this stored baseline, run folder "
                         "or run file")
    group.addoption("--fusegate-program", metavar="PROGRAM", help="the gate (default: fusegate in PATH)")
    group.addoption("--fusegate-processes", metavar="N", type=int, default=None,
                    help=f"fresh processes a measurement (default: the test's own number, else {PROCESSES})")
    group.addoption("--fusegate-out", metavar="FOLDER", type=pathlib.Path,
                    help="keep run folders there, one a test, as baselines of later sessions for one")
    group.addoption("--fusegate-undecided", choices=("skip", "fail"), default="fail",
                    help="what becomes of a test that the gate could not judge: fail (default), or skip, and told at the "
                         "end")


def pytest_configure(config: Any) -> None:
    baseline = config.getoption("fusegate_baseline")
    if baseline is not None and not baseline.exists():
        raise pytest.UsageError(f"--fusegate-baseline {baseline}: no such file or folder")
    if baseline is not None:
        try:
            require_outside(baseline, config.getoption("fusegate_out"), "--fusegate-out")
            # pytest itself empties it.
            basetemp = config.getoption("basetemp", None)
            require_outside(baseline, pathlib.Path(basetemp) if basetemp else None, "--basetemp")
        except InputError as error:
            raise pytest.UsageError(str(error)) from error
    processes = config.getoption("fusegate_processes")
    if processes is not None and processes < 1:
        raise pytest.UsageError(f"--fusegate-processes {processes}: must be a whole number from 1")
    setattr(config, _SESSION, Session())


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What was not judged, not compared or not measured is never only a letter."""
    config = terminalreporter.config
    session: Session = getattr(config, _SESSION)
    is_whole = not terminalreporter.stats.get("deselected") and not any("::" in each for each in config.args)
    for title, lines in (("could not judge", session.unjudged), ("nothing was compared", session.uncompared(config)),
                         ("never measured", session.unmeasured() if is_whole else [])):
        if lines:
            terminalreporter.section(f"fusegate: {title}")
            for line in lines:
                terminalreporter.line(for_log(line))


@dataclasses.dataclass
class Session:
    """What its end tells. measured: suites by test, where no baseline was named. left_out: by kernels' file, the
    implementations that no test measured so far."""

    unjudged: list[str] = dataclasses.field(default_factory=list)
    measured: dict[str, str] = dataclasses.field(default_factory=dict)
    left_out: dict[str, set[str]] = dataclasses.field(default_factory=dict)

    def leave_out(self, kernels: str, implementations: set[str]) -> None:
        """What one test left out, another may have measured."""
        self.left_out[kernels] = self.left_out.get(kernels, implementations) & implementations

    def uncompared(self, config: Any) -> list[str]:
        if not self.measured:
            return []
        stored = _stored_baselines({pathlib.Path(config.rootpath), pathlib.Path(config.invocation_params.dir)},
                                   set(self.measured.values()))
        count = f"{len(self.measured)} test{'s' if len(self.measured) > 1 else ''}"
        return [f"{count} measured, and compared nothing: --fusegate-baseline names no baseline"
                f"{', though there is ' + ', '.join(map(str, stored)) if stored else ''}"]

    def unmeasured(self) -> list[str]:
        return [f"{kernels}: {name} is registered, and no test of this session measures it"
                for kernels, names in self.left_out.items() for name in sorted(names)]


@dataclasses.dataclass
class Measured:
    """What a test measured.

    Attributes
    ----------
    folder : pathlib.Path
        The run folder, with a run file a process, for every command of ``fusegate``.
    times_ns : dict of str to float
        By benchmark: the median over the processes of their median times.
    verdicts : list of dict
        The gate's, as ``fusegate gate --json`` has them; empty without a baseline.
    """

    folder: pathlib.Path
    times_ns: dict[str, float]
    verdicts: list[dict[str, Any]] = dataclasses.field(default_factory=list)


class Measuring:
    """The fixture. Calling it measures, and judges where there is a baseline."""

    def __init__(self, config: Any, folder: pathlib.Path, kernels_folder: pathlib.Path, test: str):
        self._config, self._folder, self._kernels_folder, self._test = config, folder, kernels_folder, test
        self._count = 0

    def __call__(self, kernels: str, *, benchmark: str = "", processes: int = PROCESSES, suite: str = ALL,
                 flags: Sequence[str] = ()) -> Measured:
        """Measure benchmarks in fresh processes.

        Parameters
        ----------
        kernels : str
            The file that registers them, relative to the test's own folder, or a module.
        benchmark : str, optional
            A regular expression that their names fit; all where left out.
        processes : int
            How many; ``--fusegate-processes`` replaces it. The gate calls nothing by fewer than 4.
        suite : str
            As of ``python -m fusegate run --suite``.
        flags : list of str
            More flags of that program.

        Returns
        -------
        Measured

        Raises
        ------
        pytest.fail.Exception
            Where a benchmark is wrong or fails, where a program is missing, and where the gate finds a regression,
            with its verdicts, or cannot judge: too little was decided, or the baseline is of another machine.
        pytest.skip.Exception
            Where the gate could not judge, with ``--fusegate-undecided=skip``.
        """
        self._count += 1
        program = self._gate_program() if self._baseline else ""
        wanted = self._config.getoption("fusegate_processes") or processes
        path = self._folder if self._count == 1 else self._folder.with_name(f"{self._folder.name}-{self._count}")
        folder = RunFolder(path)
        try:
            unfinished = folder.begin()
            for number in range(1, wanted + 1):
                self._measure(kernels, unfinished / f"{number}.json", ["--suite", suite, "--benchmark_filter", benchmark,
                                                                       "--invocation", str(number), *flags])
            folder.finish()
            measured = Measured(path, _times(path))
        except InputError as error:
            pytest.fail(str(error), pytrace=False)
        finally:
            folder.close()
        if program:
            self._judge(program, measured)
        else:
            self._session.measured[self._test] = _suite_of(path)
        return measured

    @property
    def _session(self) -> Session:
        return getattr(self._config, _SESSION)

    @property
    def _baseline(self) -> Optional[pathlib.Path]:
        return self._config.getoption("fusegate_baseline")

    def _measure(self, kernels: str, out: pathlib.Path, flags: Sequence[str]) -> None:
        command = [sys.executable, "-m", "fusegate", "run", kernels, "--progress", "--out", str(out), *flags]
        environment = dict(os.environ)
        package = pathlib.Path(__file__).resolve().parents[1]
        if "site-packages" not in package.parts:  # a checkout, which pytest may know of by its own settings
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(package), environment.get("PYTHONPATH"))))
        result = subprocess.run(command, cwd=self._kernels_folder, env=environment, **_TEXT)
        # A kernel may end its process with 0.
        has_ended = result.returncode == 0 and not _is_finished(out)
        if result.returncode != 0 or has_ended:
            lines = [line for line in (result.stderr or result.stdout).splitlines() if line.strip()]
            pytest.fail("\n".join([f"fusegate could not measure {kernels} (exit code {result.returncode}"
                                   f"{' before it finished' if has_ended else ''}):", *map(for_log, lines[-20:])]),
                        pytrace=False)
        source = os.path.relpath(self._kernels_folder / kernels, self._config.invocation_params.dir)
        self._session.leave_out(source if kernels.endswith(".py") else kernels, _left_out(result.stdout))

    def _gate_program(self) -> str:
        named = self._config.getoption("fusegate_program")
        program = shutil.which(named or "fusegate")
        if program is None:
            pytest.fail(f"--fusegate-baseline needs the gate: {named or 'fusegate'} is not there; install fusegate, or name "
                        f"its program by --fusegate-program", pytrace=False)
        told = subprocess.run([program, "--version"], **_TEXT).stdout.strip()
        version = re.search(r"(\d+)\.\d+", told)
        if version is None or version[1] != __version__.partition(".")[0]:
            pytest.fail(f"{program}: says \"{for_log(told)}\", which does not fit the package fusegate {__version__}: their "
                        f"first numbers must be equal", pytrace=False)
        return program

    def _judge(self, program: str, measured: Measured) -> None:
        told = measured.folder.with_name(f"{measured.folder.name}.gate.json")
        fresh = told.with_name(f"{told.name}.unfinished")  # an earlier answer stays until there is a later one
        fresh.unlink(missing_ok=True)
        result = subprocess.run([program, "gate", "--baseline", str(self._baseline), "--candidate", str(measured.folder),
                                 "--json", str(fresh)], **_TEXT)
        if not fresh.is_file():
            fresh.touch()
        fresh.replace(told)
        gate = json.loads(told.read_text(encoding="utf-8")) if told.is_file() else {}
        measured.verdicts = gate.get("verdicts", [])
        headline = for_log(gate.get("headline") or (result.stderr.strip().splitlines() or ["no answer"])[-1])
        if result.returncode == 0:
            return
        rows = [for_log(_row(verdict)) for verdict in measured.verdicts
                if verdict["verdict"] not in ("unchanged", "identical", "improvement", "missing")]
        if result.returncode == 1:
            pytest.fail("\n".join([headline, *rows, f"(fusegate gate --baseline {self._baseline} --candidate "
                                                    f"{measured.folder})"]), pytrace=False)
        if self._config.getoption("fusegate_undecided") == "fail":
            pytest.fail("\n".join([f"could not judge: {headline}", *rows]), pytrace=False)
        self._session.unjudged.append(f"{self._test}: {headline}")
        pytest.skip(f"fusegate could not judge: {headline}")


@pytest.fixture
def fusegate(request: Any, tmp_path: pathlib.Path) -> Measuring:
    """Measures benchmarks in fresh processes, and gates them by ``--fusegate-baseline``; see :class:`Measuring`."""
    kept = request.config.getoption("fusegate_out")
    folder = (kept.resolve() if kept else tmp_path) / folder_name(_test_id(request))
    return Measuring(request.config, folder, request.path.parent, request.node.nodeid)


def _test_id(request: Any) -> str:
    """The node's, from the folder of pytest's settings, else from where pytest was started: without settings, pytest counts
    from a folder that also depends on what flags name."""
    config = request.config
    root = config.inipath.parent if config.inipath else config.invocation_params.dir
    return f"{os.path.relpath(request.path, root)}::{request.node.nodeid.partition('::')[2]}"


def _is_finished(path: pathlib.Path) -> bool:
    return path.is_file() and read_run_file(path)[0].get("finished") is True


def _suite_of(folder: pathlib.Path) -> str:
    return str(read_run_file(folder / "1.json")[0].get("suite", ""))


def _left_out(output: str) -> set[str]:
    """The implementations that are registered and that a process did not plan, by its first event."""
    events = [json.loads(line.partition(" ")[2]) for line in output.splitlines() if line.startswith("@fusegate {")]
    return {name for event in events if event["event"] == "start" for name in event.get("left_out", ())}


def _stored_baselines(roots: set[pathlib.Path], suites: set[str]) -> list[pathlib.Path]:
    """Of those suites, in the stores that `fusegate gate` looks at."""
    found = {path.resolve() for root in roots for store in (root / "baselines", root / ".fusegate" / "baselines")
             for suite in suites for path in store.glob(f"*/{glob.escape(suite)}.json")}
    return sorted(found)


def _times(folder: pathlib.Path) -> dict[str, float]:
    by_name: dict[str, list[float]] = {}
    for path in folder.glob("*.json"):
        own: dict[str, list[float]] = {}
        for entry in read_run_file(path)[1]:
            own.setdefault(entry["name"], []).append(entry["real_time"])
        for name, times in own.items():
            by_name.setdefault(name, []).append(statistics.median(times))
    return {name: statistics.median(times) for name, times in by_name.items()}


def _row(verdict: dict[str, Any]) -> str:
    """"regression  +3.1 %  geglu/triton/bf16/rows:8192: slower by more than ..." """
    effect = verdict.get("effect")
    change = f"{100 * effect:+.2f} %" if isinstance(effect, (int, float)) else ""
    return f"{verdict['verdict']:12} {change:>9}  {verdict['benchmark']}: {verdict.get('reason', '')}"
