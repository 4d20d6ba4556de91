"""The library's costs and optimisation in a narrow range around the answer of another method."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from . import _options
from ._errors import CallError
from ._external import Array, Maps, Method, method_on, name_of
from ._matching import Matcher
from ._pipeline import Pipeline, method_of
from ._stage import StageCall

ABSENT = 65535  # no candidate


class Around:
    """A method that matches with a pipeline within ±`reach` pixels of the disparity of another method, such as a network.

    method    the other method: "onnx:FILE", "program:CMD {left} {right} {out}", or any Method
    reach     largest distance from the rounded disparity of the method, in pixels
    pipeline  a name or a Pipeline without an aggregation, whose costs, optimisation, selection and refinements are used ["sgm"]
    set       parameters of the pipeline. {"optimisation.stage": "none"} with reach=1 refines the disparity by the costs of each pixel alone

    Where the method has no disparity, the whole range is searched. The pipeline runs on the CPU; disparities beyond the search range of the
    call are not found.

    >>> import stereopsis as st
    >>> scene = st.synth("table", width=80, height=60, disparities=16)
    >>> rounded = lambda left, right, disparities: scene.disparity.round()
    >>> st.match(scene.left, scene.right, 16, st.Around(rounded, 1)).method
    'sgm around <lambda>'
    """

    def __init__(
        self, method: str | Method, reach: int = 2, *, pipeline: str | Pipeline = "sgm", set: Mapping[str, object] | None = None
    ) -> None:
        self._method = method_of(method)
        self._reach = _options.integer("reach", reach, 0, 4096)
        self._pipeline = Pipeline(pipeline).update(set or {})
        if self._pipeline.external is not None or self._pipeline.aggregation != "none":
            raise CallError(f"pipeline={_options.shown(pipeline)} is not allowed; it must be a method of the library without an aggregation")
        self._threads = 0
        self.name = f"{self._pipeline.method} around {name_of(self._method)}"

    def __call__(self, left: Array, right: Array, disparities: tuple[int, int]) -> Array:
        left, right = np.asarray(left), np.asarray(right)
        found = Maps(self._method, left, right, disparities).disparity
        centre = np.where(np.isfinite(found), found, np.float32(np.nan))

        def near(call: StageCall) -> None:
            call.made[...] = call.costs
            for k in range(call.count):
                far: npt.NDArray[np.bool_] = abs(np.rint(centre) - (call.first + k)) > self._reach
                call.made[..., k][far] = ABSENT

        pipeline = self._pipeline.copy().set_stage("aggregation", near, makes="uint16", largest=255, takes="uint8")
        with Matcher(pipeline=pipeline, disparities=disparities, device="cpu", threads=self._threads, warn_of_pair=False) as matcher:
            return matcher(left, right).disparity

    def on(self, device: str, threads: int) -> Around:
        """Returns the method with the other method on a device; the pipeline remains on the CPU."""
        moved = Around(method_on(self._method, device, threads), self._reach, pipeline=self._pipeline)
        moved._threads = threads
        return moved
