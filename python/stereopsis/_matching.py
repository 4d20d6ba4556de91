"""Matches pairs: Matcher, match and stream."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from . import _native, _options, _pair
from ._budget import Budget, BudgetChoice, Chooser, budget_of, check_alone
from ._errors import CalibrationWarning, CallError
from ._external import Method, device_map, method_on, seen
from ._flight import Flight
from ._native import Calibration, Rig, RowAlignment, RowEstimate, RowFilter, RowMeasurement
from ._pipeline import Pipeline, Value
from ._progress import OnProgress, Progress
from ._result import ARRAYS, Explanation, Result
from ._rows import AlignRows, estimate_of, row_settings, rows_of
from ._seeds import Seeds, outside_of
from ._stage import Turns
from ._tracking import RigTracker


class BoundaryStripe(NamedTuple):
    """A stripe: the rows of a larger image that a pair of images contains. Semi-global matching computes the same result for the stripe as for the whole image.

    first_row, rows   the rows of the result; the rows around them are read only for the features of these rows
    above, below      whether path costs of the row above, or below, come with the pair; otherwise the image ends there
    follow            "none"; "down" or "up": the result has only Result.paths, for the next stripe in that direction
    """

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
            f"disparities={_options.shown(disparities)} is not allowed; it must be the number of disparities from 0 upwards, or (first, end) as in range()"
        ) from None


def _out(out: Mapping[str, Any] | Result | None) -> dict[str, Any]:
    if isinstance(out, Result):
        return {name: getattr(out, name) for name in ARRAYS if name in out}
    arrays = {} if out is None else _options.mapping("out", out, "a Result, or arrays by their names")
    for name in arrays:
        _options.one_of("a key of out", name, *ARRAYS)
    return arrays


def _maps(maps: Mapping[str, Any] | Result | None) -> dict[str, Any]:
    names = ("disparity", "validity", "right", "confidence")
    if isinstance(maps, Result):
        named = {name: getattr(maps, name, None) for name in names}
    else:
        named = {} if maps is None else _options.mapping("maps", maps, "a Result, or maps by their names")
    for name in named:
        _options.one_of("a key of maps", name, *names)
    return {f"maps['{name}']": map_ for name, map_ in named.items()}


def _last_volume(pipeline: Pipeline) -> str:
    slots = {slot.slot for slot in pipeline.slots()}
    return "optimised" if "optimisation" in slots else "aggregated" if "aggregation" in slots else "cost"


def _turns_of(pipeline: _native.Pipeline) -> AbstractContextManager[None]:
    """Returns a context manager that lets threads use a pipeline with Python stages in turn. Without Python stages, the compiled matcher
    serialises calls itself.
    """
    own = any(slot.is_function for slot in _native.Pipeline.slots(pipeline))
    return Turns() if own else contextlib.nullcontext()


def _converges(rig: Rig | None) -> bool:
    """Returns whether far points have negative disparities."""
    return rig is not None and rig.cx_right - rig.cx_left > 0.5


class _MadeFor(NamedTuple):
    """The settings that a plan was made for. Pipelines and probes are replaced and never modified, because another thread may be planning
    with the old ones.
    """

    kind: Any
    pipeline: Pipeline
    probes: list[tuple[int, int]]

    def still(self, now: _MadeFor) -> bool:
        return self.kind == now.kind and self.pipeline is now.pipeline and self.probes is now.probes


class Matcher:
    """A pipeline prepared for pairs of one size and type. The matcher plans for the first pair, and again when the size or the type of the
    pairs changes.

    method       a name from st.methods() or st.presets() ["sgm"]; "onnx:FILE", "program:CMD {left} {right} {out}", or any st.Method
    pipeline     a Pipeline, in place of a method
    set          parameters, such as {"optimisation.p1": 12}
    disparities  number of disparities from 0 upwards, or the search range (first, end) as in range(); None: estimated from the
                 first pair
    budget       largest time of a pair: "30ms", or a number of seconds. The first pair chooses the method and the size of the images
                 with the fewest measured errors (Result.choice); a method, a pipeline or parameters that are given are kept, and
                 only the size is chosen. The times are measured once on this machine, as by `stereopsis match --budget` [no limit]
    device       "auto", "cpu", "cuda", "cuda:N", "opencl" or "opencl:N" (st.devices()). For stream(), a list with commas, or
                 "cuda:*" for all: each pair goes to a free device, and a failed device leaves its pairs to the others
    region       (x, y, width, height): region of interest of the left image [the whole image]
    stripe       a BoundaryStripe, if the images are rows of larger images
    refine_only  True to run only the refinements of the pipeline, on the `maps` of each call (Pipeline.partition_plan)
    want         names of outputs in addition to disparity and validity (see Result), and "times"; "volume" requests the last of
                 cost, aggregated and optimised that the pipeline has
    probes       pixels (x, y) of the left image, for which `probed` of the result has the costs of all candidates
    rig          a Rig, required for depth, points and uncertainty. A CalibrationWarning says if it is for images of another size
    frame        coordinate frame of points: "optical" (x right, y down, z forward) or "head" (x forward, y left, z up)
    disparity_error  disparity error that "uncertainty" assumes, in pixels; 0: the median error that the confidence implies [0]
    fill_depth   True to compute depth, points and uncertainty of filled and repaired pixels, too [of measured pixels only]
    calibration  a Calibration of raw cameras; each pair is rectified before it is matched. A RigTracker for cameras that move
    align_rows   how the rows of right images are aligned before they are matched; with a calibration, after they are rectified:
                 "auto", estimated for each pair (a stream filters the estimates); "off"; a RowAlignment; the result of
                 estimate_row_alignment(); "OFFSET[,ROLL[,ZOOM[,KEYSTONE]]]" in pixels, or a file with such numbers. "auto" does not
                 align arrays on a GPU, stripes, given volumes and refine_only ["off", as in C++ and C; match() and Run: "auto"]
    color        layout of the images: "rgb" (also grey), "bgr" for images of OpenCV, "rgba", "bgra", "nv12", "bayer_rggb",
                 "bayer_bggr", "bayer_grbg" or "bayer_gbrg". They are read in place. For NV12, methods on grey images read the luma
    colour       another name of color
    bit_depth    number of significant low-order bits of uint16 images, 9 to 16; 0: 16
    threads      number of CPU threads; 0: as many as the process may use
    implementation  "fused"; "plain", each stage by itself; or "oracle", the scalar definitions, which are slow
    memory_limit  limit of the workspace in bytes; 0: half of the host's memory, or 9/10 of a GPU's free memory
    measure_constant  True to measure regions without contrast like all others; False to mask black regions at the border, and to
                 mark pixels as filled whose 7×7 window has one value; None: False, but True for refine_only and for a stripe
                 [None]
    black        largest value of black regions at the border, 0 to 255, in 8-bit units: 2 for images from JPEG or video. None, a stripe
                 or refine_only masks none [0]
    warn_of_pair  True to warn with PairWarning if the images of a pair do not fit: they are the same picture, swapped, turned,
                 not rectified, of cameras above each other, or of different scenes or times; in a stream, one eye may be a frame
                 late. The matcher checks the first pair of each stream, every 32nd pair, and pairs of which much less was
                 measured than of those before. It warns once of each kind of fault. It does not check pairs on a GPU. It also warns of float
                 images with values from 0 to 1: of an array on a GPU, it reads one row when it plans

    All devices give the same result, bit for bit. Threads may share a matcher, whose calls then run one after the other.
    Raises CallError, a ValueError, for arguments that are not allowed.

    >>> import stereopsis as st
    >>> scene = st.synth("table", width=160, height=120, disparities=32)
    >>> with st.Matcher("sgm", disparities=32, set={"optimisation.p1": 12}, want=["confidence"]) as m:
    ...     r = m(scene.left, scene.right)
    >>> r  # doctest: +ELLIPSIS
    <result 160×120 by sgm on cpu, ... ms, ... % measured, with confidence>
    """

    def __init__(
        self,
        method: str | Method | None = None,
        *,
        disparities: Disparities = None,
        budget: str | float | Budget | None = None,
        device: str = "auto",
        set: Mapping[str, object] | None = None,
        pipeline: Pipeline | _native.Pipeline | None = None,
        region: tuple[int, int, int, int] | None = None,
        stripe: BoundaryStripe | None = None,
        refine_only: bool = False,
        want: Sequence[str] | str = (),
        probes: Sequence[tuple[int, int]] = (),
        rig: Rig | None = None,
        calibration: Calibration | RigTracker | None = None,
        frame: str = "optical",
        disparity_error: float = 0,
        fill_depth: bool = False,
        align_rows: AlignRows = "off",
        color: str = "rgb",
        colour: str | None = None,
        bit_depth: int = 0,
        threads: int = 0,
        implementation: str = "fused",
        memory_limit: int = 0,
        measure_constant: bool | None = None,
        black: int | None = 0,
        warn_of_pair: bool = True,
    ) -> None:
        if method is not None and pipeline is not None:
            raise CallError("method and pipeline exclude each other; give one of them")
        tracker = calibration if isinstance(calibration, RigTracker) else None
        if isinstance(calibration, RigTracker):
            calibration = calibration.given
        self._pipeline = Pipeline((method or "sgm") if pipeline is None else pipeline)
        if set is not None:
            self._pipeline.update(set)
        self._disparities = _range_of(disparities)
        self._color = _options.color(color, colour)
        self._bit_depth = _options.integer("bit_depth", bit_depth, 0, 16)
        self._want = _options.names("want", want)
        self._probes = _options.pixels("probes", probes)
        self._options: dict[str, Any] = {
            "region": None if region is None else _options.integers("region", region, 4, "(x, y, width, height)"),
            "stripe": _options.instance("stripe", stripe, BoundaryStripe, "a BoundaryStripe(first_row, rows, …)"),
            "refine_only": _options.flag("refine_only", refine_only),
            "rig": _options.instance("rig", rig, Rig, "a Rig, as of st.Rig.read(file)"),
            "calibration": _options.instance(
                "calibration", calibration, Calibration, "a Calibration, as of st.read_calibration(file)"
            ),
            "frame": _options.one_of("frame", frame, "optical", "head"),
            "disparity_error": _options.number("disparity_error", disparity_error),
            "fill_depth": _options.flag("fill_depth", fill_depth),
            "device": _options.text("device", device),
            "threads": _options.integer("threads", threads, 0, 65536),
            "implementation": _options.one_of("implementation", implementation, "fused", "plain", "oracle"),
            "memory_limit": _options.integer("memory_limit", memory_limit, 0, 2**63 - 1),
        }
        self._tracker = tracker
        self._options["rig_moves"] = tracker is not None
        self._rows = row_settings(align_rows)
        self._measure_constant = None if measure_constant is None else _options.flag("measure_constant", measure_constant)
        self._black = None if black is None else _options.integer("black", black, 0, 255)
        self._chooser: Chooser | None = None
        if budget is not None:
            check_alone(budget_of(budget), stripe=stripe is not None, refine_only=refine_only)
            self._chooser = Chooser(budget_of(budget), self._pipeline, set, method is not None, pipeline is not None)
        self._choice: tuple[Any, BudgetChoice] | None = None  # with the size and type of the pairs
        self._kind: Any = None  # size and type of the last pair
        self._planned: dict[int, tuple[_MadeFor, _native.Matcher]] = {}  # by the number of pairs in flight
        self._closed = False
        self._warn_of_pair = _options.flag("warn_of_pair", warn_of_pair)
        self._known_rig = rig or (calibration.rig if calibration is not None else None)
        self._expects_negative = (self._disparities or (0, 1))[0] < 0 or _converges(self._known_rig)
        self._judge = self._new_judge()
        self._turns = _turns_of(self._pipeline)
        self._external = self._checked_external()

    def __call__(
        self,
        left: Any,
        right: Any,
        *,
        mask_left: Any = None,
        mask_right: Any = None,
        seeds: Any = None,
        seed_trust: Any = None,
        volume: Any = None,
        paths_above: Any = None,
        paths_below: Any = None,
        maps: Mapping[str, Any] | Result | None = None,
        align_rows: RowAlignment | RowEstimate | None = None,
        stream: Any = None,
        out: Mapping[str, Any] | Result | None = None,
    ) -> Result:
        """Matches a pair, and returns its Result.

        left, right  images (h, w) or (h, w, 3) of the same size and type: uint8, uint16, or float32 from 0 to 255. `color`
                     may require (h, w, 4) with alpha, (h · 3 // 2, w) for NV12, or (h, w) for a mosaic. None if no stage reads them
        mask_left, mask_right  (h, w) uint8 with 255 for usable pixels and 0 or 128 for others, or bool [all pixels are usable]
        seeds        (h, w) float32, disparities that are known beforehand, NaN where unknown; for a pipeline with seeds.stage = seeds
        seed_trust   (h, w) float32, trust in each seed, 0 to 1 [1]
        volume       (h, w, disparities): costs of the left view, for a pipeline with cost.stage = volume
        paths_above, paths_below  Result.paths of the neighbouring stripe, for a BoundaryStripe
        align_rows   the alignment of this pair's rows, or its estimate, for a Matcher that aligns rows [that of the Matcher]
        maps         the maps to refine: a Result; or disparity, validity and, if a refinement reads them, right and confidence by name
        stream       for arrays on a GPU: the stream of PyTorch, CuPy or Numba, or its address [the default stream]
        out          arrays by name, or a Result, that receive the outputs; they must not share memory with each other or the inputs

        Arrays are not copied, except masks of bool. An array with a layout that is not supported raises CallError.

        Arrays on a GPU are passed by DLPack or __cuda_array_interface__; all must be on one GPU. The match runs in `stream`, after the
        earlier work and before the later work of the stream. The call returns before the match has ended. The arrays of the result support
        DLPack: torch.from_dlpack(r.disparity).

        A stage in Python must not call its own matcher, or wait for a thread that calls it: such calls raise CallError. Only waits in
        Thread.join and in the result of a ThreadPoolExecutor are detected; any other wait never ends.
        """
        left, right = _options.image("left", left), _options.image("right", right)
        images = {"left": left, "right": right, "mask_left": mask_left, "mask_right": mask_right}
        beside = {"seeds": seeds, "seed_trust": seed_trust, "volume": volume, "paths_above": paths_above, "paths_below": paths_below, **_maps(maps)}
        if self._external is not None and any(given is not None for given in beside.values()):
            raise CallError(f"{self._pipeline.method} reads images only; leave seeds, volume, maps and path costs out")
        pair = _native.Pair(images | beside, self._bit_depth, self._color, stream)
        on_host = not pair.kind[2]
        if self._external is not None and not on_host:
            return self._unrefined(left, right, pair.kind[2])
        rows = self._align(pair, given=align_rows)
        with self._turns:
            is_first = not self._has_plan(pair, 1)
            planned = self._plan(pair, left, right)
            if is_first and self._warn_of_pair and on_host and seeds is not None and (said := outside_of(seeds, self._disparities)):
                _pair.warn(said)
            started = time.perf_counter()
            arrays = planned.match(pair, _out(out))
            ms = (time.perf_counter() - started) * 1e3
            result = Result(arrays, str(self._pipeline.method), ms if on_host else None, planned.device, rows, self.choice)
        if on_host and volume is None and maps is None:
            self._warn_of(self._judge, result, pair, None)
        return result

    def _align(
        self, pair: _native.Pair, sequence: RowFilter | None = None, given: RowAlignment | RowEstimate | None = None
    ) -> RowEstimate | None:
        """Sets the alignment of a pair, and returns its estimate; None if the matcher leaves the rows as they are."""
        measured = None
        if self._tracker is not None and given is None:
            measured = self._tracker._follow(pair, measures=self._rows.is_auto)
        elif self._tracker is not None:
            self._tracker._again(pair)
        if self._planned_rows(pair.kind) is None:
            if given is not None:
                raise CallError("align_rows was given for a pair that this Matcher does not align; make the Matcher with align_rows='auto'")
            return None
        rows = self._rows_of(pair, sequence, measured) if given is None else given if isinstance(given, RowEstimate) else estimate_of(given)
        pair.align_rows((rows and rows.alignment) or RowAlignment())
        return rows

    def _rows_of(self, pair: _native.Pair, sequence: RowFilter | None, measured: RowMeasurement | None = None) -> RowEstimate | None:
        return rows_of(pair, self._rows, self._rectification, sequence, measured)

    def _rows_in(self, sequence: RowFilter, left: Any, right: Any) -> RowEstimate | None:
        """Returns the rows of the next pair of a sequence; None if the matcher does not estimate them."""
        pair = _native.Pair({"left": _options.image("left", left), "right": _options.image("right", right)}, self._bit_depth, self._color, None)
        if not self._rows.is_auto or self._planned_rows(pair.kind) is None:
            return None
        measured = None if self._tracker is None else self._tracker._follow(pair, measures=True)
        return self._rows_of(pair, sequence, measured)

    def _planned_rows(self, kind: Any) -> RowAlignment | None:
        """Returns the alignment to plan with. Pairs of a plan with RowAlignment() have alignments of their own."""
        image, costs, place = kind
        if not self._rows.is_auto:
            return self._rows.fixed
        can_align = image is not None and costs is None and not place and not (self._options["stripe"] or self._options["refine_only"])
        return RowAlignment() if can_align else None

    def _unrefined(self, left: Any, right: Any, place: str) -> Result:
        """Returns the map of a pair on a GPU, where refinements cannot read it."""
        refined = [slot.slot for slot in self._pipeline.slots() if slot.is_refinement]
        if refined or self._want or self._rows.fixed or any(self._options[name] for name in ("region", "calibration")):
            raise CallError(
                f"the images are on {place}, where the map of {self._pipeline.method} cannot be refined, cut, rectified or aligned; "
                "copy the images to the host, or leave refinements, want, region, calibration and align_rows out"
            )
        if self._disparities is None:
            raise CallError("disparities=None is estimated on the host, but left is on a GPU; give the search range")
        images = [seen(image, self._color, self._bit_depth) for image in (left, right)]
        return Result({**device_map(self._moved, images[0], images[1], self._disparities), "times": []}, self._pipeline.method)

    @functools.cached_property
    def _moved(self) -> Method:
        """The method from outside the library, on the matcher's device."""
        assert self._external is not None
        return method_on(self._external, self._options["device"], self._options["threads"])

    def _checked_external(self) -> Method | None:
        """Returns the pipeline's method from outside the library. Rejects options that do not apply to it."""
        external = self._pipeline.external
        if external is None:
            return None
        if self._options["stripe"] or self._options["refine_only"] or self._probes:
            raise CallError(f"stripe, refine_only and probes do not apply to {self._pipeline.method}; leave them out")
        costs = {"volume", "cost", "aggregated", "optimised"} & {*self._want}
        if costs:
            raise CallError(f"{self._pipeline.method} has no {sorted(costs)[0]}; request other outputs")
        return external

    async def amatch(self, left: Any, right: Any, **how: Any) -> Result:
        """Matches a pair without blocking the event loop, with the arguments of a call: `await matcher.amatch(left, right)`."""
        import asyncio  # imported here, because it is slow and rarely needed

        return await asyncio.to_thread(self, left, right, **how)

    def stream(
        self,
        pairs: Iterable[tuple[Any, Any]],
        *,
        in_flight: int = 3,
        copy: bool = True,
        progress: bool | OnProgress = False,
    ) -> Iterator[Result]:
        """Yields the results of pairs (left, right) in order, with up to `in_flight` pairs in flight on each device.

        pairs      an iterable of pairs. It is asked for the next pair only if fewer than `in_flight` are in flight
        in_flight  1 to 1024; with 1, the next pair is read after the previous result was yielded
        copy       True: pairs are copied if several may be in flight, so that the iterable may reuse its arrays. False: arrays must
                   remain unchanged until their result is yielded, and a pair that shares memory with a pair in flight raises CallError
        progress   True for a line on a terminal's stderr, or a function of (number of results, number of pairs or None)

        Ctrl-C, or leaving the loop, ends the stream after the pairs in flight. Pairs of a pipeline with Python stages, or of a method
        from outside the library, are matched one by one.
        """
        in_flight = _options.integer("in_flight", in_flight, 1, 1024)
        try:
            given = iter(pairs)
        except TypeError:
            raise CallError(f"pairs={_options.shown(pairs)} is not allowed; it must be an iterable of pairs (left, right)") from None
        flight = Flight(given, lambda _: self, in_flight, _options.flag("copy", copy), RowFilter(), Seeds(previous=False))
        return Progress.of(pairs, progress).over(self._streamed(flight, copy))

    def _streamed(self, flight: Flight[Matcher], copy: bool) -> Iterator[Result]:
        judge = self._new_judge()
        before: _native.Pair | None = None
        for flying, error in flight:
            if error is not None:
                raise error
            self._warn_of(judge, flying.result, flying.pair, before)
            before = flying.pair if copy and judge is not None else None  # without copies, its arrays may hold another pair now
            yield flying.result

    def _pair_of_stream(self, left: Any, right: Any, mask_left: Any = None, mask_right: Any = None, **seeds: Any) -> _native.Pair:
        left, right = _options.image("left", left), _options.image("right", right)
        images = {"left": left, "right": right, "mask_left": mask_left, "mask_right": mask_right}
        pair = _native.Pair(images | seeds, self._bit_depth, self._color, None)
        if pair.kind[2]:
            raise CallError("a stream requires arrays of the host, and these are on a GPU; call the matcher for each pair instead")
        return pair

    def _matched_shape(self, pair: _native.Pair) -> tuple[int, int]:
        """Returns the (height, width) of a pair as it is matched."""
        width, height = self._rectification.size if self._rectification is not None else reversed(pair.kind[0][:2])
        return height, width

    def _new_judge(self) -> _pair.Judge | None:
        judged = self._warn_of_pair and not self._options["stripe"] and not self._options["refine_only"]
        return _pair.Judge() if judged else None

    def _warn_of(self, judge: _pair.Judge | None, result: Result, pair: _native.Pair, before: _native.Pair | None) -> None:
        """Warns if a pair in host memory seems wrong. Each kind of warning is given once."""
        if judge is None:
            return
        fault = judge.fault_of(result, lambda: pair, lambda: before, self._rectification, self._expects_negative)
        if fault is not None and judge.is_new:
            _pair.warn(f"{fault.sentence} ({100 * result.measured_share:.0f} % of the pixels are measured)")

    def explain(self, left: Any = None, right: Any = None) -> Explanation:
        """Returns the Explanation of the plan: the steps, their implementations, and the memory.

        The plan is for images like `left` and `right`, or else for images like the last pair. Before the first pair, the plan is for 8-bit
        colour images of the size of the rig or the calibration, or of 640×480 pixels.
        """
        self._check_open()
        if left is not None:
            left, right = _options.image("left", left), _options.image("right", right)
            pair = _native.Pair({"left": left, "right": right}, self._bit_depth, self._color, None)
            return Explanation(self._plan(pair, left, right), pair.kind)
        for made_for, planned in reversed(list(self._planned.values())):
            if made_for.still(_MadeFor(self._kind, self._pipeline, self._probes)):
                return Explanation(planned, self._kind)
        if self._chooser is not None and self._choice is None:
            raise CallError(f"{self._chooser.text} chooses from a pair, and there was no pair yet; call explain(left, right)")
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
        """Devices that failed while others continued, each with its error message."""
        return {name: why for _, planned in self._planned.values() for name, why in planned.lost}

    def get_params(self) -> dict[str, Value]:
        """Returns all parameters of the pipeline by name."""
        return self._pipeline.get_params()

    def set_params(self, **parameters: object) -> Matcher:
        """Sets parameters for later pairs: m.set_params(**{"optimisation.p1": 20}). If one value is not allowed, no parameter changes. Returns the
        matcher.
        """
        if self._chooser is not None:
            raise CallError(f"{self._chooser.text} chooses the parameters; make a Matcher with the options of its choice to change them")
        self._pipeline = self._pipeline.copy().update(parameters)
        self._planned.clear()
        return self

    @property
    def pipeline(self) -> Pipeline:
        """A copy of the pipeline."""
        return self._pipeline.copy()

    @property
    def choice(self) -> BudgetChoice | None:
        """The BudgetChoice for pairs like the last one; None without a budget, and before the first pair."""
        return None if self._choice is None else self._choice[1]

    @property
    def probes(self) -> list[tuple[int, int]]:
        """Pixels (x, y) whose costs are requested; a new value applies from the next pair on."""
        return list(self._probes)

    @probes.setter
    def probes(self, probes: Sequence[tuple[int, int]]) -> None:
        self._probes = _options.pixels("probes", probes)
        self._planned.clear()

    @property
    def device(self) -> str:
        """Name of the device that matches pairs like the last one. A network names the provider that runs it."""
        provider = None if self._external is None else getattr(self._moved, "provider", None)
        return str(provider) if provider is not None else self.explain().device

    @property
    def disparities(self) -> tuple[int, int] | None:
        """The search range (first, end); None before the first pair if the range is estimated."""
        return self._disparities

    def close(self) -> None:
        """Frees the memory of the matcher. Results remain valid."""
        self._closed = True
        self._planned.clear()

    def __getstate__(self) -> dict[str, Any]:
        """Returns the state from which a copy is made. The copy has its own plan, so that both matchers can run at the same time."""
        state = {name: value for name, value in self.__dict__.items() if name not in ("_rectification", "_moved", "_turns")}
        return {**state, "_planned": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _turns=_turns_of(state["_pipeline"]))

    def __enter__(self) -> Matcher:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise CallError("the matcher is closed; create a new one")

    def _has_plan(self, pair: _native.Pair, in_flight: int) -> bool:
        planned = self._planned.get(in_flight)
        return planned is not None and planned[0].still(_MadeFor(pair.kind, self._pipeline, self._probes))

    def _plan(self, pair: _native.Pair, left: Any, right: Any, in_flight: int = 1) -> _native.Matcher:
        self._check_open()
        now = _MadeFor(pair.kind, self._pipeline, self._probes)
        # Frees workspaces of other pairs before another one is allocated.
        self._planned = {number: planned for number, planned in self._planned.items() if planned[0].still(now)}
        if in_flight in self._planned:
            return self._planned[in_flight][1]
        _, costs, place = now.kind
        if costs is not None:
            disparities = self._range_of_volume(costs[2])
        elif self._disparities is None and place:
            raise CallError("disparities=None is estimated on the host, but left is on a GPU; give the search range")
        else:
            disparities = self._disparities or self._estimated(left, right)
        if self._chooser is not None:
            now = self._chosen_for(now, disparities, pair)
        planned = self._planned_for(now, disparities, in_flight)
        if self._warn_of_pair and now.kind[0] is not None:
            self._warn_of_rig((now.kind[0][1], now.kind[0][0]))
            _pair.warn_of_scale(pair, left)
        self._disparities, self._kind = disparities, now.kind
        self._planned[in_flight] = (now, planned)
        return planned

    def _chosen_for(self, now: _MadeFor, disparities: tuple[int, int], pair: _native.Pair) -> _MadeFor:
        """Makes the choice within the budget for pairs like this one, if it was not made before."""
        assert self._chooser is not None
        if now.kind[1] is not None:
            raise CallError(f"{self._chooser.text} chooses a method, and volume replaces its costs; leave one of them out")
        if self._choice is None or self._choice[0] != now.kind:
            warn = functools.partial(_pair.warn, category=UserWarning)
            self._choice = now.kind, self._chooser.choose(self._request(now, disparities, 1), pair, disparities, warn)
            self._pipeline = self._choice[1].pipeline
        return now._replace(pipeline=self._pipeline)

    def _warn_of_rig(self, size: tuple[int, int]) -> None:
        """Warns if the rig is not that of images of this size: their depth would be wrong."""
        rig: Rig | None = self._options["rig"]
        if rig is None or self._options["stripe"] is not None:
            return
        images, x, y = f"{size[0]}×{size[1]}", rig.cx_left, rig.cy
        if rig.size not in ((0, 0), size):
            (width, height), scale = rig.size, size[0] / rig.size[0]
            scaled = f"read it with scale={scale:.6g}, or " if abs(scale * height - size[1]) <= 1 else ""
            _pair.warn(f"the rig is for images of {width}×{height}, and these have {images}; {scaled}give the rig of these images", CalibrationWarning)
        elif not (0 <= x < size[0] and 0 <= y < size[1]):
            _pair.warn(f"the principal point of the rig, ({x:g}, {y:g}), is outside images of {images}; give the rig of these images", CalibrationWarning)

    def _estimated(self, left: Any, right: Any) -> tuple[int, int]:
        if self._options["calibration"] is not None and self._color != "rgb":
            raise CallError(f"disparities=None is estimated from rectified images, which color='{self._color}' does not support; give the search range")
        left, right, color = self._rectified(left, right)
        return _native.estimate_disparities(left, right, color, self._bit_depth)

    def _rectified(self, left: Any, right: Any) -> tuple[Any, Any, str]:
        """Returns the images to match: images of raw cameras are rectified first."""
        if self._rectification is None:
            return left, right, self._color
        left, right, *_ = self._rectification(left, right)
        return left, right, "rgb"

    @functools.cached_property
    def _rectification(self) -> _native.Rectification | None:
        calibration = self._options["calibration"]
        return None if calibration is None else _native.Rectification(calibration)

    def _planned_for(self, of: _MadeFor, disparities: tuple[int, int], in_flight: int) -> _native.Matcher:
        pipeline = of.pipeline if self._external is None else of.pipeline._with(self._moved)
        return _native.Matcher(pipeline, self._request(of, disparities, in_flight))

    def _request(self, of: _MadeFor, disparities: tuple[int, int], in_flight: int) -> _native.Request:
        image, costs, place = of.kind
        h, w, channels, dtype = image or (costs[0], costs[1], 1, "uint8")
        return _native.Request(
            (h, w, channels),
            dtype,
            self._bit_depth,
            disparities,
            None if costs is None else costs[3],
            image is None,
            want=[_last_volume(of.pipeline) if name == "volume" else name for name in self._want],
            probes=of.probes,
            batch=in_flight,
            color=self._color if image is not None else "rgb",
            row_alignment=self._planned_rows(of.kind),
            **self._options | {"device": self._device_for(place)},
            **self._constant_regions(has_images=image is not None),
        )

    def _constant_regions(self, has_images: bool) -> dict[str, Any]:
        """Returns what the library does with regions without contrast."""
        of_part = self._options["refine_only"] or self._options["stripe"] is not None
        measures = of_part if self._measure_constant is None else self._measure_constant
        marks = has_images and not measures
        return {"black": self._black if marks and not of_part else None, "mark_flat": marks}

    def _device_for(self, place: str) -> str:
        """Returns the device for arrays at `place`: `auto` means the device that holds them."""
        device: str = self._options["device"]
        if not place:
            return device if self._external is None else "cpu"  # a method from outside the library chooses its device itself
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
    method: str | Method | None = None,
    device: str = "auto",
    set: Mapping[str, object] | None = None,
    pipeline: Pipeline | None = None,
    *,
    mask_left: Any = None,
    mask_right: Any = None,
    seeds: Any = None,
    seed_trust: Any = None,
    region: tuple[int, int, int, int] | None = None,
    want: Sequence[str] | str = (),
    stream: Any = None,
    align_rows: AlignRows = "auto",
    **options: Any,
) -> Result:
    """Matches a rectified pair once, and returns its Result.

    The options are those of Matcher and of the call of a matcher. For `out`, `volume` or `maps`, use a Matcher. `seeds` also sets the
    stage seeds of a pipeline that has none.

    Unless align_rows is "off", the right image is aligned first if its rows differ from those of the left one: Result.rows says by how much.

    >>> import numpy as np, stereopsis as st
    >>> scene = st.synth("table", width=160, height=120, disparities=32)
    >>> r = st.match(scene.left, scene.right, disparities=32)
    >>> r.disparity.shape, r.disparity.dtype
    ((120, 160), dtype('float32'))
    >>> bool(np.nanmedian(abs(r.disparity - scene.disparity)) < 1)
    True
    """
    if seeds is not None:
        set = {"seeds.stage": "seeds", **(set or {})}
    with Matcher(
        method, disparities=disparities, device=device, set=set, pipeline=pipeline, region=region, want=want, align_rows=align_rows, **options
    ) as matcher:
        return matcher(left, right, mask_left=mask_left, mask_right=mask_right, seeds=seeds, seed_trust=seed_trust, stream=stream)


