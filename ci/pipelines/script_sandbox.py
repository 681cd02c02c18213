"""A copy of our shell scripts in a folder of their own, with nothing but fakes and basic tools on PATH."""

import os
import pathlib
import shutil
import subprocess
import tempfile

CI = pathlib.Path(__file__).resolve().parents[1]
BASIC_TOOLS = """basename bash cat chmod cmp cp cut date diff dirname env false flock git grep head iconv jq ldconfig ln ls mkdir mktemp mv
    nproc printf rm sed sha256sum sleep sort tail tee timeout touch tr true uname unzip""".split()


# As fusegate codes-diff: leaves its JSON where there is a FAKE_GPU.
FAKE_CODES_DIFF = """
while [[ $# -gt 0 ]]; do
  case $1 in
    --json) [[ ${FAKE_GPU:-} ]] && printf '{\\n "exit_code": 1,\\n "gpu": "%s",\\n "kernels": 3\\n}\\n' "$FAKE_GPU" >"$2" ;;
    --markdown) echo "**what changed**" >"$2" ;;
  esac
  shift
done
exit ${FAKE_CODE:-1}
"""


class Sandbox:
    """root is the fake checkout; bin the only folder on PATH; calls() what the fakes were called with."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self._folder.name) / "checkout"
        self.bin = pathlib.Path(self._folder.name) / "bin"
        self._calls = pathlib.Path(self._folder.name) / "calls"
        self.environment = {"PATH": str(self.bin), "HOME": self._folder.name, "CALLS": str(self._calls),
                            "FUSEGATE_GPU": "off", "LC_ALL": "C.UTF-8"}
        self.bin.mkdir()
        (self.root / "ci").mkdir(parents=True)
        for script in CI.glob("*.sh"):
            shutil.copy(script, self.root / "ci")
        for folder in ("action", "pipelines"):
            shutil.copytree(CI / folder, self.root / "ci" / folder, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
        for tool in BASIC_TOOLS:
            found = shutil.which(tool, path=f"{os.environ['PATH']}:/sbin:/usr/sbin")
            if found:
                (self.bin / tool).symlink_to(found)

    def close(self):
        self._folder.cleanup()

    def fake(self, name, body="", folder=None):
        """A program that notes its call and then runs `body`, a piece of bash."""
        path = (folder or self.bin) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_text(f'#!/bin/bash\necho "{name} $*" >>"$CALLS"\n{body}\n')
        path.chmod(0o755)
        return path

    def calls(self):
        return self._calls.read_text().splitlines() if self._calls.exists() else []

    def forget_calls(self):
        self._calls.unlink(missing_ok=True)

    def run(self, script, *arguments, **environment):
        """In a process group of its own, so that a Ctrl-C in a test stays in it."""
        return subprocess.run([self.root / "ci" / script, *arguments], env={**self.environment, **environment},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False,
                              start_new_session=True)
