"""fusegate gate on drawn processes: the built program, on run files written for each comparison."""

import json
import pathlib
import subprocess
import tempfile

from samples import InputError

CANNOT_JUDGE = 2


class FusegateGate:
    """The gate as it is called: run files on either side, the suite's own rule."""

    name = "fusegate gate"

    def __init__(self, program, scratch):
        self.program = str(program)
        self.scratch = pathlib.Path(scratch)
        self.texts = {}  # an entry's text is written in many comparisons

    def slower(self, draw, slowed=(), factor=1.0):
        """The benchmarks called regressions where those in `slowed` take `factor` times as long. At first sight: of
        fewer than four processes a side the gate asks fresh ones to confirm it, and there are none."""
        with tempfile.TemporaryDirectory(dir=self.scratch) as folder:
            baseline = [self._write(folder, f"b{i}", one, (), 1.0) for i, one in enumerate(draw.baseline)]
            candidate = [self._write(folder, f"c{i}", one, slowed, factor) for i, one in enumerate(draw.candidate)]
            answer = pathlib.Path(folder) / "gate.answer"
            done = subprocess.run([self.program, "gate", "--baseline", *baseline, "--candidate", *candidate,
                                   "--json", str(answer)], capture_output=True, text=True, check=False)
            if not answer.is_file():
                raise InputError(f"{self.program}: exit code {done.returncode}: {done.stderr.strip()}")
            result = json.loads(answer.read_text(encoding="utf-8"))
        if done.returncode not in (0, 1, CANNOT_JUDGE) or not result["verdicts"]:
            raise InputError(f"{self.program}: {result['headline']}")
        return {row["benchmark"] for row in result["verdicts"] if row["first_sight"] == "regression"}

    def _write(self, folder, name, invocation, slowed, factor):
        entries = [self._text(invocation, benchmark, factor if benchmark in slowed else 1.0)
                   for benchmark in invocation.entries]
        path = pathlib.Path(folder) / f"{name}.json"
        path.write_text(f'{{"context": {json.dumps(invocation.context)}, "benchmarks": [\n' +
                        ",\n".join(entries) + "\n]}\n", encoding="utf-8")
        return str(path)

    def _text(self, invocation, benchmark, factor):
        key = (invocation.source, benchmark, factor)
        if key not in self.texts:
            self.texts[key] = ",\n".join(json.dumps(_slowed(entry, factor)) for entry in invocation.entries[benchmark])
        return self.texts[key]


def _slowed(entry, factor):
    """The clock stays: cycles are time x clock, and so grow alike. Without the identity: all processes did
    equal work, which is never called, and the rules are to be seen at work."""
    details = {name: value for name, value in entry.get("details", {}).items() if name != "identity"}
    return {**entry, "details": details, "real_time": entry["real_time"] * factor,
            "cpu_time": entry["cpu_time"] * factor}
