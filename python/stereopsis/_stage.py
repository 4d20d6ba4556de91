"""What a stage of one's own is called with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class StageCall:
    """NumPy arrays on the CPU, exporters of DLPack on a GPU. They are there during the call alone.

    reference, other   the pair as the method sees it; the reference is the left view, or, where a filter needs the right
                       view's own costs, the right one (from_right); (h, w) or (h, w, 3)
    mask_reference, mask_other   (h, w) uint8, 0 where a pixel is not usable; None where there are no masks
    costs              (h, w, count): those that a filter reads
    made               (h, w, count): to be written, by costs and filters. Candidate k of the pixel (y, x) of the reference is
                       (y, x − first − k) of the other; low is good, and 65535, NaN and infinity are no candidates
    disparity, validity   of a refinement, read and written: (h, w) float32 with NaN where invalid, and uint8
    confidence         the same, where somebody wants it
    first, count       the range of disparities
    threads            of the CPU, as many as it may take
    stream             on a GPU: all work belongs there, behind what it was given; None on the CPU
    """

    reference: Any
    other: Any
    mask_reference: Any
    mask_other: Any
    costs: Any
    made: Any
    disparity: Any
    validity: Any
    confidence: Any
    first: int
    count: int
    from_right: bool
    threads: int
    stream: int | None
