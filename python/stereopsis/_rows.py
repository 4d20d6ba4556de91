"""The alignment of rows: how right images are aligned before they are matched."""

from __future__ import annotations

import statistics
from typing import Any, NamedTuple

from . import _native, _options
from ._errors import CallError
from ._native import RowAlignment, RowEstimate, RowFilter, RowMeasurement

AlignRows = str | RowAlignment | RowEstimate


class RowSettings(NamedTuple):
    """A setting of a matcher. `fixed` is the alignment of all pairs; None: each pair has an alignment of its own."""

    is_off: bool
    fixed: RowAlignment | None

    @property
    def is_auto(self) -> bool:
        return not self.is_off and self.fixed is None


def row_settings(given: AlignRows, name: str = "align_rows") -> RowSettings:
    """Reads `align_rows` of a function, or the option `name` of a subcommand. Raises CallError."""
    if isinstance(given, (RowAlignment, RowEstimate)):
        return RowSettings(False, estimate_of(given).plane)
    if not isinstance(given, str):
        return RowSettings(*_native.row_settings(_options.shown(given), name))  # raises the error that says what is allowed
    return RowSettings(*_native.row_settings(_options.text(name, given), name))


def checked_rows(given: str, name: str) -> AlignRows:
    """Returns `align_rows` of a Matcher for an option or a parameter with this name. Reads the file if the option names one. Raises CallError."""
    return row_settings(given, name).fixed or given


def aligned(left: Any, right: Any, settings: RowSettings, bit_depth: int) -> Any:
    """Returns the right image with aligned rows, for matchers that get images as they should be matched; itself if its rows stay."""
    rows = settings.fixed
    if settings.is_auto:
        rows = _native.estimate_row_alignment(left, right, bit_depth=bit_depth).alignment
    return right if rows is None else _native.align_rows(right, rows, None, bit_depth, None, (0, 0))[0]


def as_json(rows: RowEstimate | None) -> dict[str, object] | None:
    """Returns the rows of a pair as the reports have them."""
    if rows is None:
        return None
    plane = {name: getattr(rows.plane, name) for name in ("rms", "offset", "roll", "zoom", "keystone")}
    return {"aligned": rows.alignment is not None, "reason": rows.reason, **plane, "field": rows.plane.field, "points": rows.tracks}


def text_of(a: RowAlignment) -> str:
    """Returns an alignment as --align-rows reads it."""
    values = [a.offset, a.roll, a.zoom, a.keystone]
    if a.field:
        values += [len(a.field[0]), len(a.field), *(knot for row in a.field for knot in row)]
    return ",".join(repr(value) for value in values)


def short_text(rows: RowEstimate | None) -> str:
    """Returns what was done about the rows of a pair, as the viewer and the nodes show it; "" if the rows were not estimated."""
    if rows is None or rows.alignment is None:
        return "" if rows is None else rows.sentence
    field = rows.alignment.field
    of_field = f", field of {len(field[0])}×{len(field)} knots" if field else ""
    return f"rows aligned: {rows.alignment.rms:.2f} px, roll {rows.alignment.roll:.2f} px{of_field}"


def summary_of(rows: list[dict[str, object]]) -> str:
    """Returns how many of the pairs with these rows were aligned, and by how much; "" if none was."""
    rms = [float(str(one["rms"])) for one in rows if one["aligned"]]
    return f"rows of {len(rms)} of {len(rows)} pairs aligned (median {statistics.median(rms):.2f} px)" if rms else ""


def estimate_of(given: RowAlignment | RowEstimate) -> RowEstimate:
    """Returns the estimate that stands for a given alignment. Rows that should not be aligned move by 0 pixels."""
    if isinstance(given, RowEstimate):
        return _native.given_rows(given.alignment or RowAlignment())
    if not isinstance(given, RowAlignment):
        raise CallError(
            f"align_rows={_options.shown(given)} is not allowed; give a RowAlignment, or the result of st.estimate_row_alignment(left, right)"
        )
    return _native.given_rows(given)


def rows_of(
    pair: _native.Pair,
    settings: RowSettings,
    rectification: _native.Rectification | None,
    sequence: RowFilter | None,
    measured: RowMeasurement | None = None,
) -> RowEstimate | None:
    """Returns the rows of a pair on the host: the given ones, those that the filter of a sequence finds, or those of the pair by itself. Returns
    None if its images cannot be compared. `measured` has the rows if they are measured already.
    """
    if settings.fixed is not None:
        return _native.given_rows(settings.fixed)
    if sequence is None:
        return pair.estimated_rows(rectification)
    measured = pair.measured_rows(rectification) if measured is None else measured
    return None if measured is None else sequence.next(measured)
