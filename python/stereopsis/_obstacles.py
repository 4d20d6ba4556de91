"""Obstacles above the ground."""

from __future__ import annotations

import warnings
from typing import Any

from ._native import Ground, Obstacles, Rig, find_obstacles


def obstacles(
    depth: Any,
    rig: Rig,
    nearer_than: float | None = None,
    *,
    confidence: Any = None,
    min_confidence: float = 0.5,
    lowest: float | None = None,
    highest: float | None = None,
    min_area: float | None = None,
    disparity_error: float = 1.0,
    ground: Ground | None = None,
) -> Obstacles:
    """Returns the obstacles in a depth map of the rectified left view, the nearest one first. Lengths are in the unit of the rig.

    depth            (h, w) float32, such as `result.depth`
    rig              the rig of the pair
    nearer_than      largest depth of an obstacle [10 m]
    confidence       (h, w) float32, such as `result.confidence`: pixels below `min_confidence` are not used [all pixels are used]
    min_confidence   least confidence, 0 to 1
    lowest, highest  limits of the height above the ground [0.3 m, 3 m]
    min_area         least area that an obstacle covers in the view, in the square of the unit [0.02 m²]
    disparity_error  least difference from the disparity of the ground, in pixels
    ground           the ground, such as Ground(camera_height=1.5) for a camera that looks straight ahead [fitted to the depth]

    Neighbouring pixels belong to one obstacle if their disparities differ by at most 1 px. If the fitted plane may not be the ground,
    a warning says so. Raises CallError if no ground is found.

    >>> import numpy as np
    >>> import stereopsis as st
    >>> rig = st.Rig(focal=400, baseline=0.2, cx_left=160, cx_right=160, cy=100, unit="m", size=(320, 240))
    >>> depth = np.full((240, 320), 600, np.float32) / np.maximum(np.arange(240, dtype=np.float32) - 100, 1)[:, None]
    >>> depth[80:200, 100:140] = 6
    >>> [round(found.distance) for found in st.obstacles(depth, rig, 10).list]
    [6]
    """
    found = find_obstacles(
        depth, rig, nearer_than, confidence, min_confidence, lowest, highest, min_area, disparity_error, ground
    )
    if found.ground.doubt:
        warnings.warn(f"the fitted plane may not be the ground: {found.ground.doubt}; give ground=", stacklevel=2)
    return found
