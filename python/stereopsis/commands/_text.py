"""Tables, files of JSON and messages of subcommands."""

import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from .. import _native


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


def note(text: str) -> None:
    print("stereopsis:", text, file=sys.stderr)
