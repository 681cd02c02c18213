"""The pytest plugin: a fixture that measures benchmarks by `fusegate run`, and fails its test if `fusegate gate` finds a
regression.

    def test_geglu_is_no_slower(fusegate):
        fusegate("kernels.py", benchmark="geglu/triton/.*", processes=5)

`pytest --fusegate-baseline PATH` compares the measured run with a stored baseline, a run folder or a run file. Without a
baseline, the test only checks that results are right and measures; the session's summary reports that nothing was compared.
"""

from __future__ import annotations

import dataclasses
import glob
import hashlib
import os
import pathlib
import re
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from . import pytest_programs as programs
from .console import for_log
from .errors import InputError

PROCESSES = 5
_SESSION = "fusegate_session"
# Of the 255 bytes of a file's name, suffixes need some.
_LONGEST_NAME = 150


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("fusegate", "benchmarks of the fixture `fusegate`")
    group.addoption("--fusegate-baseline", metavar="PATH", type=_absolute,
                    help="fail a test if `fusegate gate` finds a regression against this stored baseline, run folder or run "
                         "file")
    group.addoption("--fusegate-program", metavar="PROGRAM", help="the program fusegate (default: the package's)")
    group.addoption("--fusegate-processes", metavar="N", type=int,
                    help=f"processes of each measurement (default: the test's own number, else {PROCESSES})")
    group.addoption("--fusegate-out", metavar="FOLDER", type=_absolute,
                    help="write the run folders there, one for each test, for example as baselines of later sessions")
    group.addoption("--fusegate-undecided", choices=("skip", "fail"), default="fail",
                    help="the result of a test that the gate cannot judge: fail (default), or skip and report it in the "
                         "summary")


def pytest_configure(config: Any) -> None:
    baseline = config.getoption("fusegate_baseline")
    if baseline and not baseline.exists():
        raise pytest.UsageError(f"--fusegate-baseline {baseline}: no such file or folder")
    for flag, name in (("--fusegate-out", "fusegate_out"), ("--basetemp", "basetemp")):  # pytest empties the latter
        folder = config.getoption(name, None)
        if baseline and folder and baseline.resolve().is_relative_to(pathlib.Path(folder).resolve()):
            raise pytest.UsageError(f"--fusegate-baseline {baseline}: lies in the folder of {flag} {folder}, where this "
                                    f"session replaces earlier runs; copy it elsewhere, or name another folder")
    setattr(config, _SESSION, Session(config))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Reports what was not judged, not compared or not measured: a letter in pytest's progress is easily missed."""
    config = terminalreporter.config
    session: Session = getattr(config, _SESSION)
    is_part = session.failed or terminalreporter.stats.get("deselected") or any("::" in each for each in config.args)
    for title, lines in (("could not judge", session.unjudged), ("nothing was compared", session.uncompared()),
                         ("never measured", [] if is_part else session.unmeasured())):
        if lines:
            terminalreporter.section(f"fusegate: {title}")
            for line in lines:
                terminalreporter.line(for_log(line))


class Session:
    """For the summary. unjudged: lines. suites: by test without a baseline. measured: by file or module of kernels, the folder
    to load it in, its name there, and the measured implementations. failed: whether a test could not measure."""

    def __init__(self, config: Any):
        self._folder, self._root = config.invocation_params.dir, config.rootpath
        self.unjudged: list[str] = []
        self.suites: dict[str, str] = {}
        self.measured: dict[str, tuple[pathlib.Path, str, set[str]]] = {}
        self.failed = False

    def add_measured(self, folder: pathlib.Path, kernels: str, benchmarks: Iterable[str]) -> None:
        source = os.path.relpath(folder / kernels, self._folder) if kernels.endswith(".py") else kernels
        self.measured.setdefault(source, (folder, kernels, set()))[2].update(_implementations(benchmarks))

    def uncompared(self) -> list[str]:
        if not self.suites:
            return []
        # Where `fusegate gate` searches.
        stored = sorted({str(path.resolve()) for root in (self._root, self._folder)
                         for store in ("baselines", ".fusegate/baselines") for suite in self.suites.values()
                         for path in (root / store).glob(f"*/{glob.escape(suite)}.json")})
        return [f"{len(self.suites)} test{'s' if len(self.suites) > 1 else ''} measured without a baseline; pass "
                + (f"--fusegate-baseline {' or '.join(stored)}" if stored else "a baseline with --fusegate-baseline PATH")]

    def unmeasured(self) -> list[str]:
        return [f"{source}: {name} is registered, but no test of this session measures it"
                for source, (folder, kernels, measured) in self.measured.items()
                for name in sorted(_implementations(programs.registered_benchmarks(kernels, folder)) - measured)]


@dataclasses.dataclass
class Measured:
    """A measurement. folder: the run folder, which every command of ``fusegate`` reads. times_ns: by benchmark, the median over
    the processes of their median times. verdicts: the gate's, as in ``fusegate gate --json``; empty without a baseline."""

    folder: pathlib.Path
    times_ns: dict[str, float]
    verdicts: list[dict[str, Any]] = dataclasses.field(default_factory=list)


