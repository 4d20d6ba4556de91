"""Matches pairs: Matcher, match and stream."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np

from . import _native, _options, _pair
from ._errors import CallError
from ._native import Calibration, Rig
from ._pipeline import Pipeline, Value
from ._progress import OnProgress, Progress
from ._result import ARRAYS, Explanation, Result
from ._stage import Turns


class BoundaryStripe(NamedTuple):
    """Rows of larger images that a pair shows, for semi-global matching with the bits of the whole images.

    The result has `rows` rows from `first_row` on; the rows around them only serve their features. Path costs come from the row
    above and from the row below, unless the image ends there. With `follow` "down" or "up", the result has only Result.paths, for
    the next stripe in that direction."""

    first_row: int
    rows: int
    above: bool = False
    below: bool = False
    follow: str = "none"


Disparities = int | tuple[int, int] | range | None


def _range_of(disparities: Disparities) -> tuple[int, int] | None:
    if disparities is None:
        return None
    if isinstance(disparities, range) and disparities.step == 1:
        return disparities.start, disparities.stop
    try:
        if isinstance(disparities, (tuple, list)):
            first, end = disparities
            return _options.integer("first", first), _options.integer("end", end)
        return 0, _options.integer("count", disparities)
    except ValueError:
        raise CallError(
            f"disparities={disparities!r} is not allowed; it must be the number of disparities from 0 upwards, or (first, end) as in range()"
        ) from None


def _out(out: Mapping[str, Any] | Result | None) -> dict[str, Any]:
    if isinstance(out, Result):
        return {name: getattr(out, name) for name in ARRAYS if getattr(out, name) is not None}
    arrays = {} if out is None else _options.mapping("out", out, "a Result, or arrays by their names")
    for name in arrays:
        _options.one_of("a key of out", name, *ARRAYS)
    return arrays


def _maps(maps: Mapping[str, Any] | Result | None) -> dict[str, Any]:
    names = ("disparity", "validity", "right", "confidence")
    if isinstance(maps, Result):
        return {name: getattr(maps, name) for name in names}
    named = {} if maps is None else _options.mapping("maps", maps, "a Result, or maps by their names")
    for name in named:
        _options.one_of("a key of maps", name, *names)
    return named


def _last_volume(pipeline: Pipeline) -> str:
    slots = {slot.slot for slot in pipeline.slots()}
    return "optimised" if "optimisation" in slots else "aggregated" if "aggregation" in slots else "cost"


def _two(pair: Any) -> tuple[Any, Any]:
    try:
        left, right = pair
    except (TypeError, ValueError):
        raise CallError(f"a stream got a {type(pair).__name__}, which is not a pair; yield (left, right)") from None
    return left, right


def _turns_of(pipeline: _native.Pipeline) -> AbstractContextManager[None]:
    """Returns the turns of a pipeline with Python stages. Without such stages the library's matcher serialises calls itself."""
    own = any(slot.stage.startswith("user_") for slot in pipeline.slots())
    return Turns() if own else contextlib.nullcontext()


class _MadeFor(NamedTuple):
    """The settings that a plan was made for. Pipelines and probes are replaced, not changed, because another thread may be planning."""

    kind: Any
    pipeline: Pipeline
    probes: list[tuple[int, int]]

    def still(self, now: _MadeFor) -> bool:
        return self.kind == now.kind and self.pipeline is now.pipeline and self.probes is now.probes


