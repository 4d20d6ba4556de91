"""Subcommands of `stereopsis` that are written in Python. Each subcommand is a module of the same name.

A module has

    help = "One line, for help, man page and completions"     (a literal of one line: the build reads it, too)
    extra = "view"                                             (of the package, that brings what it needs; or left out)

    def add_arguments(parser: argparse.ArgumentParser) -> None
    def run(arguments: argparse.Namespace) -> int | None       (the exit code; None is 0)

The modules of this package are the subcommands: `stereopsis NAME …` and `python -m stereopsis NAME …` call `run`. Import optional
packages (websockets, rosbags) inside `run`, so that `--help` works without them. Results go to stdout, and all other text goes to stderr.
A wrong call raises stereopsis.CallError (exit code 2). Any other failure raises another stereopsis.Error (exit code 1). Modules whose names
begin with an underscore are not subcommands.
"""

import argparse
import importlib
import os
import pkgutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from . import _help
from .. import _native, _opencv
from .._errors import CallError, Error, UnsupportedError
from .._external import method_on
from .._options import is_external
from .._pipeline import Pipeline
from .._program import end_programs

PROGRAMS = Path(__file__).parent.parent / "bin"  # the compiled command


def names() -> list[str]:
    """Returns the names of the subcommands."""
    return sorted(found.name for found in pkgutil.iter_modules(__path__) if not found.name.startswith("_"))


def run_compiled(arguments: list[str]) -> int:
    """Runs a compiled subcommand in this process, so that its methods may be networks and programs, and OpenCV is the module cv2. Returns its
    exit code.
    """
    provide_methods()
    return int(_native.run_command([os.fsencode(word) for word in arguments]))


def provide_methods() -> None:
    """Provides networks, programs and the module cv2 for the compiled code of subcommands."""
    _native.provide_methods(_method_of, end_programs, _opencv)


def _method_of(given: bytes, device: bytes, threads: int) -> tuple[Pipeline, str]:
    """Returns the pipeline of a network or a program, or of a pipeline file that names one, with the method on a device, and the device."""
    what = os.fsdecode(given)
    try:
        return placed(Pipeline(what) if is_external(what) else Pipeline.read(what), os.fsdecode(device), threads)
    except ModuleNotFoundError as missing:
        raise lacks("a network", "onnx", missing) from missing


def placed(pipeline: Pipeline, device: str, threads: int) -> tuple[Pipeline, str]:
    """Returns the pipeline with its method from outside the library on a device, and the name of the device. Without such a method, the
    name is empty.
    """
    if pipeline.external is None:
        return pipeline, ""
    method = method_on(pipeline.external, device, threads)
    return pipeline._with(method), str(getattr(method, "provider", "cpu"))


def lacks(what: str, extra: str, missing: ModuleNotFoundError) -> UnsupportedError:
    """Returns the error for a package that is not installed, and that an extra of this package brings."""
    return UnsupportedError(
        f"{what} requires the package {missing.name}, which is not installed; in a checkout, run python -m pip install "
        f"'.[{extra}]', or install the wheel file with this extra: 'dist/stereopsis-{_native.version}-….whl[{extra}]'"
    )


class _Parser(argparse.ArgumentParser):
    """Reports a wrong call in one sentence, and prints its help, as the compiled commands do."""

    meant: Mapping[str, str] = {}  # names that other programs use, and the option to suggest for each

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
            if word.startswith("--") and option not in known:
                near = self.meant.get(option) or _nearest(option, known)
                hint = f" (did you mean '{near}'?)" if near else ""
                raise CallError(f"{self.prog} has no option '{option}'{hint}; `{self.prog} --help` lists all options")


def parser_of(name: str, module: ModuleType) -> argparse.ArgumentParser:
    parser = _Parser(prog=f"stereopsis {name}", description=module.help + ".", allow_abbrev=False)
    parser.meant = getattr(module, "meant", {})
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
        if extra is None or (missing.name or "").split(".")[0] == "stereopsis":
            raise
        raise lacks(name, extra, missing) from missing


def exit_code(error: Error) -> int:
    return 2 if isinstance(error, CallError) else 1
