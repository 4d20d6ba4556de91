"""Returns the costs of all candidates at a pixel: raw, aggregated and optimised."""

import threading
from typing import Any

import numpy as np

from .._errors import CallError, Error
from .._run import Run
from .engine import Engine, Matchers

Array = Any


class Probe:
    def __init__(self, engine: Engine) -> None:
        self._engine, self._matchers, self._lock = engine, Matchers(), threading.Lock()

    def costs(self, x: int, y: int) -> dict[str, Any]:
        """Returns the cost curves of the pipeline, or the reason why there are none. Raises CallError if the position is not a
        pixel.
        """
        shown = self._engine.shown
        if shown is None:
            raise CallError("there is no result to probe yet")
        height, width = shown.result.disparity.shape
        if not (0 <= x < width and 0 <= y < height):
            raise CallError(f"the pixel {x},{y} is outside the image of {width}×{height}")
        answer: dict[str, Any] = {"kind": "probe", "x": x, "y": y, "first": shown.disparities[0], "curves": {}}
        x0, y0, w, h = shown.prepared.region_of(shown.settings.region) or (0, 0, width, height)
        if not (x0 <= x < x0 + w and y0 <= y < y0 + h):
            return answer | {"text": "outside the region"}
        try:
            with self._lock:
                matcher = self._matchers.of("probe", shown.prepared, shown.settings, [], [(x, y)])
                probed = Run(matcher=matcher).one(shown.prepared, judge=False, align_rows=shown.prepared.to_align).result
        except Error as error:
            return answer | {"text": str(error)}
        answer["curves"] = {state: curve(costs[0]) for state, costs in getattr(probed, "probed", {}).items()}
        return answer


def curve(costs: Array) -> list[float | None]:
    """Returns the costs as numbers; None for absent candidates."""
    none = 65535 if costs.dtype == np.uint16 else np.inf
    return [float(cost) if np.isfinite(cost) and cost != none else None for cost in costs]
