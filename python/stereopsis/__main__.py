"""Runs the command as `python -m stereopsis`, including the subcommands that this package implements."""

from __future__ import annotations

import os
import sys
from typing import NoReturn


def program(arguments: list[str]) -> NoReturn:
    """Replaces this process by the compiled command, which starts this interpreter for subcommands in Python."""
    from .commands import PROGRAMS

    os.environ["STEREOPSIS_PYTHON"] = sys.executable
    os.execv(PROGRAMS / "stereopsis", ["stereopsis", *arguments])


def main(arguments: list[str] | None = None) -> int:
    if arguments is None:
        arguments = sys.argv[1:]
    from . import commands  # imported here, because the compiled command does not need it

    if commands.has_outside_method(arguments):
        return commands.run_compiled(arguments)
    if not arguments or arguments[0] not in commands.names():
        program(arguments)
    from ._errors import Error
    from .commands import _help

    try:
        return commands.run(arguments[0], arguments[1:])
    except Error as error:
        print(_help.styled("error", "stereopsis:", sys.stderr), error, file=sys.stderr)
        return commands.exit_code(error)
    except OSError as error:  # an error of a file that no other code handled
        print("stereopsis:", error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
