"""Subcommands of `stereopsis` that are written in Python. Each subcommand is a module of the same name.

A module has

    help = "One line, for help, man page and completions"     (a literal of one line: the build reads it, too)
    extra = "view"                                             (of the package, that brings what it needs; or left out)

    def add_arguments(parser: argparse.ArgumentParser) -> None
    def run(arguments: argparse.Namespace) -> int | None       (the exit code; None is 0)

The modules of this package are the subcommands: `stereopsis NAME …` and `python -m stereopsis NAME …` call `run`. Import optional
packages (websockets, rosbags) inside `run`, so that `--help` works without them. Results go to stdout, and all other text goes to stderr.
A wrong call raises stereopsis.CallError (exit code 2). Any other failure raises another stereopsis.Error (exit code 1). Modules whose names
begin with an underscore are not subcommands; `_match`, `_evaluate` and `_bench` run these commands for methods from outside the library.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any, NoReturn

from . import _help
from .._errors import CallError, Error, UnsupportedError
from .._native import version
from .._options import is_external
from .._pipeline import is_external_file

EXTERNAL = ("match", "evaluate", "bench")  # compiled subcommands that this package runs for networks and programs


def names() -> list[str]:
    """Returns the names of the subcommands."""
    return sorted(found.name for found in pkgutil.iter_modules(__path__) if not found.name.startswith("_"))


def module_of(arguments: Sequence[str]) -> str | None:
    """Returns the module that runs these arguments: that of a subcommand or, for a call of a compiled subcommand with a network or a
    program as its --method or in the --pipeline of match, the module of that name after an underscore. Returns None for calls of the
    compiled command.
    """
    if not arguments or arguments[0] in names():
        return arguments[0] if arguments else None
    if arguments[0] not in EXTERNAL:
        return None
    external = any(is_external(method) for method in _values_of("--method", arguments))
    external |= arguments[0] == "match" and any(is_external_file(file) for file in _values_of("--pipeline", arguments))
    return f"_{arguments[0]}" if external else None


def _values_of(option: str, arguments: Sequence[str]) -> list[str]:
    """Returns the values of an option, which are words of their own or follow "="."""
    values = [after for word, after in zip(arguments, arguments[1:], strict=False) if word == option]
    return values + [word.partition("=")[2] for word in arguments if word.startswith(f"{option}=")]


class _Parser(argparse.ArgumentParser):
    """Reports a wrong call in one sentence, and prints its help, as the compiled commands do."""

    meant: Mapping[str, str] = {}  # names that other programs use, and the option to suggest for each
    not_here: Mapping[str, str] = {}  # options of the compiled command that this one rejects, and the reason

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "add_help": False})
        self.add_argument("-h", "--help", action="help", help="Print this help and exit")
        self.add_argument("--color-output", choices=("auto", "always", "never"), default="auto", action=_help.ColorOutput, metavar="WHEN",
            help="Colour of the text on the terminal: auto, always or never [auto: without NO_COLOR]")  # fmt: skip

    def format_help(self) -> str:
        return _help.format_help(self)

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
        """Rejects unknown options before argparse reads their values as arguments. The options of an action belong to the parser of that
        action.
        """
        known = self._option_string_actions
        actions = {name for action in self._actions if isinstance(action, argparse._SubParsersAction) for name in action.choices}
        for word in words:
            option = word.split("=")[0]
            if word == "--" or word in actions or (option in known and known[option].nargs == argparse.REMAINDER):
                return
            if option in self.not_here:
                raise CallError(f"{self.prog} has no {option}: {self.not_here[option]}")
            if word.startswith("--") and option not in known:
                near = self.meant.get(option) or _nearest(option, known)
                hint = f" (did you mean '{near}'?)" if near else ""
                raise CallError(f"{self.prog} has no option '{option}'{hint}; `{self.prog} --help` lists all options")


def parser_of(name: str, module: ModuleType) -> argparse.ArgumentParser:
    shown = f"{name[1:]} --method onnx:FILE" if name.startswith("_") else name
    parser = _Parser(prog=f"stereopsis {shown}", description=module.help + ".", allow_abbrev=False)
    parser.meant, parser.not_here = getattr(module, "meant", {}), getattr(module, "not_here", {})
    module.add_arguments(parser)
    return parser


def _nearest(option: str, known: Iterable[str]) -> str | None:
    """Returns the known option that is nearest to `option`, or None. As in the compiled commands, a third of the letters may differ; otherwise
    it is the shortest option that begins with `option`.
    """
    names = [name for name in known if name.startswith("--")]
    distances = {name: _distance(option.lower(), name) for name in names}
    near = min(names, key=distances.__getitem__)
    if distances[near] <= (max(len(option), len(near)) - 2) // 3:
        return near
    begun = [name for name in names if len(option) >= 5 and name.startswith(option.lower())]
    return min(begun, key=len, default=None)


def _distance(first: str, second: str) -> int:
    """Returns the number of letters to insert, remove, replace or swap with a neighbour."""
    rows: list[list[int]] = [[*range(len(second) + 1)]]
    for i, a in enumerate(first):
        row = [i + 1]
        for j, b in enumerate(second):
            row.append(min(rows[i][j] + (a != b), row[j] + 1, rows[i][j + 1] + 1))
            if i and j and a == second[j - 1] and first[i - 1] == b:
                row[-1] = min(row[-1], rows[i - 1][j - 1] + 1)
        rows.append(row)
    return rows[-1][-1]


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
        name = name.lstrip("_")
        if extra is None or (missing.name or "").split(".")[0] == "stereopsis":
            raise
        raise UnsupportedError(
            f"{name} requires the package {missing.name}, which is not installed; in a checkout, run python -m pip install "
            f"'.[{extra}]', or install the wheel file with this extra: 'dist/stereopsis-{version}-….whl[{extra}]'"
        ) from missing


def exit_code(error: Error) -> int:
    return 2 if isinstance(error, CallError) else 1
