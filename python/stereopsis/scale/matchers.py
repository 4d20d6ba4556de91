"""Matchers that a process keeps from unit to unit, because the first access to new memory takes time."""

from typing import Any

from .._matching import Matcher
from .._pipeline import Pipeline
from .manifest import Unit
from .planning import NO_LIMIT


class Matchers:
    """Keeps the last matcher of sweeps, which is small, and the last matcher of all other units. The next unit often has the same plan as
    one of the two.
    """

    def __init__(self) -> None:
        self._kept: dict[bool, tuple[Any, Matcher]] = {}

    def get(self, pipeline: str, unit: Unit, **how: Any) -> Matcher:
        is_sweep, key = unit.kind in ("down", "up"), (pipeline, unit.disparities, how)
        kept = self._kept.get(is_sweep)
        if kept is None or kept[0] != key:
            kept = None
            self._kept.pop(is_sweep, None)  # frees the memory before the next matcher allocates its own
            matcher = Matcher(pipeline=Pipeline.from_json(pipeline), disparities=unit.disparities, memory_limit=NO_LIMIT, warn_of_pair=False, **how)
            self._kept[is_sweep] = key, matcher
        return self._kept[is_sweep][1]


MATCHERS = Matchers()  # the matchers of this process
