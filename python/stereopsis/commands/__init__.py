"""Subcommands of `stereopsis` that are Python's: a module each, named as the subcommand.

A module has

    help = "One line, for help, man page and completions"     (a literal of one line: the build reads it, too)
    extra = "view"                                             (of the package, that brings what it needs; or left out)

    def add_arguments(parser: argparse.ArgumentParser) -> None
    def run(arguments: argparse.Namespace) -> int | None       (the exit code; None is 0)

and is found by being here: `stereopsis NAME …` hands on to it, `python -m stereopsis NAME …` calls it. What only some need
(websockets, rosbags) is imported inside `run`, so that `--help` works without. Results go to stdout, the rest to
stderr; what is wrong with a call is raised as stereopsis.CallError (exit code 2), what fails as another stereopsis.Error (1).
Names that begin with an underscore are no subcommands.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
from types import ModuleType

from .._errors import CallError, Error, UnsupportedError
from .._native import version


def names() -> list[str]:
    """The subcommands there are."""
    return sorted(found.name for found in pkgutil.iter_modules(__path__) if not found.name.startswith("_"))


def parser_of(name: str, module: ModuleType) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"stereopsis {name}", description=module.help + ".", allow_abbrev=False)
    module.add_arguments(parser)
    return parser


def run(name: str, arguments: list[str]) -> int:
    """Runs one, and returns its exit code: 0 done, 1 the work failed, 2 the call was wrong. Raises Error."""
    module = importlib.import_module(f".{name}", __package__)
    try:
        parsed = parser_of(name, module).parse_args(arguments)
        return int(module.run(parsed) or 0)
    except ModuleNotFoundError as missing:
        extra = getattr(module, "extra", None)
        if extra is None or (missing.name or "").split(".")[0] == "stereopsis":
            raise
        raise UnsupportedError(
            f"{name} needs the package {missing.name}, which is not installed; run, in a checkout, python -m pip install "
            f"'.[{extra}]', or install the wheel file with this extra: 'dist/stereopsis-{version}-….whl[{extra}]'"
        ) from missing


def exit_code(error: Error) -> int:
    return 2 if isinstance(error, CallError) else 1