class Measuring:
    """The fixture. Calling it measures, and gates the run if there is a baseline."""

    def __init__(self, request: Any, folder: pathlib.Path):
        self._config, self._session = request.config, getattr(request.config, _SESSION)
        self._test, self._kernels_folder = request.node.nodeid, request.path.parent
        self._run, self._count = folder / _folder_name(_test_id(request)), 0

    def __call__(self, kernels: str, *, benchmark: str = "", processes: int = PROCESSES, suite: str = "all",
                 flags: Sequence[str] = ()) -> Measured:
        """Measure benchmarks in fresh processes.

        Args:
          kernels: the file that registers them, relative to the test's folder, or a module.
          benchmark: a regular expression for their names; by default all are measured.
          processes: their number, unless ``--fusegate-processes`` is given. With fewer than 4 the gate reports no regression.
          suite: as of ``fusegate run --suite``; by default all that is registered.
          flags: flags of ``fusegate_bench``.

        The test fails if a result is wrong, a benchmark or the measurement fails, or a program is missing; if the gate finds a
        regression, with its verdicts; and if it cannot judge: too little is decided, or the baseline is of another machine.
        The last skips the test with ``--fusegate-undecided=skip``.
        """
        self._count += 1
        run = self._run if self._count == 1 else self._run.with_name(f"{self._run.name}-{self._count}")
        wanted, out, baseline = (self._config.getoption(f"fusegate_{name}") for name in ("processes", "out", "baseline"))
        failure = ""
        try:
            program = programs.matching_program(self._config.getoption("fusegate_program"))
            programs.measure(program, kernels, self._kernels_folder, run, [
                "--suite", suite, "--processes", str(processes if wanted is None else wanted), "--",
                *([f"--benchmark_filter={benchmark}"] if benchmark else []), *flags])
            run = _keep(run, out) if out else run
        except (InputError, programs.ProgramError) as error:
            failure = str(error)
        if failure:
            self._session.failed = True
            pytest.fail(failure, pytrace=False)
        files = programs.run_files(run)
        measured = Measured(run, programs.median_times_ns(files))
        self._session.add_measured(self._kernels_folder, kernels, measured.times_ns)
        if baseline:
            self._judge(program, baseline, measured)
        else:
            self._session.suites[self._test] = files[0]["context"]["fusegate"]["suite"]
        return measured

    def _judge(self, program: str, baseline: pathlib.Path, measured: Measured) -> None:
        exit_code, printed, measured.verdicts = programs.gate(program, baseline, measured.folder)
        if exit_code == 1:
            pytest.fail(printed, pytrace=False)
        if exit_code == 0:
            return
        if self._config.getoption("fusegate_undecided") == "fail":
            pytest.fail(f"could not judge: {printed}", pytrace=False)
        headline = printed.splitlines()[0]
        self._session.unjudged.append(f"{self._test}: {headline}")
        pytest.skip(f"fusegate could not judge: {headline}")


@pytest.fixture
def fusegate(request: Any, tmp_path: pathlib.Path) -> Measuring:
    """Measures benchmarks in fresh processes, and gates them by ``--fusegate-baseline``; see :class:`Measuring`."""
    return Measuring(request, tmp_path)


def _absolute(path: str) -> pathlib.Path:
    return pathlib.Path(path).absolute()


def _implementations(benchmarks: Iterable[str]) -> set[str]:
    return {"/".join(name.split("/")[:2]) for name in benchmarks}


def _keep(run: pathlib.Path, out: pathlib.Path) -> pathlib.Path:
    """Moves a complete run to the folder, where it replaces that of an earlier session. Raises InputError."""
    kept = out / run.name
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{run.name}-", dir=out) as staging:
            shutil.move(run, staging)  # from another file system it copies, which takes a while
            if kept.exists():
                kept.rename(pathlib.Path(staging, "earlier"))
            pathlib.Path(staging, run.name).rename(kept)
    except OSError as error:
        raise InputError(kept, "", f"cannot be written: {error.strerror or error}") from error
    return kept


def _test_id(request: Any) -> str:
    """The test's id, relative to the folder of pytest's settings, else to where pytest was started. pytest's own root also
    depends on its flags if there are no settings."""
    config = request.config
    root = config.inipath.parent if config.inipath else config.invocation_params.dir
    return f"{os.path.relpath(request.path, root)}::{request.node.nodeid.partition('::')[2]}"


def _folder_name(test: str) -> str:
    """A name for a test's id that no other test has: test_k.py_test_add for test_k.py::test_add. If more than the :: is
    replaced, the name ends in a hash of the id."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", test)
    if re.fullmatch(r"[A-Za-z0-9_.-]+\.py::[A-Za-z0-9_]+", test) and len(name) <= _LONGEST_NAME:
        return name
    return f"{name[:_LONGEST_NAME].rstrip('_')}-{hashlib.sha256(test.encode('utf-8', 'replace')).hexdigest()[:8]}"
