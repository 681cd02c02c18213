"""The pytest plugin: a fixture that measures benchmarks in fresh processes, and fails its test if `fusegate gate` finds a
regression.

    def test_geglu_is_no_slower(fusegate):
        fusegate("kernels.py", benchmark="geglu/triton/.*", processes=5)

`pytest --fusegate-baseline PATH` compares the measured run with a stored baseline, a run folder or a run file. Without a
baseline, the test only checks that results are right and measures; the session's summary reports that nothing was compared.
"""

from __future__ import annotations

import dataclasses
import glob
import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, Optional

import pytest

from .console import for_log
from .errors import InputError
from .measuring.run_file import median_times_ns, read_run_file
from .pytest_folder import RunFolder, folder_name, require_outside
from .pytest_gate import TEXT, Gate
from .suite import ALL

PROCESSES = 5
_SESSION = "fusegate_session"


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("fusegate", "benchmarks of the fixture `fusegate`")
    group.addoption("--fusegate-baseline", metavar="PATH", type=pathlib.Path,
                    help="fail a test if `fusegate gate` finds a regression against this stored baseline, run folder or run "
                         "file")
    group.addoption("--fusegate-program", metavar="PROGRAM", help="the program fusegate (default: fusegate in PATH)")
    group.addoption("--fusegate-processes", metavar="N", type=int, default=None,
                    help=f"processes of each measurement (default: the test's own number, else {PROCESSES})")
    group.addoption("--fusegate-out", metavar="FOLDER", type=pathlib.Path,
                    help="write the run folders there, one for each test, for example as baselines of later sessions")
    group.addoption("--fusegate-undecided", choices=("skip", "fail"), default="fail",
                    help="the result of a test that the gate cannot judge: fail (default), or skip and report it in the "
                         "summary")


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
    """Reports what was not judged, not compared or not measured: a letter in pytest's progress is easily missed."""
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
    """For the summary. measured: suites by test, of tests without a baseline. left_out: by kernels' file, the
    implementations that no test measured so far."""

    unjudged: list[str] = dataclasses.field(default_factory=list)
    measured: dict[str, str] = dataclasses.field(default_factory=dict)
    left_out: dict[str, set[str]] = dataclasses.field(default_factory=dict)

    def leave_out(self, kernels: str, implementations: set[str]) -> None:
        """Only implementations that all tests leave out stay."""
        self.left_out[kernels] = self.left_out.get(kernels, implementations) & implementations

    def uncompared(self, config: Any) -> list[str]:
        if not self.measured:
            return []
        stored = _stored_baselines({pathlib.Path(config.rootpath), pathlib.Path(config.invocation_params.dir)},
                                   set(self.measured.values()))
        advice = f"pass --fusegate-baseline {' or '.join(map(str, stored))}" if stored else \
            "pass a baseline with --fusegate-baseline PATH"
        return [f"{len(self.measured)} test{'s' if len(self.measured) > 1 else ''} measured without a baseline; {advice}"]

    def unmeasured(self) -> list[str]:
        return [f"{kernels}: {name} is registered, but no test of this session measures it"
                for kernels, names in self.left_out.items() for name in sorted(names)]


@dataclasses.dataclass
class Measured:
    """The result of a measurement.

    Attributes
    ----------
    folder : pathlib.Path
        The run folder, with one run file for each process. Every command of ``fusegate`` reads it.
    times_ns : dict of str to float
        By benchmark: the median over the processes of their median times.
    verdicts : list of dict
        The gate's, as in ``fusegate gate --json``; empty without a baseline.
    """

    folder: pathlib.Path
    times_ns: dict[str, float]
    verdicts: list[dict[str, Any]] = dataclasses.field(default_factory=list)


