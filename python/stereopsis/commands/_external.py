"""Options, tables and files that `match`, `evaluate` and `bench` share if their method is a network or a program."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import _native
from .._errors import CallError

METHOD_HELP = "onnx:FILE, a network; or program:'CMD {left} {right} {out}'"
NO_REPORT = "the report contains only methods of the library; leave --html out, or the networks and programs"
SET_HELP = "Set the refinements after the method, such as refinements=left_right,speckle, or their parameters; repeatable"


class Once(argparse.Action):
    """An option that is given once. A second value would replace the first one silently."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option_string: str | None = None) -> None:
        first = getattr(namespace, self.dest)
        if first is not None:
            raise CallError(
                f"{option_string} is given twice, as {first} and {values}; give one method, or compare them with "
                f"`stereopsis bench --dataset DIR --method {first} --method {values}`"
            )
        setattr(namespace, self.dest, values)


def add_matching(add: Any) -> None:
    add("--device", default="auto", metavar="NAME", help="Device of the network: auto, cpu or cuda [auto]")
    add("--threads", type=int, default=0, metavar="N", help="Number of CPU threads [all]")


def settings_of(given: Sequence[str]) -> dict[str, str]:
    settings = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise CallError(f"--set {text} is not allowed; it must be NAME=VALUE")
        settings[name] = value
    return settings


def cell(value: float | None, decimals: int) -> str:
    return "–" if value is None or not math.isfinite(value) else f"{value:.{decimals}f}"


def print_table(rows: Sequence[Sequence[str]], left: Sequence[int] = (0,), rules: Sequence[int] = (1,)) -> None:
    """Prints rows of cells, with a rule before each row of `rules`. The columns of `left` are aligned to the left."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for number, row in enumerate(rows):
        if number in rules:
            print("─" * (sum(widths) + 2 * (len(widths) - 1)))
        cells = (text.ljust(width) if k in left else text.rjust(width) for k, (text, width) in enumerate(zip(row, widths, strict=True)))
        print("  ".join(cells).rstrip())


def write_json(file: str, content: object) -> None:
    """Writes a whole file of JSON. NaN becomes null."""
    _native.write_bytes(file, (json.dumps(finite(content), indent=2, ensure_ascii=False) + "\n").encode())


def finite(content: Any) -> Any:
    if isinstance(content, Mapping):
        return {name: finite(value) for name, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def check_json(file: str | None) -> None:
    """Rejects a file that cannot be written, before the work begins."""
    if file is not None and not Path(file).absolute().parent.is_dir():
        raise CallError(f"--json {file} is in a folder that does not exist; create it first")


def note(text: str) -> None:
    print("stereopsis:", text, file=sys.stderr)


def note_failures(failed: Sequence[Mapping[str, str]]) -> int:
    """Names the scenes that failed. Returns the exit code."""
    for one in failed:
        note(f"scene {one['name']}: {one['error']}")
    return 1 if failed else 0