class Matcher:
    """A method made ready. Called with pairs, it plans for the first and again when size or type change.

    method       a name of st.methods(); or pipeline=, a Pipeline of one's own
    disparities  size of the search range from 0 on, or (first, end) as in range(); None: estimated from the first pair
    device       "auto", "cpu", "cuda", "cuda:N", "opencl", "opencl:N": st.devices(); of a stream of pairs several with
    commas,
                 or "cuda:*" for all: whichever has room takes the next pair, and one that fails leaves its pairs to the others
    set          parameters, {"sgm.p1": 12}
    region       (x, y, width, height): region of interest in the left image
    stripe       a BoundaryStripe: the images are rows of larger images
    refine_only  run only the pipeline's refinements, on `maps` that come with each call (Pipeline.partition_plan)
    want         names of outputs beside disparity and validity, as Result lists them, and "times"; "volume" requests the last
                 of cost, aggregated and optimised that the pipeline has
    probes       pixels (x, y) of the left image: the result's `probed` has all candidates' costs there, in every state
    rig          for depth and points; frame is "optical" (x right, y down, z forward) or "head"; disparity_error, in pixels, is
                 what "uncertainty" tells the depth's error for
    calibration  of cameras whose images are not rectified: they are, before they are matched
    colour       how images lie: "rgb" (or grey), "bgr", "rgba", "bgra", "nv12", "bayer_rggb", "bayer_bggr", "bayer_grbg", "bayer_gbrg";
                 they are read so, without a copy. Methods that see grey see the luma of NV12
    bit_depth    of uint16 images, 9 to 16 [16]
    threads      of the CPU, 0: as many as there are; memory_limit in bytes, 0: half of the memory, 9/10 of a GPU's
    implementation  "fused"; "plain", each stage by itself; or "oracle", the scalar definitions, slowly
    warn_of_pair  warns with PairWarning where the first pair, of the matcher and of each stream, looks wrong: both images are the
                 same; or less than half of the pixels are measured, and the images are swapped, not rectified or of two
                 scenes (as st.check finds). Pairs on a GPU are not judged. Methods that check nothing measure all pixels

    The same bits come from every device. Threads may share a matcher: they take turns.
    Raises CallError, which is a ValueError, for what is not allowed.

    >>> import stereopsis as st
    >>> scene = st.synth("table", width=160, height=120, disparities=32)
    >>> with st.Matcher("sgm", disparities=32, set={"sgm.p1": 12}, want=["confidence"]) as m:
    ...     r = m(scene.left, scene.right)
    >>> r  # doctest: +ELLIPSIS
    <result 160×120 by sgm, ... ms, ... % measured, with confidence>
    """

    def __init__(
        self,
        method: str | None = None,
        *,
        disparities: Disparities = None,
        device: str = "auto",
        set: Mapping[str, object] | None = None,
        pipeline: Pipeline | _native.Pipeline | None = None,
        region: tuple[int, int, int, int] | None = None,
        stripe: BoundaryStripe | None = None,
        refine_only: bool = False,
        want: Sequence[str] | str = (),
        probes: Sequence[tuple[int, int]] = (),
        rig: Rig | None = None,
        calibration: Calibration | None = None,
        frame: str = "optical",
        disparity_error: float = 0.5,
        colour: str = "rgb",
        bit_depth: int = 0,
        threads: int = 0,
        implementation: str = "fused",
        memory_limit: int = 0,
        warn_of_pair: bool = True,
    ) -> None:
        if method is not None and pipeline is not None:
            raise CallError("method and pipeline exclude each other; give one of them")
        self._pipeline = Pipeline((method or "sgm") if pipeline is None else pipeline)
        if set is not None:
            self._pipeline.update(set)
        self._disparities = _range_of(disparities)
        self._colour = _options.one_of("colour", colour, *_options.COLOURS)
        self._bit_depth = _options.integer("bit_depth", bit_depth, 0, 16)
        self._want = _options.names("want", want)
        self._probes = _options.pixels("probes", probes)
        self._options: dict[str, Any] = {
            "region": None if region is None else _options.integers("region", region, 4, "(x, y, width, height)"),
            "stripe": _options.instance("stripe", stripe, BoundaryStripe, "a BoundaryStripe(first_row, rows, …)"),
            "refine_only": bool(refine_only),
            "rig": _options.instance("rig", rig, Rig, "a Rig, as of st.Rig.read(file)"),
            "calibration": _options.instance(
                "calibration", calibration, Calibration, "a Calibration, as of st.read_calibration(file)"
            ),
            "frame": _options.one_of("frame", frame, "optical", "head"),
            "disparity_error": _options.number("disparity_error", disparity_error),
            "device": _options.text("device", device),
            "threads": _options.integer("threads", threads, 0, 65536),
            "implementation": _options.one_of("implementation", implementation, "fused", "plain", "oracle"),
            "memory_limit": _options.integer("memory_limit", memory_limit, 0, 2**63 - 1),
        }
        self._kind: Any = None  # kind of the last pair
        self._planned: dict[int, tuple[_MadeFor, _native.Matcher]] = {}  # by pairs in work
        self._closed = False
        self._to_judge = self._warn_of_pair = bool(warn_of_pair)
        self._estimates = disparities is None
        self._turns = _turns_of(self._pipeline)

    def __call__(
        self,
        left: Any,
        right: Any,
        *,
        mask_left: Any = None,
        mask_right: Any = None,
        volume: Any = None,
        paths_above: Any = None,
        paths_below: Any = None,
        maps: Mapping[str, Any] | Result | None = None,
        stream: Any = None,
        out: Mapping[str, Any] | Result | None = None,
    ) -> Result:
        """Matches a pair: (h, w) or (h, w, 3) uint8, uint16 or float32 (in 8-bit units), alike in all; or as `colour` says, (h, w, 4) with
        alpha, (h · 3 // 2, w) of NV12, (h, w) of a mosaic.

        Masks (mask_left, mask_right) are (h, w): a pixel is usable where they are 255 (uint8) or True (bool), and not where
        they are 0, 128 or False; other values are rejected. `volume` is (h, w, disparities), costs of the left view for a pipeline whose cost is `volume`; left and right may be None where no stage reads them. Of a stripe,
        `paths_above` and `paths_below` are another's Result.paths. `maps` is what is refined: a result, or disparity, validity
        and, where a refinement reads them, right and confidence by name. Nothing is copied but masks of bool; what can't be taken as it is raises CallError.

        Arrays on a GPU come by DLPack or __cuda_array_interface__, all from one. They are matched in `stream` (of
        PyTorch, CuPy, Numba, or its number; else the default one), behind what it was given before; this returns at
        once, and the result's arrays are there for what the stream is given from then on. They are exporters of
        DLPack: torch.from_dlpack(r.disparity).

        `out` has arrays of one's own, by name, or is a result: they are written, and are the new result's. They share no memory
        with the inputs or one another. (On the host the library's own memory is used again from call to call, and its rows go
        to these arrays.)

        A stage in Python may not call its own matcher, nor wait for a thread that does: CallError is raised. (It is known that a
        stage waits where it waits by Thread.join, or for the result of a ThreadPoolExecutor; waiting otherwise never ends.)
        """
        beside = {"paths_above": paths_above, "paths_below": paths_below, **_maps(maps)}
        pair = _native.Pair(left, right, mask_left, mask_right, volume, self._bit_depth, self._colour, stream, beside)
        on_host = not pair.kind[2]
        with self._turns:
            planned = self._plan(pair, left, right)
            same = on_host and self._to_judge and _native.same_pixels(pair)
            started = time.perf_counter()
            arrays = planned.match(pair, _out(out))
            ms = (time.perf_counter() - started) * 1e3
        result = Result(arrays, str(self._pipeline.method), ms if on_host else None)
        if on_host and self._to_judge and volume is None and maps is None:
            self._to_judge = False
            self._judge(result, left, right, same)
        return result

    async def amatch(self, left: Any, right: Any, **how: Any) -> Result:
        """Matches a pair under `await`, so that other tasks of the loop continue. Arguments are those of the call."""
        import asyncio  # imported here, as it is slow and rarely needed

        return await asyncio.to_thread(self, left, right, **how)

    def stream(
        self,
        pairs: Iterable[tuple[Any, Any]],
        *,
        in_flight: int = 3,
        copy: bool = True,
        progress: bool | OnProgress = False,
    ) -> Iterator[Result]:
        """Yields the results of pairs (left, right) in their order, with up to `in_flight` pairs in flight on each device.

        The iterator is asked for a pair only when fewer are in flight: with in_flight=1, only after the result of the pair
        before was yielded. Each pair is copied where several may be in flight, so that the iterator may refill its arrays.
        With copy=False nothing is copied: arrays must stay as they are until their result was yielded, and a pair that
        shares memory with a pair in flight raises CallError.

        Ctrl-C, or leaving the loop, ends it after the pairs in flight. `progress` shows a line on a terminal's stderr, or is
        a function that is told how many results there are, and of how many pairs (None: that is not known). Pairs of a
        pipeline with Python stages are matched one by one on the CPU.
        """
        in_flight = _options.integer("in_flight", in_flight, 1, 1024)
        return Progress.of(pairs, progress).over(self._stream(pairs, in_flight, bool(copy)))

    def _stream(self, pairs: Iterable[tuple[Any, Any]], in_flight: int, copy: bool) -> Iterator[Result]:
        in_work: deque[tuple[_native.Pending, str]] = deque()
        most, to_judge, given = 1, self._warn_of_pair, iter(pairs)

        def oldest() -> Result:
            pending, method = in_work.popleft()
            return Result(pending.wait(), method)

        try:
            while True:
                while len(in_work) >= most:
                    yield oldest()
                try:
                    left, right = _two(next(given))
                except StopIteration:
                    break
                pair = self._pair_of_stream(left, right)
                if not copy and any(pending.overlaps(pair) for pending, _ in in_work):
                    raise CallError(
                        "a pair shares memory with a pair in flight, whose result may now be wrong; use separate arrays for each pair in "
                        "flight, or leave copy=False out"
                    )
                same = to_judge and _native.same_pixels(pair)
                method, finished = str(self._pipeline.method), None
                with self._turns:
                    matcher = self._plan(pair, left, right, in_flight)
                    if isinstance(self._turns, Turns) and matcher.device == "cpu":  # its stages take turns with other callers
                        finished = Result(matcher.match(pair, {}), method)
                    else:
                        most = in_flight * len(matcher.devices)
                        in_work.append((matcher.enqueue(pair, copy and most > 1), method))
                if to_judge:  # before the iterator may refill the arrays
                    finished = finished or oldest()
                    self._judge(finished, left, right, same)
                    to_judge = False
                if finished is not None:
                    yield finished
            while in_work:
                yield oldest()
        finally:
            in_work.clear()  # dropping the pairs waits for them

    def _pair_of_stream(self, left: Any, right: Any) -> _native.Pair:
        pair = _native.Pair(left, right, None, None, None, self._bit_depth, self._colour, None, {})
        if pair.kind[2]:
            raise CallError("a stream requires arrays of the host, and these are on a GPU; call the matcher for each pair instead")
        return pair

    def _judge(self, result: Result, left: Any, right: Any, same: bool) -> None:
        """Warns of a first pair on the host. Slow checks run only if few pixels are measured."""
        if same:
            _pair.warn("left and right are the same image, so every disparity is 0; pass the images of both cameras")
            return
        if left is None or self._options["stripe"] or self._options["refine_only"]:
            return
        first, end = self._disparities or (0, 1)
        behind = self._estimates and first + end < 0  # all that was found lies behind the cameras
        if not behind and not _pair.measures_little(result):
            return
        left, right, colour = self._rectified(left, right)
        complaint = _pair.complaint_of(left, right, colour, self._bit_depth, result.measured_share)
        if complaint is not None:
            _pair.warn(complaint)

    def explain(self, left: Any = None, right: Any = None) -> Explanation:
        """The steps of the plan, what does each, and the memory: of this pair's size and type, else of the last pair's, else of
        640×480 pixels (or what the rig or the calibration says) in 8-bit colour."""
        self._check_open()
        if left is not None:
            pair = _native.Pair(left, right, None, None, None, self._bit_depth, self._colour, None, {})
            return Explanation(self._plan(pair, left, right), pair.kind)
        for made_for, planned in reversed(list(self._planned.values())):
            if made_for.still(_MadeFor(self._kind, self._pipeline, self._probes)):
                return Explanation(planned, self._kind)
        if self._disparities is None:
            raise CallError("disparities=None is estimated from a pair, and there was no pair yet; give the search range, or call explain(left, right)")
        kind = self._kind or ((*self._expected_size(), 3, "uint8"), None, "")
        return Explanation(self._planned_for(_MadeFor(kind, self._pipeline, self._probes), self._disparities, 1), kind)

    def _expected_size(self) -> tuple[int, int]:
        for known in (self._options["calibration"], self._options["rig"]):
            if known is not None and known.size != (0, 0):
                return known.size[1], known.size[0]
        return 480, 640

    @property
    def lost(self) -> dict[str, str]:
        """The devices that failed while others continued, each with its error message."""
        return {name: why for _, planned in self._planned.values() for name, why in planned.lost}

    def get_params(self) -> dict[str, Value]:
        """All parameters of the pipeline, by name."""
        return self._pipeline.get_params()

    def set_params(self, **parameters: object) -> Matcher:
        """m.set_params(**{"sgm.p1": 20}): from the next pair on. All or none are set. Returns itself."""
        self._pipeline = self._pipeline.copy().update(parameters)
        self._planned.clear()
        return self

    @property
    def pipeline(self) -> Pipeline:
        """A copy of the pipeline."""
        return self._pipeline.copy()

    @property
    def probes(self) -> list[tuple[int, int]]:
        """Pixels (x, y) whose costs are requested; a new value applies from the next pair on."""
        return list(self._probes)

    @probes.setter
    def probes(self, probes: Sequence[tuple[int, int]]) -> None:
        self._probes = _options.pixels("probes", probes)
        self._planned.clear()

    @property
    def disparities(self) -> tuple[int, int] | None:
        """The search range (first, end); None before the first pair if the range is estimated."""
        return self._disparities

    def close(self) -> None:
        """Gives the memory back. Results stay."""
        self._closed = True
        self._planned.clear()

    def __getstate__(self) -> dict[str, Any]:
        """Returns the state of a copy, which plans and takes turns for itself."""
        return {**self.__dict__, "_planned": {}, "_turns": _turns_of(self._pipeline)}

    def __enter__(self) -> Matcher:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise CallError("the matcher is closed; create a new one")

    def _plan(self, pair: _native.Pair, left: Any, right: Any, in_flight: int = 1) -> _native.Matcher:
        self._check_open()
        now = _MadeFor(pair.kind, self._pipeline, self._probes)
        before = self._planned.get(in_flight)
        if before is not None and before[0].still(now):
            return before[1]
        _, costs, place = now.kind
        if costs is not None:
            disparities = self._range_of_volume(costs[2])
        elif self._disparities is None and place:
            raise CallError("disparities=None is estimated on the host, but left is on a GPU; give the search range")
        else:
            disparities = self._disparities or self._estimated(left, right)
        planned = self._planned_for(now, disparities, in_flight)
        self._disparities, self._kind = disparities, now.kind
        self._planned[in_flight] = (now, planned)
        return planned

    def _estimated(self, left: Any, right: Any) -> tuple[int, int]:
        if self._options["calibration"] is not None and self._colour != "rgb":
            raise CallError(f"disparities=None is estimated from rectified images, which colour='{self._colour}' does not support; give the search range")
        left, right, colour = self._rectified(left, right)
        return _native.estimate_disparities(left, right, colour, self._bit_depth)

    def _rectified(self, left: Any, right: Any) -> tuple[Any, Any, str]:
        """The images that are matched: those of raw cameras are rectified first."""
        calibration = self._options["calibration"]
        if calibration is None:
            return left, right, self._colour
        left, right, *_ = _native.Rectification(calibration)(left, right)
        return left, right, "rgb"

    def _planned_for(self, of: _MadeFor, disparities: tuple[int, int], in_flight: int) -> _native.Matcher:
        image, costs, place = of.kind
        h, w, channels, dtype = image or (costs[0], costs[1], 1, "uint8")
        return _native.Matcher(
            of.pipeline,
            (h, w, channels),
            dtype,
            self._bit_depth,
            disparities,
            None if costs is None else costs[3],
            image is None,
            want=[_last_volume(of.pipeline) if name == "volume" else name for name in self._want],
            probes=of.probes,
            batch=in_flight,
            colour=self._colour if image is not None else "rgb",
            **(self._options | {"device": self._device_for(place)}),
        )

    def _device_for(self, place: str) -> str:
        """Returns the device for arrays at `place`: `auto` means the device that holds them."""
        device: str = self._options["device"]
        if not place:
            return device
        if device.split(":")[0] not in ("auto", "cuda"):
            raise CallError(
                f"left is on {place}, but the matcher runs on {device}; use device='auto', or copy the array to the host"
            )
        return place if device == "auto" else device

    def _range_of_volume(self, count: int) -> tuple[int, int]:
        first, end = self._disparities or (0, count)
        if end - first != count:
            raise CallError(f"the volume has {count} disparities, but the search range has {end - first}; both must be equal")
        return first, end


