"""python -m stereopsis: the command, with the subcommands of the package."""

from __future__ import annotations

import os
import pathlib
import sys
from typing import NoReturn

PROGRAM = pathlib.Path(__file__).parent / "bin" / "stereopsis"


def program(arguments: list[str]) -> NoReturn:
    """The compiled command in the place of this process; what is Python's it hands on to this interpreter."""
    os.environ["STEREOPSIS_PYTHON"] = sys.executable
    os.execv(PROGRAM, ["stereopsis", *arguments])


def main(arguments: list[str] | None = None) -> int:
    if arguments is None:
        arguments = sys.argv[1:]
    from . import commands  # the rest of this file is fast

    if not arguments or arguments[0] not in commands.names():
        program(arguments)
    from ._errors import Error

    try:
        return commands.run(arguments[0], arguments[1:])
    except Error as error:
        print("stereopsis:", error, file=sys.stderr)
        return commands.exit_code(error)
    except OSError as error:  # a file error that no code handled
        print("stereopsis:", error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
