"""`python -m fusegate`: the program fusegate. `run FILE_OR_MODULE ...` is an old name of fusegate_bench."""

import sys

from .gate_program import main


def is_old_run(arguments: list[str]) -> bool:
    return arguments[:1] == ["run"] and len(arguments) > 1 and not arguments[1].startswith("-")


if __name__ == "__main__":
    if is_old_run(sys.argv[1:]):
        from .bench import command
        sys.exit(command(sys.argv[2:]))
    sys.exit(main())
