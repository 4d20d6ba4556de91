"""Runs the command as `python -m stereopsis`, including the subcommands that this package implements."""

import os
import signal
import sys
import threading
from typing import NoReturn


def program(arguments: list[str]) -> NoReturn:
    """Replaces this process by the compiled command, which starts this interpreter for subcommands in Python."""
    from .commands import PROGRAMS

    os.environ["STEREOPSIS_PYTHON"] = sys.executable
    os.execv(PROGRAMS / "stereopsis", ["stereopsis", *arguments])


def _leave_at_signals() -> None:
    """Lets SIGTERM and SIGHUP end the process as Ctrl-C does, so that programs end, and temporary files are removed."""

    def leave(number: int, frame: object) -> NoReturn:
        sys.exit(128 + number)

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is signal.SIG_DFL and threading.current_thread() is threading.main_thread():
            signal.signal(number, leave)


def main(arguments: list[str] | None = None, in_process: bool = False) -> int:
    """Runs a subcommand. The compiled command calls this function with `in_process` for calls that it hands on to the package."""
    if arguments is None:
        arguments = sys.argv[1:]
    from . import commands  # imported here, because the compiled command does not need it

    if not arguments or arguments[0] not in commands.names():
        if in_process:
            return commands.run_compiled(arguments)
        program(arguments)
    from ._errors import Error
    from .commands import _help

    _leave_at_signals()
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