def choose_method(left: Any, right: Any, budget: str | float, disparities: Disparities = None, **options: Any) -> BudgetChoice:
    """Returns the BudgetChoice of the method and the size of the images that match a pair within a time.

    budget   largest time of a pair: "30ms", or a number of seconds
    options  those of match(); left, right and disparities are those of Matcher, too. A method, a pipeline or parameters are kept, and only
             the size is chosen

    The times of the candidates are measured once for each device, size, search range and set of outputs; the package and the command keep
    them in one file. Raises UnsupportedError with the least possible time for a budget that cannot be met.

    >>> import stereopsis as st
    >>> scene = st.synth("table", width=160, height=120, disparities=32)
    >>> choice = st.choose_method(scene.left, scene.right, "10s", 32, device="cpu")
    >>> choice.method, choice.factor, choice.disparities
    ('accurate', 1, (0, 32))
    >>> st.match(scene.left, scene.right, device="cpu", **choice.options)  # doctest: +ELLIPSIS
    <result 160×120 by ...
    """
    choice = match(left, right, disparities, budget=budget, **options).choice
    assert choice is not None
    return choice


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
    """Computes a disparity map from a cost volume.

    volume       (h, w, disparities) uint8, uint16 or float32; low costs are good. NaN, infinity and 65535 mark absent candidates
    optimise, aggregate  names of the stages in these slots, or "none"
    refinements  names of the refinements, in order
    first        disparity of the first candidate
    largest      largest possible cost; stages with 8-bit costs use steps of 1/255 of it. 0: the largest value of the type, or 1 for
                 float32
    left, right  images, required only by stages that read them. Without images, the penalties of `sgm` are constant (gradient = 0)
    set          parameters of the stages, such as {"optimisation.p1": 12}
    stream       as in a call of Matcher

    Other options are those of Matcher: want=["volume"] returns the optimised volume.

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
        pipeline.set("optimisation.gradient", 0)
    shape: tuple[int, ...] = tuple(getattr(volume, "shape", ()))
    if len(shape) != 3:
        raise CallError(f"volume has the shape {shape}; a cost volume must be (height, width, disparities)")
    first = _options.integer("first", first)
    if _options.number("largest", largest):
        pipeline.set("cost.largest", largest)
    with Matcher(pipeline=pipeline, disparities=(first, first + int(shape[2])), set=set, **options) as matcher:
        return matcher(left, right, volume=volume, stream=stream)
