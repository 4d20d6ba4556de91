#!/usr/bin/env python3
"""Writes the fields of outputs into the public headers and the Python package, from the table in stereopsis/argument_rows.hpp.

Usage: generate_outputs.py [--check]. With --check it changes nothing, and exits with 1 if a file is not up to date.
"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path
from typing import Callable, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
BEGIN, END = "outputs, written by ./dev outputs", "end of the outputs"
ELEMENTS = {"f32": "float", "u8": "std::uint8_t", "u16": "std::uint16_t"}


class Row(NamedTuple):
    name: str
    field: str
    kind: str
    type: str
    channels: int
    want_bit: int
    flag: str
    description: str

    @property
    def member(self) -> str:
        """The struct's member: `probed` for probed[0]."""
        return self.field.split("[")[0]

    @property
    def is_typed(self) -> bool:
        return self.kind in ("map", "path_costs")


def read_table() -> list[Row]:
    text = (ROOT / "include/stereopsis/argument_rows.hpp").read_text()
    table = text[text.index("#define STEREOPSIS_OUTPUTS(X)") : text.index("// clang-format on")].replace("\\\n", "\n")
    rows = []
    for match in re.finditer(r'^\s*X\(([^"]*)"([^"]*)"\)', table, re.MULTILINE):
        name, field, kind, type_, channels, _, bit, flag = [part.strip() for part in match[1].split(",")[:8]]
        rows.append(Row(name, field, kind, type_, int(channels), int(bit), flag, match[2]))
    return rows


def commented(rows: list[Row], declaration: Callable[[Row], str], indent: str = "  ") -> list[str]:
    """The declarations of distinct members, each below its description."""
    lines: list[str] = []
    seen: set[str] = set()
    for row in rows:
        if row.member in seen:
            continue
        seen.add(row.member)
        lines += textwrap.wrap(row.description, 120, initial_indent=f"{indent}// ", subsequent_indent=f"{indent}// ")
        lines.append(f"{indent}{declaration(row)}")
    return lines


def member_of(owner: str, any_type: str, row: Row) -> str:
    if row.kind == "probe":
        return f"std::array<{any_type}, 3> probed;"
    return f"{owner}<{ELEMENTS[row.type]}> {row.member};" if row.is_typed else f"{any_type} {row.member};"


def flags(rows: list[Row], prefix: str, by_hand: str = "") -> list[str]:
    """The members that request outputs, without the one that is declared by hand elsewhere in the struct."""
    named = [row for row in rows if re.fullmatch(rf"&p\.{re.escape(prefix)}\w+", row.flag) and row.name != by_hand]
    declarations = {row.name: f"  bool want_{row.name} = false;" for row in named}
    width = max(map(len, declarations.values()))
    return [f"{line.ljust(width)}  // requests the output `{name}`" for name, line in declarations.items()]


def c_bits(rows: list[Row]) -> list[str]:
    bits = {row.want_bit: row for row in rows if row.want_bit}
    lines = []
    for bit in sorted([*bits, 4]):
        name = "TIMES" if bit == 4 else bits[bit].name.upper()
        what = "Times of the stages. The CPU always returns them." if bit == 4 else bits[bit].description
        comma = "," if bit != max(bits) else ""
        lines.append(f"  SP_WANT_{name} = {bit}{comma} /* {what} */")
    return lines


def c_fields(rows: list[Row]) -> list[str]:
    return [f"  const sp_image* {row.member}; /* {row.description} */" for row in rows if in_c(row)]


def in_c(row: Row) -> bool:
    return row.kind in ("map", "picture", "volume")


def python_names(rows: list[Row]) -> list[str]:
    return [f'    "{row.name}",' for row in rows if in_c(row)]


def python_fields(rows: list[Row]) -> list[str]:
    types = {"f32": "Floats", "u8": "npt.NDArray[np.uint8]"}
    lines = []
    for row in rows:
        if not in_c(row):
            continue
        type_ = types[row.type] if row.kind == "map" else "Array"
        lines.append(f"    {row.name}: {type_}{'' if row.flag == 'nullptr' else ' | None'}")
        lines.append(f'    """{row.description}"""')
    return lines


def blocks(rows: list[Row]) -> dict[str, list[list[str]]]:
    """The generated lines of each file, in the order of its blocks."""
    on_device = [row for row in rows if row.kind in ("map", "volume")]
    return {
        "include/stereopsis/matcher.hpp": [
            flags(rows, "geometry.", by_hand="rectified"),  # initialisers name the members in their order
            flags(rows, "volumes."),
            flags(rows, ""),
            commented(rows, lambda row: member_of("Image", "AnyImage", row)),
            commented(rows, lambda row: member_of("ImageView", "AnyOutputView", row)),
        ],
        "include/stereopsis/device_image.hpp": [commented(on_device, lambda row: f"DeviceImageView {row.member} = {{}};")],
        "include/stereopsis.h": [c_bits(rows), c_fields(rows)],
        "python/stereopsis/_result.py": [python_names(rows), python_fields(rows)],
    }


def rewritten(text: str, generated: list[list[str]], path: str) -> str:
    found = list(re.finditer(rf"(?m)^.*{re.escape(BEGIN)}.*\n((?:.*\n)*?)^.*{re.escape(END)}", text))
    if len(found) != len(generated):
        raise SystemExit(f"{path} has {len(found)} blocks of outputs; {len(generated)} are written to it")
    for match, lines in reversed(list(zip(found, generated))):
        text = text[: match.start(1)] + "".join(line + "\n" for line in lines) + text[match.end(1) :]
    return text


def main() -> int:
    check = sys.argv[1:] == ["--check"]
    stale = []
    for name, generated in blocks(read_table()).items():
        path = ROOT / name
        text = path.read_text()
        new = rewritten(text, generated, name)
        if new == text:
            continue
        stale.append(name)
        if not check:
            path.write_text(new)
    if check and stale:
        print(f"{', '.join(stale)}: not as the table of outputs says; run ./dev outputs")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
