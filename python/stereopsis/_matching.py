"""From a pair to a disparity image."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from . import _native
from ._errors import CallError
from ._native import Calibration, Rig, Step
from ._pipeline import Pipeline, Value

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float32]
Disparities = int | tuple[int, int] | range | None
T = TypeVar("T")

_BGR = {"rgb": False, "bgr": True}


class Result:
    """What a pair gave. Arrays are over the result's own memory, which they keep; what was not wanted is None.

    disparity    (h, w) float32, pixels of the left image, d = x_left − x_right; NaN where invalid
    validity     (h, w) uint8, bits of stereopsis.validity: why a pixel is invalid, or that it was filled or repaired
    right        (h, w) float32, the right view's disparity
    confidence   (h, w) float32, 0 to 1
    depth        (h, w) float32, Z in the rig's unit, NaN where there is none; uncertainty alike
    points       (h, w, 3) float32, x, y, z in the rig's unit, NaN where there is none
    rectified    the left image as the method saw it
    cost, aggregated, optimised   (h, w, disparities), in the stage's own type
    times        {stage: ms}
    """

    __slots__ = (
        "disparity",
        "validity",
        "right",
        "confidence",
        "depth",
        "points",
        "uncertainty",
        "rectified",
        "cost",
        "aggregated",
        "optimised",
        "times",
    )

    disparity: Floats
    validity: npt.NDArray[np.uint8]
    right: Floats | None
    confidence: Floats | None
    depth: Floats | None
    points: Floats | None
    uncertainty: Floats | None
    rectified: Array | None
    cost: Array | None
    aggregated: Array | None
    optimised: Array | None
    times: dict[str, float]

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        for name in self.__slots__:
            setattr(self, name, arrays.get(name))
        times: dict[str, float] = {}
        for stage, ms in arrays["times"]:
            times[stage] = times.get(stage, 0.0) + ms
        self.times = times

    @property
    def density(self) -> float:
        """The share of pixels that have a disparity, 0 to 1."""
        return float(np.count_nonzero(~np.isnan(self.disparity))) / self.disparity.size

    def __repr__(self) -> str:
        h, w = self.disparity.shape
        more = [name for name in self.__slots__[2:-1] if getattr(self, name) is not None]
        return f"<result {w}×{h}{', with ' + ', '.join(more) if more else ''}>"


class Explanation:
    """What a plan does: `steps`, `workspace_bytes` and `device`; as text, a table."""

    def __init__(self, planned: _native.Matcher) -> None:
        self.device: str = planned.device
        self.workspace_bytes: int = planned.workspace_bytes
        self.steps: list[Step] = list(planned.steps)

    def __str__(self) -> str:
        rows = [(s.name, s.stage, "fused" if s.fused else "", s.note) for s in self.steps]
        widths = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
        lines = ["  ".join([row[i].ljust(widths[i]) for i in range(3)] + [row[3]]).rstrip() for row in rows]
        return "\n".join([f"on {self.device}: {self.workspace_bytes / 1e6:.1f} MB of workspace", *lines])

    __repr__ = __str__


def _range_of(disparities: Disparities) -> tuple[int, int] | None:
    match disparities:
        case None:
            return None
        case range() if disparities.step == 1:
            return disparities.start, disparities.stop
        case (first, end):
            return int(first), int(end)
        case bool() | range():
            pass
        case _ if hasattr(disparities, "__index__"):
            return 0, int(disparities)
    raise CallError(
        f"disparities={disparities!r} is not allowed; give how many from 0 on, or (first, end), as range does"
    )


def _out(out: Mapping[str, Any] | Result | None) -> dict[str, Any]:
    if isinstance(out, Result):
        return {name: getattr(out, name) for name in out.__slots__[:-1] if getattr(out, name) is not None}
    return dict(out or {})


def _names(want: Sequence[str] | str) -> list[str]:
    return [want] if isinstance(want, str) else list(want)


class Matcher:
    """A method made ready. Called with pairs, it plans for the first and again when size or type change.

    method       a name of st.methods(); or pipeline=, a Pipeline of one's own
    disparities  how many are searched from 0 on, or (first, end), as range has it; None: estimated from the first pair
    device       "auto", "cpu", "cuda", "cuda:N", "opencl", "opencl:N": st.devices()
    set          parameters, {"sgm.p1": 12}
    region       (x, y, width, height): only these pixels of the left image are wanted
    want         any of right, confidence, depth, points, uncertainty, rectified, cost, aggregated, optimised, times
    rig          for depth and points; frame is "optical" (x right, y down, z forward) or "head"
    calibration  of cameras whose images are not rectified: they are, before they are matched
    colour       the order of channels, "rgb" or "bgr" (which is copied)
    bit_depth    of uint16 images, 9 to 16 [16]
    threads      of the CPU, 0: as many as there are; memory_limit in bytes, 0: half of the memory, 9/10 of a GPU's

    The same bits come from every device. Threads may share a matcher: they take turns.
    Raises CallError, which is a ValueError, for what is not allowed.

    >>> import stereopsis as st
    >>> scene = st.synth("table", width=160, height=120, disparities=32)
    >>> with st.Matcher("sgm", disparities=32, set={"sgm.p1": 12}, want=["confidence"]) as m:
    ...     r = m(scene.left, scene.right)
    >>> r
    <result 160×120, with confidence>
    """

    def __init__(
        self,
        method: str = "sgm",
        *,
        disparities: Disparities = None,
        device: str = "auto",
        set: Mapping[str, object] | None = None,
        pipeline: Pipeline | None = None,
        region: tuple[int, int, int, int] | None = None,
        want: Sequence[str] | str = (),
        rig: Rig | None = None,
        calibration: Calibration | None = None,
        frame: str = "optical",
        disparity_error: float = 0.5,
        colour: str = "rgb",
        bit_depth: int = 0,
        threads: int = 0,
        implementation: str = "fused",
        memory_limit: int = 0,
    ) -> None:
        if colour not in _BGR:
            raise CallError(f"colour={colour!r} is not allowed; it must be 'rgb' or 'bgr'")
        self._pipeline = Pipeline(method) if pipeline is None else pipeline.copy()
        self._pipeline.update(set or {})
        self._disparities = _range_of(disparities)
        self._bgr, self._bit_depth = _BGR[colour], bit_depth
        self._options: dict[str, Any] = {
            "region": region,
            "want": _names(want),
            "rig": rig,
            "calibration": calibration,
            "frame": frame,
            "disparity_error": disparity_error,
            "device": device,
            "threads": threads,
            "implementation": implementation,
            "memory_limit": memory_limit,
        }
        self._planned: dict[int, tuple[object, _native.Matcher]] = {}  # by pairs in work, with what it is for
        self._closed = False

    def __call__(
        self,
        left: Any,
        right: Any,
        *,
        mask_left: Any = None,
        mask_right: Any = None,
        volume: Any = None,
        stream: Any = None,
        out: Mapping[str, Any] | Result | None = None,
    ) -> Result:
        """Matches a pair: (h, w) or (h, w, 3) uint8, uint16 or float32 (in 8-bit units), alike in all.

        Masks are (h, w) uint8 or bool, 0 where a pixel is not usable. `volume` is (h, w, disparities), costs of the
        left view for a pipeline whose cost is `volume`; left and right may be None where no stage reads them. Nothing
        is copied; what can't be taken as it is raises CallError.

        Arrays on a GPU come by DLPack or __cuda_array_interface__, all from one. They are matched in `stream` (of
        PyTorch, CuPy, Numba, or its number; else the default one), behind what it was given before; this returns at
        once, and the result's arrays are there for what the stream is given from then on. They are exporters of
        DLPack: torch.from_dlpack(r.disparity). `out` has arrays of one's own for some of them, by name, or is a result.
        """
        pair = _native.Pair(left, right, mask_left, mask_right, volume, self._bit_depth, self._bgr, stream)
        return Result(self._plan(pair, left, right, 1).match(pair, _out(out)))

    def stream(self, pairs: Iterable[tuple[Any, Any]], *, in_flight: int = 3) -> Iterator[Result]:
        """The results of pairs (left, right), in their order, with up to `in_flight` in work at a time.

        Arrays that were given must stay as they are until their result came. Ctrl-C, or leaving the loop, ends it
        behind the pairs in work.
        """
        if in_flight < 1:
            raise CallError(f"in_flight={in_flight!r} is not allowed; it must be at least 1")
        return self._stream(pairs, in_flight)

    def _stream(self, pairs: Iterable[tuple[Any, Any]], in_flight: int) -> Iterator[Result]:
        work: deque[_native.Pending] = deque()
        try:
            for left, right in pairs:
                if len(work) == in_flight:
                    yield Result(work.popleft().wait())
                pair = _native.Pair(left, right, None, None, None, self._bit_depth, self._bgr, None)
                if pair.kind[2]:
                    raise CallError("a stream of pairs is for arrays of the host; call the matcher for those on a GPU")
                work.append(self._plan(pair, left, right, in_flight).enqueue(pair))
            while work:
                yield Result(work.popleft().wait())
        finally:
            work.clear()  # which waits

    def explain(self, left: Any = None, right: Any = None) -> Explanation:
        """The steps of the plan, what does each, and the memory: of the last pair's size, or of this pair's."""
        if left is None:
            if not self._planned:
                raise CallError("nothing is planned yet, as no pair came; call explain(left, right)")
            return Explanation(next(reversed(self._planned.values()))[1])
        pair = _native.Pair(left, right, None, None, None, self._bit_depth, self._bgr, None)
        return Explanation(self._plan(pair, left, right, 1))

    def get_params(self) -> dict[str, Value]:
        """All parameters of the pipeline, by name."""
        return self._pipeline.get_params()

    def set_params(self, **parameters: object) -> Matcher:
        """m.set_params(**{"sgm.p1": 20}): from the next pair on. All or none are set. Returns itself."""
        self._pipeline.update(parameters)
        self._planned.clear()
        return self

    @property
    def pipeline(self) -> Pipeline:
        """A copy of the pipeline."""
        return self._pipeline.copy()

    @property
    def disparities(self) -> tuple[int, int] | None:
        """(first, end) of what is searched; None before the first pair where they are estimated."""
        return self._disparities

    def close(self) -> None:
        """Gives the memory back. Results stay."""
        self._closed = True
        self._planned.clear()

    def __enter__(self) -> Matcher:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _plan(self, pair: _native.Pair, left: Any, right: Any, in_flight: int) -> _native.Matcher:
        if self._closed:
            raise CallError("the matcher is closed; make a new one")
        before = self._planned.get(in_flight)
        if before is not None and before[0] == pair.kind:
            return before[1]
        image, costs, place = pair.kind
        if costs is not None:
            disparities = self._range_of_volume(costs[2])
        elif self._disparities is None and place:
            raise CallError("disparities=None is estimated on the host, but left is on a GPU; give the range")
        else:
            disparities = self._disparities or _native.estimate_disparities(left, right, self._bgr)
        h, w, channels, dtype = image or (costs[0], costs[1], 1, "uint8")
        planned = _native.Matcher(
            self._pipeline,
            (h, w, channels),
            dtype,
            self._bit_depth,
            disparities,
            None if costs is None else costs[3],
            image is None,
            batch=in_flight,
            **(self._options | {"device": self._device_for(place)}),
        )
        self._disparities = disparities
        self._planned[in_flight] = (pair.kind, planned)
        return planned

    def _device_for(self, place: str) -> str:
        """Of arrays that are there: `auto` is where they are."""
        device: str = self._options["device"]
        if not place:
            return device
        if device.split(":")[0] not in ("auto", "cuda"):
            raise CallError(
                f"left is on {place}, but the matcher runs on {device}; give device='auto', or copy it to the host"
            )
        return place if device == "auto" else device

    def _range_of_volume(self, count: int) -> tuple[int, int]:
        first, end = self._disparities or (0, count)
        if end - first != count:
            raise CallError(f"the volume has {count} disparities, but {end - first} are searched; give as many")
        return first, end


def match(
    left: Any,
    right: Any,
    disparities: Disparities = None,
    method: str = "sgm",
    device: str = "auto",
    set: Mapping[str, object] | None = None,
    pipeline: Pipeline | None = None,
    *,
    mask_left: Any = None,
    mask_right: Any = None,
    region: tuple[int, int, int, int] | None = None,
    want: Sequence[str] | str = (),
    stream: Any = None,
    **options: Any,
) -> Result:
    """Matches a rectified pair once; arguments are those of Matcher and of its call.

    >>> import numpy as np, stereopsis as st
    >>> scene = st.synth("table", width=160, height=120, disparities=32)
    >>> r = st.match(scene.left, scene.right, disparities=32)
    >>> r.disparity.shape, r.disparity.dtype
    ((120, 160), dtype('float32'))
    >>> bool(np.nanmedian(abs(r.disparity - scene.disparity)) < 1)
    True
    """
    with Matcher(
        method, disparities=disparities, device=device, set=set, pipeline=pipeline, region=region, want=want, **options
    ) as matcher:
        return matcher(left, right, mask_left=mask_left, mask_right=mask_right, stream=stream)


def match_volume(
    volume: Any,
    optimise: str = "sgm",
    *,
    aggregate: str = "none",
    first: int = 0,
    left: Any = None,
    right: Any = None,
    set: Mapping[str, object] | None = None,
    refinements: Sequence[str] = ("median",),
    stream: Any = None,
    **options: Any,
) -> Result:
    """A disparity image from matching costs of one's own: (h, w, disparities) uint8, uint16 or float32, low is good.

    The lowest disparity is `first`. `aggregate` and `optimise` name stages ("none" for neither), `refinements` those
    that follow, in their order; all have their own defaults, and `set` changes them. Images are needed only by stages
    that read them; without, the penalties of `sgm` adapt to no image (its parameter `gradient` is 0). Options are those of Matcher: want=["optimised"] gives the volume back.

    >>> import numpy as np, stereopsis as st
    >>> volume = np.full((40, 60, 16), 20, np.uint8)
    >>> volume[:, :, 5] = 3
    >>> r = st.match_volume(volume, want=["optimised"])
    >>> float(np.nanmedian(r.disparity)), r.optimised.shape
    (5.0, (40, 60, 16))
    """
    pipeline = Pipeline("sgm").update(
        {
            "cost.stage": "volume",
            "aggregation.stage": aggregate,
            "optimisation.stage": optimise,
            "refinements": tuple(refinements) or ("none",),
        }
    )
    if optimise == "sgm" and left is None:
        pipeline.set("sgm.gradient", 0)
    shape: tuple[int, ...] = tuple(getattr(volume, "shape", ()))
    if len(shape) != 3:
        raise CallError(f"volume has the shape {shape}; a cost volume is (height, width, disparities)")
    with Matcher(pipeline=pipeline, disparities=(first, first + int(shape[2])), set=set, **options) as matcher:
        return matcher(left, right, volume=volume, stream=stream)