class Measuring:
    """The fixture. Calling it measures, and gates the run if there is a baseline."""

    def __init__(self, config: Any, folder: pathlib.Path, kernels_folder: pathlib.Path, test: str):
        self._config, self._folder, self._kernels_folder, self._test = config, folder, kernels_folder, test
        self._session: Session = getattr(config, _SESSION)
        self._count = 0

    def __call__(self, kernels: str, *, benchmark: str = "", processes: int = PROCESSES, suite: str = ALL,
                 flags: Sequence[str] = ()) -> Measured:
        """Measure benchmarks in fresh processes.

        Parameters
        ----------
        kernels : str
            The file that registers them, relative to the test's folder, or a module.
        benchmark : str, optional
            A regular expression for their names; by default all are measured.
        processes : int
            The number of processes, unless ``--fusegate-processes`` is given. With fewer than 4 the gate reports no
            regression.
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
            If a result is wrong, a benchmark or the measurement fails, or a program is missing. If the gate finds a
            regression, with its verdicts. If it cannot judge: too little is decided, or the baseline is of another machine.
        pytest.skip.Exception
            If the gate cannot judge, with ``--fusegate-undecided=skip``.
        """
        self._count += 1
        baseline = self._config.getoption("fusegate_baseline")
        gate = Gate(baseline, self._config.getoption("fusegate_program")) if baseline else None
        wanted = self._config.getoption("fusegate_processes") or processes
        path = self._folder if self._count == 1 else self._folder.with_name(f"{self._folder.name}-{self._count}")
        folder = RunFolder(path)
        try:
            unfinished = folder.begin()
            for number in range(1, wanted + 1):
                self._measure(kernels, unfinished / f"{number}.json", ["--suite", suite, "--benchmark_filter", benchmark,
                                                                       "--process", str(number), *flags])
            folder.finish()
            measured = Measured(path, median_times_ns(path.glob("*.json")))
        except InputError as error:
            pytest.fail(str(error), pytrace=False)
        finally:
            folder.close()
        if gate is None:
            self._session.measured[self._test] = str(read_run_file(path / "1.json")[0].get("suite", ""))
        else:
            self._judge(gate, measured)
        return measured

    def _measure(self, kernels: str, out: pathlib.Path, flags: Sequence[str]) -> None:
        command = [sys.executable, "-m", "fusegate", "run", kernels, "--progress", "--out", str(out), *flags]
        environment = dict(os.environ)
        package = pathlib.Path(__file__).resolve().parents[1]
        if "site-packages" not in package.parts:  # a checkout, which pytest may have found by its own settings
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(package), environment.get("PYTHONPATH"))))
        result = subprocess.run(command, cwd=self._kernels_folder, env=environment, **TEXT)
        is_cut_short = result.returncode == 0 and not _is_finished(out)  # a kernel may call exit(0)
        if result.returncode != 0 or is_cut_short:
            lines = [line for line in (result.stderr or result.stdout).splitlines() if line.strip()]
            pytest.fail("\n".join([f"fusegate could not measure {kernels} (exit code {result.returncode}"
                                   f"{' before it finished' if is_cut_short else ''}):", *map(for_log, lines[-20:])]),
                        pytrace=False)
        source = os.path.relpath(self._kernels_folder / kernels, self._config.invocation_params.dir)
        self._session.leave_out(source if kernels.endswith(".py") else kernels, _left_out(result.stdout))

    def _judge(self, gate: Gate, measured: Measured) -> None:
        answer = gate.judge(measured.folder)
        measured.verdicts = answer.verdicts
        if answer.exit_code == 0:
            return
        if answer.exit_code == 1:
            pytest.fail("\n".join([answer.headline, *answer.lines(), f"({answer.command})"]), pytrace=False)
        if self._config.getoption("fusegate_undecided") == "fail":
            pytest.fail("\n".join([f"could not judge: {answer.headline}", *answer.lines()]), pytrace=False)
        self._session.unjudged.append(f"{self._test}: {answer.headline}")
        pytest.skip(f"fusegate could not judge: {answer.headline}")


@pytest.fixture
def fusegate(request: Any, tmp_path: pathlib.Path) -> Measuring:
    """Measures benchmarks in fresh processes, and gates them by ``--fusegate-baseline``; see :class:`Measuring`."""
    out = request.config.getoption("fusegate_out")
    folder = (out.resolve() if out else tmp_path) / folder_name(_test_id(request))
    return Measuring(request.config, folder, request.path.parent, request.node.nodeid)


def _test_id(request: Any) -> str:
    """The test's id, relative to the folder of pytest's settings, else to where pytest was started. pytest's own root also
    depends on its flags if there are no settings."""
    config = request.config
    root = config.inipath.parent if config.inipath else config.invocation_params.dir
    return f"{os.path.relpath(request.path, root)}::{request.node.nodeid.partition('::')[2]}"


def _is_finished(path: pathlib.Path) -> bool:
    return path.is_file() and read_run_file(path)[0].get("finished") is True


def _left_out(output: str) -> set[str]:
    """The registered implementations that a process did not plan, from its first progress event."""
    events = [json.loads(line.partition(" ")[2]) for line in output.splitlines() if line.startswith("@fusegate {")]
    return {name for event in events if event["event"] == "start" for name in event.get("left_out", ())}


def _stored_baselines(roots: set[pathlib.Path], suites: set[str]) -> list[pathlib.Path]:
    """The suites' baselines in the stores that `fusegate gate` searches."""
    found = {path.resolve() for root in roots for store in (root / "baselines", root / ".fusegate" / "baselines")
             for suite in suites for path in store.glob(f"*/{glob.escape(suite)}.json")}
    return sorted(found)
