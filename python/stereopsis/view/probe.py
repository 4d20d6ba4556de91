"""The costs of all candidates at a pixel: raw, aggregated, optimised."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from .._errors import CallError
from .._result import Result
from .engine import Engine, Matchers, Shown

LIMIT = 2 << 30  # bytes of volumes


class Probe:
    """Keeps the volumes of the pair that was probed last: another pixel of it costs nothing."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._matchers, self._lock = engine, Matchers(), threading.Lock()
        self._of: Shown | None = None
        self._volumes: Result | None = None

    def costs(self, x: int, y: int) -> dict[str, Any]:
        """Raises Error where there are none."""
        with self._lock:
            shown = self._engine.shown
            if shown is None:
                raise CallError("there is no result yet to probe")
            height, width = shown.result.disparity.shape
            if not (0 <= x < width and 0 <= y < height):
                raise CallError(f"the pixel {x},{y} lies outside the picture of {width}×{height}")
            region = shown.prepared.region_of(shown.settings.region) or (0, 0, width, height)
            x0, y0, w, h = region
            answer: dict[str, Any] = {"kind": "probe", "x": x, "y": y, "first": shown.disparities[0], "curves": {}}
            if not (x0 <= x < x0 + w and y0 <= y < y0 + h):
                return answer
            volumes = self._volumes_of(shown, w * h)
            for name in ("cost", "aggregated", "optimised"):
                volume = getattr(volumes, name)
                if volume is not None:
                    whole = volume.shape[:2] == (height, width)
                    costs = volume[y, x] if whole else volume[y - y0, x - x0]
                    answer["curves"][name] = np.asarray(costs, float).tolist()
            return answer

    def _volumes_of(self, shown: Shown, pixels: int) -> Result:
        if self._of is shown and self._volumes is not None:
            return self._volumes
        first, end = shown.disparities
        slots = {slot.slot for slot in shown.settings.pipeline.slots()}
        want = ["cost", *(name for name, slot in SLOTS.items() if slot in slots)]
        size = pixels * (end - first) * (1 + 2 * len(want))
        if size > LIMIT:
            raise CallError(f"the volumes of costs take {size / 2**30:.1f} GiB; drag a region first, or take less pixels")
        self._of = self._volumes = None
        self._volumes = self._matchers.match("probe", shown.prepared, shown.settings, want)
        self._of = shown
        return self._volumes


SLOTS = {"aggregated": "aggregation", "optimised": "optimisation"}