def match(
    left: Any,
    right: Any,
    disparities: Disparities = None,
    method: str | None = None,
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
    """Matches a rectified pair once. Options are those of Matcher; for out=, volume= or maps= make one.

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
    largest: float = 0,
    left: Any = None,
    right: Any = None,
    set: Mapping[str, object] | None = None,
    refinements: Sequence[str] = ("median",),
    stream: Any = None,
    **options: Any,
) -> Result:
    """A disparity image from matching costs of one's own: (h, w, disparities) uint8, uint16 or float32, low is good.

    The lowest disparity is `first`. `largest` is the largest cost that there may be, which stages count in steps of 1/255
    of; 0: all that the type has, and 1 of float32. NaN, infinity and 65535 are no candidates. `aggregate` and `optimise`
    name stages ("none" for neither), `refinements` those that follow, in their order; all have their own defaults, and
    `set` changes them. Images, `left` and `right`, are needed only by stages that read them; without, the penalties of
    `sgm` adapt to no image (its parameter `gradient` is 0). `stream` is that of a Matcher's call, options are those of Matcher:
    want=["volume"] gives the optimised volume back.

    >>> import numpy as np, stereopsis as st
    >>> volume = np.full((40, 60, 16), 20, np.uint8)
    >>> volume[:, :, 5] = 3
    >>> r = st.match_volume(volume, want=["volume"])
    >>> float(np.nanmedian(r.disparity)), r.volume.shape
    (5.0, (40, 60, 16))
    """
    pipeline = Pipeline("sgm").update(
        {
            "cost.stage": "volume",
            "aggregation.stage": aggregate,
            "optimisation.stage": optimise,
            "refinements": tuple(_options.names("refinements", refinements)) or ("none",),
        }
    )
    if optimise == "sgm" and left is None:
        pipeline.set("sgm.gradient", 0)
    shape: tuple[int, ...] = tuple(getattr(volume, "shape", ()))
    if len(shape) != 3:
        raise CallError(f"volume has the shape {shape}; a cost volume must be (height, width, disparities)")
    in_8_bits = optimise != "none" or aggregate not in ("none", "guided")
    if in_8_bits and isinstance(volume, np.ndarray) and volume.dtype == np.float32:
        least = np.min(volume, where=np.isfinite(volume), initial=0)
        if least < 0:
            raise CallError(f"volume has costs down to {least:.4g}, and costs below 0 would be clamped to 0; add a constant to all costs")
    if largest:
        pipeline.set("cost.largest", largest)
    elif {"cost.largest", "volume.largest"}.isdisjoint(set or {}) and isinstance(volume, np.ndarray) and volume.dtype == np.float32:
        found = np.max(volume, where=volume < np.inf, initial=0)
        if found > 1:
            raise CallError(f"volume has costs up to {found:.4g}, and float32 costs above 1 would be clamped to 1; give largest={found:.4g}, or scale the costs")
    with Matcher(pipeline=pipeline, disparities=(first, first + int(shape[2])), set=set, **options) as matcher:
        return matcher(left, right, volume=volume, stream=stream)
