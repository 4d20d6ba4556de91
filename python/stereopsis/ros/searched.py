"""The fields of a DisparityImage that describe the search range."""

from __future__ import annotations

from dataclasses import dataclass

from .._pipeline import Pipeline
from .cameras import Cameras

SUBPIXEL = 1 / 256  # the step of KITTI's files, because floats have none


@dataclass(frozen=True)
class Searched:
    """The search range in disparities of the message, d = x_left − x_right − (cx_left − cx_right), so that Z = f·T / d.

    least, most   the search range; disparities below `least` are invalid
    window        (x, y, width, height) of the pixels with a candidate inside the right image
    """

    focal: float
    baseline: float
    shift: float  # cx_left − cx_right
    least: float
    most: float
    step: float
    window: tuple[int, int, int, int]

    @classmethod
    def of(cls, size: tuple[int, int], disparities: tuple[int, int], pipeline: Pipeline, cameras: Cameras | None) -> Searched:
        """Returns the search range of a matched pair. `focal` and `baseline` are 0 if the cameras are unknown, so that no depth can be
        computed.
        """
        first, last = disparities[0], disparities[1] - 1
        rig = None if cameras is None else cameras.rig
        shift = 0.0 if rig is None else rig.cx_left - rig.cx_right
        return cls(
            focal=0.0 if rig is None else rig.focal,
            baseline=0.0 if rig is None else rig.baseline,
            shift=shift,
            least=first - shift,
            most=last - shift,
            step=SUBPIXEL if _has_subpixels(pipeline) else 1.0,
            window=_window(size, first, last, _fills_borders(pipeline)),
        )


def _window(size: tuple[int, int], first: int, last: int, everywhere: bool) -> tuple[int, int, int, int]:
    width, height = size
    if everywhere:
        return 0, 0, width, height
    begin, end = max(0, first), min(width, width + last)
    return (begin, 0, end - begin, height) if begin < end else (0, 0, 0, 0)


def _has_subpixels(pipeline: Pipeline) -> bool:
    return pipeline.external is not None or any(slot.computes_subpixels for slot in pipeline.slots() if slot.enabled)


def _fills_borders(pipeline: Pipeline) -> bool:
    refinements = [slot for slot in pipeline.slots() if slot.is_refinement and slot.enabled]
    at_borders = any(info.name == "select.border_candidates" and info.value == "true" for info in pipeline.parameters())
    return pipeline.external is not None or at_borders or not all(slot.keeps_invalid for slot in refinements)
