"""Finds search ranges in a coarse pass, which matches the reduced pair."""

import numpy as np

from .._errors import CallError
from .._matching import match
from .manifest import Input
from .rasters import read
from .settings import Settings
from .spans import Span

MARGIN = 2  # margin, in pixels of the reduced images
STEP = 16  # ranges end at multiples of this number of disparities, so that tiles share plans
TAIL = 0.2  # percentage of pixels that are left out at each end


class Coarse:
    def __init__(self, left: Input, right: Input, settings: Settings) -> None:
        if settings.coarse < 2:
            raise CallError(f"--coarse {settings.coarse} is not allowed; it must be at least 2")
        self._factor, self._given = settings.coarse, settings.disparities
        picture = left.picture
        rows, columns = Span(0, picture.height), Span(0, picture.width)
        (a, mask_a), (b, mask_b) = (read(i.path, i.picture, rows, columns, self._factor) for i in (left, right))
        searched = None
        if self._given is not None:
            searched = self._given[0] // self._factor, -(-self._given[1] // self._factor) + 1
        bit_depth = settings.bit_depth or picture.bit_depth
        align_rows = "off" if settings.align_rows == "off" else "auto"
        self._map = match(a, b, searched, mask_left=mask_a, mask_right=mask_b, bit_depth=bit_depth, align_rows=align_rows).disparity

    def range_of(self, rows: Span, columns: Span) -> tuple[int, int]:
        """Returns the search range in this part of the coarse map, with a margin. If no pixel of the part is valid, returns the range of
        the whole map.
        """
        f = self._factor
        part = self._map[rows.first // f : rows.end // f + 1, columns.first // f : columns.end // f + 1]
        found = part[np.isfinite(part)]
        if found.size == 0:
            found = self._map[np.isfinite(self._map)]
        if found.size == 0:
            raise CallError("the coarse pass found no disparity; give --disparities")
        low, high = np.percentile(found, [TAIL, 100 - TAIL])
        first = int(np.floor((low - MARGIN) * f / STEP)) * STEP
        end = int(np.ceil((high + MARGIN) * f / STEP)) * STEP
        if self._given is not None:
            first, end = max(first, self._given[0]), min(end, self._given[1])
        return first, max(end, first + 1)
