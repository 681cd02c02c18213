"""fusegate on the run files of bench/peers, made on a fake GPU: alone, and as one run with fusegate_bench's."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "peers"))

import peers  # noqa: E402: only on that path
from fakes import fake_gpu  # noqa: E402
from fusegate.measuring.fakes import FakeDevice, FakeMeter  # noqa: E402

PROGRAM = os.environ["FUSEGATE_PROGRAM"]
PEERS = ("cudnn", "liger", "quack", "quack_both", "quack_concat", "quack_concat_both", "torch_compile",
         "torch_compile_max_autotune", "torch_eager")
PROBLEM = "bf16/batch:64/seq:128/dim:768/hidden:3072"


class PeersRunFileTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.run_folder = pathlib.Path(folder.name) / "run"
        self.markdown = pathlib.Path(folder.name) / "report.md"

    def measure(self, file_name, error=0.001, call_ns=2000.0):
        device, meter = FakeDevice(error), FakeMeter(call_ns)
        path = self.run_folder / file_name
        with fake_gpu(device, meter):
            peers.main(["--problem=64,128,768,3072", "--operation=geglu_mlp", "--samples=4", "--places=2",
                        "--idle-us=0", f"--out={path}"])
        return path

    def fusegate(self, *arguments):
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=60,
                              check=False)

    def test_shows_time_launches_and_rates(self):
        self.measure("1.json")
        result = self.fusegate("show", self.run_folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = {line.split()[0]: line.split()[1:] for line in result.stdout.splitlines() if "geglu_mlp/" in line}
        self.assertEqual(sorted(rows), [f"geglu_mlp/{name}/{PROBLEM}" for name in PEERS])
        for cells in rows.values():
            self.assertEqual(cells[:2], ["2.000", "us"])
            self.assertIn("4", cells, "launches")

    def test_gates_one_run_of_peers_by_another(self):
        for number in (1, 2, 3):
            self.measure(f"{number}.json")
            self.measure(f"../base/{number}.json", call_ns=2000.2)
        base = self.run_folder.parent / "base"
        result = self.fusegate("gate", "--baseline", base, "--candidate", self.run_folder)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn(f"{len(PEERS)} unchanged", result.stdout)

    def test_a_failed_peer_is_shown_as_failed(self):
        self.measure("1.json", error=0.5)
        self.assertIn("wrong result: relative error 5.00e-01", self.fusegate("show", self.run_folder).stdout)

    def test_reports_peers_beside_fusegate_bench_in_one_run(self):
        ours = json.loads(self.measure("1.json").read_text(encoding="utf-8"))
        del ours["context"]["fusegate"]["libraries"]
        ours["context"]["fusegate"]["protocol"]["layout"] = "numbered"
        ours["benchmarks"] = [
            {**entry, **{key: entry[key].replace("liger", "fused_epilogue") for key in ("name", "run_name")}}
            for entry in ours["benchmarks"] if "liger" in entry["name"]]
        (self.run_folder / "1.json").write_text(json.dumps(ours), encoding="utf-8")
        self.measure("peers-1.json")
        result = self.fusegate("report", "--candidate", self.run_folder, "--markdown", self.markdown)
        self.assertEqual(result.returncode, 0, result.stderr)
        text = self.markdown.read_text(encoding="utf-8")
        for name in ("fused_epilogue", *PEERS):
            self.assertIn(f"geglu_mlp/{name}/{PROBLEM}", text)
