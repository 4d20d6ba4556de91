"""Matchers that a process keeps from unit to unit, with their memory, which takes time when it is touched first."""

from __future__ import annotations

from typing import Any

from .._matching import Matcher
from .._pipeline import Pipeline
from .manifest import Unit
from .planning import NO_LIMIT


class Matchers:
    """The last one of sweeps, which are small, and of all others is kept, with its memory: the next unit is often alike."""

    def __init__(self) -> None:
        self._kept: dict[bool, tuple[Any, Matcher]] = {}

    def get(self, pipeline: str, unit: Unit, **how: Any) -> Matcher:
        is_sweep, key = unit.kind in ("down", "up"), (pipeline, unit.disparities, how)
        kept = self._kept.get(is_sweep)
        if kept is None or kept[0] != key:
            kept = None
            self._kept.pop(is_sweep, None)  # before the next one takes memory
            matcher = Matcher(pipeline=Pipeline.from_json(pipeline), disparities=unit.disparities, memory_limit=NO_LIMIT, warn_of_pair=False, **how)
            self._kept[is_sweep] = key, matcher
        return self._kept[is_sweep][1]


MATCHERS = Matchers()  # the matchers of this process
