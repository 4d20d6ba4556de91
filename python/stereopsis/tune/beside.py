"""Matchers of OpenCV beside the result of a search, by the same scores."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from .._compare import compare
from .._datasets import widest


@dataclass(frozen=True)
class Beside:
    """The score of another matcher: percentage of pixels wrong by more than 1 pixel, mean over all scenes, and milliseconds."""

    name: str
    score: float
    ms: float


def scores_beside(dataset: str, names: Sequence[str]) -> list[Beside]:
    """Scores the matchers on the scenes of a folder. A matcher that does not support every scene is left out, with a warning."""
    if not names:
        return []
    found = compare(dataset, list(names), repeat=1)
    return [
        Beside(
            one["method"],
            statistics.fmean(widest(scene["measures"])["bad1.0"] for scene in one["scenes"]),
            statistics.median(scene["ms"] for scene in one["scenes"]),
        )
        for one in found
    ]
