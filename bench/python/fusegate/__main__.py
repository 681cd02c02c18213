"""`python -m fusegate`: the program fusegate. `run FILE_OR_MODULE ...` is an old name of fusegate_bench."""

import sys

from . import gate_program, program


def main(arguments: list[str]) -> int:
    is_old_run = arguments[:1] == ["run"] and len(arguments) > 1 and not arguments[1].startswith("-")
    return program.command(arguments[1:]) if is_old_run else gate_program.main()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
