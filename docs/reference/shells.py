"""What bash and zsh really offer for a line: their own completion, run with our file."""

import os
import pathlib
import pty
import re
import select
import subprocess
import tempfile
import time

BASH = r"""
source "$1"
shift
complete -p "${1##*/}" >/dev/null || exit 3
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
_fusegate_complete
printf '%s\n' "${COMPREPLY[@]}"
"""

# compadd is what every offer goes through. A call that asks what would match (-O, -A, -D) offers nothing.
ZSHRC = r"""
PS1= RPS1= PROMPT_EOL_MARK=
unsetopt beep
fpath=($COMPLETION $fpath)
autoload -Uz compinit && compinit -u -D
capture() {
  compadd() {
    local -a found
    if (( ! ${@[(I)-[OAD]]} )); then
      builtin compadd -O found "$@"
      print -rl -- $found >>$OFFERED
    fi
    builtin compadd "$@"
  }
  _main_complete
  unfunction compadd
  compstate[insert]= compstate[list]=
  print -r -- '= end' >>$OFFERED
}
zle -C capture complete-word capture
bindkey '^T' capture
print -r -- '= ready' >>$OFFERED
"""


def bash_offers(completion, line, folder):
    """Words as bash cuts them: a line that ends in a space has an empty last word."""
    words = [word for word in re.split(r"(=)|\s+", line) if word is not None]
    ended = subprocess.run(["bash", "--norc", "-c", BASH, "bash", str(completion), *words], cwd=folder, text=True,
                           capture_output=True, timeout=30, check=False)
    # compopt is only for a shell that a person types in.
    if ended.returncode != 0 or ended.stderr:
        raise AssertionError(f"bash ends with {ended.returncode} for '{line}': {ended.stderr}")
    return sorted(set(ended.stdout.split()))


class Zsh:
    """One interactive zsh, in a terminal of its own, for all lines of a test."""

    def __init__(self, completion_folder, folder):
        self.scratch = tempfile.TemporaryDirectory()
        home = pathlib.Path(self.scratch.name)
        (home / ".zshrc").write_text(ZSHRC)
        self.offered = home / "offered"
        self.offered.touch()
        environment = os.environ | {"ZDOTDIR": str(home), "COMPLETION": str(completion_folder), "TERM": "dumb",
                                    "OFFERED": str(self.offered), "COLUMNS": "200"}
        self.terminal, inner = pty.openpty()
        self.process = subprocess.Popen(["zsh", "-i"], cwd=folder, env=environment, stdin=inner, stdout=inner,
                                        stderr=inner, start_new_session=True)
        os.close(inner)
        self.seen = 0
        self._new_lines("= ready")

    def offers(self, line):
        os.write(self.terminal, b"\x15" + line.encode() + b"\x14")
        return sorted(set(self._new_lines("= end")))

    def _new_lines(self, last, limit_s=30):
        """What was written since, up to the line `last`. What the terminal shows is read all the while, or zsh would wait."""
        shown, end = b"", time.monotonic() + limit_s
        while time.monotonic() < end:
            if select.select([self.terminal], [], [], 0.01)[0]:
                shown += os.read(self.terminal, 65536)
            lines = self.offered.read_text().split("\n")[self.seen:]
            if last in lines:
                self.seen += lines.index(last) + 1
                return [found for found in lines[:lines.index(last)] if found]
        raise AssertionError(f"zsh says nothing within {limit_s} s: {shown.decode(errors='replace')}")

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.terminal)
        self.scratch.cleanup()
