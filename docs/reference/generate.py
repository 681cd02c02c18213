#!/usr/bin/env python3
"""Makes the reference of the programs: Markdown, manual pages, completion for bash and zsh.

    generate.py --fusegate PROGRAM --fusegate-bench PROGRAM --suites FOLDER --version 1.0.0 --date 2026-01-31 --out FOLDER

FOLDER gets markdown/*.md, man/*.1, bash/fusegate, bash/fusegate_bench and zsh/_fusegate. Ends with 2 where a program does
not tell, or tells what is not understood.
"""

import argparse
import pathlib
import sys

from bash_completion import bash_completion
from commands_page import commands_page
from man_page import EXIT_STATUS, MEASURING_STATUS, ManPages
from program_help import InputError, help_of
from zsh_completion import zsh_completion


def suites_in(folder):
    names = sorted(path.stem for path in pathlib.Path(folder).glob("*.json"))
    if not names:
        raise InputError(folder, "--suites", "holds no suite")
    return names


def reference(gate, bench, suites, version, date):
    """A dictionary from path to text."""
    files = {f"markdown/{program.name}.md": commands_page(program) for program in (gate, bench)}
    for program, status, other in ((gate, EXIT_STATUS, bench), (bench, MEASURING_STATUS, gate)):
        pages = ManPages(program, version, date, [other.name], status).pages()
        files |= {f"man/{name}": text for name, text in pages.items()}
    # bash looks for a file of the program's name, so there are two.
    for program in (gate, bench):
        files[f"bash/{program.name}"] = bash_completion([gate, bench], suites)
    files["zsh/_fusegate"] = zsh_completion([gate, bench], suites)
    return files


def write(files, out):
    for name, text in files.items():
        path = pathlib.Path(out) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for flag in ("--fusegate", "--fusegate-bench", "--suites", "--version", "--date", "--out"):
        parser.add_argument(flag, required=True)
    flags = parser.parse_args()
    try:
        gate, bench = help_of(flags.fusegate), help_of(flags.fusegate_bench)
        write(reference(gate, bench, suites_in(flags.suites), flags.version, flags.date), flags.out)
    except (InputError, OSError) as error:
        print(f"generate.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
