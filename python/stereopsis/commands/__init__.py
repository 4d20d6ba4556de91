"""Subcommands of `stereopsis` that are written in Python. Each is a module with the name of the subcommand.

A module has

    help = "One line, for help, man page and completions"     (a literal of one line: the build reads it, too)
    extra = "view"                                             (of the package, that brings what it needs; or left out)

    def add_arguments(parser: argparse.ArgumentParser) -> None
    def run(arguments: argparse.Namespace) -> int | None       (the exit code; None is 0)

The modules of this package are the subcommands: `stereopsis NAME …` and `python -m stereopsis NAME …` call `run`. Import optional
packages (websockets, rosbags) inside `run`, so that `--help` works without them. Results go to stdout, all other text to stderr.
A wrong call raises stereopsis.CallError (exit code 2), a failure another stereopsis.Error (exit code 1). Modules whose names
begin with an underscore are not subcommands.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import pkgutil
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any, NoReturn

from .._errors import CallError, Error, UnsupportedError
from .._native import version


def names() -> list[str]:
    """Returns the names of the subcommands."""
    return sorted(found.name for found in pkgutil.iter_modules(__path__) if not found.name.startswith("_"))


class _Parser(argparse.ArgumentParser):
    """Reports a wrong call in one sentence, as the compiled commands do."""

    def error(self, message: str) -> NoReturn:
        raise CallError(f"{message}; see `{self.prog} --help`")

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        parsed, unread = self.parse_known_args(args, namespace)
        if unread:
            raise CallError(f"unexpected argument '{unread[0]}'; see `{self.prog} --help`")
        return parsed

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        words = list(sys.argv[1:] if args is None else args)
        self._check_options(words)
        return super().parse_known_args(words, namespace)

    def _check_options(self, words: list[str]) -> None:
        """Rejects unknown options before argparse reads their values as arguments. An action's options belong to its own parser."""
        known = self._option_string_actions
        actions = {name for action in self._actions if isinstance(action, argparse._SubParsersAction) for name in action.choices}
        for word in words:
            option = word.split("=")[0]
            if word == "--" or word in actions or (option in known and known[option].nargs == argparse.REMAINDER):
                return
            if word.startswith("--") and option not in known:
                near = difflib.get_close_matches(option, known, 1)
                hint = f" (did you mean '{near[0]}'?)" if near else ""
                raise CallError(f"{self.prog} has no option '{option}'{hint}; `{self.prog} --help` lists all options")


def parser_of(name: str, module: ModuleType) -> argparse.ArgumentParser:
    parser = _Parser(prog=f"stereopsis {name}", description=module.help + ".", allow_abbrev=False)
    module.add_arguments(parser)
    return parser


def run(name: str, arguments: list[str]) -> int:
    """Runs a subcommand and returns its exit code: 0 if it succeeded, 1 if the work failed, 2 if the call was wrong. Raises
    Error.
    """
    module = importlib.import_module(f".{name}", __package__)
    try:
        parsed = parser_of(name, module).parse_args(arguments)
        return int(module.run(parsed) or 0)
    except ModuleNotFoundError as missing:
        extra = getattr(module, "extra", None)
        if extra is None or (missing.name or "").split(".")[0] == "stereopsis":
            raise
        raise UnsupportedError(
            f"{name} requires the package {missing.name}, which is not installed; in a checkout, run python -m pip install "
            f"'.[{extra}]', or install the wheel file with this extra: 'dist/stereopsis-{version}-….whl[{extra}]'"
        ) from missing


def exit_code(error: Error) -> int:
    return 2 if isinstance(error, CallError) else 1
