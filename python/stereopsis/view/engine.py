"""The thread that reads, matches and publishes. Pages take the newest result and never slow the thread down."""

import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from .. import _native
from .._budget import Budget, BudgetChoice
from .._errors import CallError, Error
from .._matching import Matcher
from .._native import RowFilter
from .._pair import Fault, Judge
from .._pair_source import black_of
from .._result import Result
from .._run import Run, RunResult
from .._tracking import RigTracker
from . import settings as processing
from .frame import Frame
from .pairing import Pairing
from .playback import Playback, Rate
from .preparation import Prepared, prepare, scaled_rig
from .settings import Range, Settings
from .sources import Source

Pixel = tuple[int, int]
PLAYING = {"play", "grab", "step", "seek", "speed", "repeat"}


@dataclass(frozen=True)
class Shown:
    """A result with the pair and the settings from which it was computed."""

    serial: int
    pair: int  # number that changes with the pair and with its preparation
    index: int
    prepared: Prepared
    settings: Settings
    disparities: Range
    result: Result
    pinned: Result | None
    pinned_ms: float
    ms: float
    device: str  # the device that matched the pair
    revision: int  # revision of the settings


class Matchers:
    """Matchers that are kept as long as their settings do not change."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[object, Matcher]] = {}
        self._devices: dict[str, str] = {}

    def of(self, use: str, prepared: Prepared, settings: Settings, want: Iterable[str], probes: Sequence[Pixel] = ()) -> Matcher:
        key = (settings, prepared.scale, prepared.size, prepared.frame.bit_depth, prepared.to_align is None, prepared.seeds is None, set(want), list(probes))
        before = self._kept.get(use)
        if before is None or before[0] != key:
            self.drop(use)
            self._kept[use] = key, matcher_of(prepared, settings, want, probes)
        return self._kept[use][1]

    def device(self, use: str) -> str:
        """Returns the device of the last pair, which `auto` chose."""
        if use not in self._devices:
            self._devices[use] = self._kept[use][1].explain().device
        return self._devices[use]

    def drop(self, use: str) -> None:
        self._devices.pop(use, None)
        if use in self._kept:
            self._kept.pop(use)[1].close()


def matcher_of(
    prepared: Prepared, settings: Settings, want: Iterable[str], probes: Sequence[Pixel] = (), budget: Budget | None = None
) -> Matcher:
    """Returns the matcher of pairs like this one. With a budget, it chooses the pipeline."""
    assert settings.disparities is not None
    return Matcher(
        pipeline=settings.effective_pipeline() if budget is None else settings.sized,
        budget=budget,
        set=None if prepared.seeds is None else {"seeds.stage": "seeds"},
        disparities=prepared.range_of(settings.disparities),
        device=settings.device,
        threads=settings.threads,
        region=prepared.region_of(settings.region),
        want=sorted(want),
        probes=probes,
        rig=prepared.rig,
        fill_depth=settings.fill_depth,
        align_rows="off" if prepared.to_align is None else "auto",  # each call has the alignment of its pair
        bit_depth=prepared.frame.bit_depth,
        black=black_of(prepared.frame.files[0] if prepared.frame.files else None),
        warn_of_pair=False,  # the page shows the fault
    )


def _end(inside: float, end: float, step: float, allows: Callable[[float], bool]) -> float:
    """Returns the last allowed value on the way from `inside`, which is allowed, to `end`, by bisection."""
    if allows(end):
        return end
    steps = int((end - inside) / step)
    low, high = 0, steps  # the value after `low` steps is allowed
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if allows(inside + middle * step) else (low, middle)
    return inside + low * step


class Engine:
    """The engine calls `notify` on the engine's thread, with "frame" for a new result and with "state" for a new state."""

    def __init__(
        self,
        sources: Sequence[Source],
        settings: Settings,
        rig: _native.Rig | None = None,
        calibration: _native.Calibration | None = None,
        playing: bool = True,
        speed: float = 0.0,
        notify: Callable[[str], None] = lambda what: None,
        track_rig: str = "",  # file for the calibration of a rig that moves; "": it does not move
    ) -> None:
        self.sources, self.notify = list(sources), notify
        self.rig, self.calibration = rig, calibration
        self._track_rig = track_rig
        self._tracker: tuple[int, RigTracker] | None = None  # the source, and the tracker of its rig
        self.revision = 0
        self.settings = settings
        self.pinned: Settings | None = None
        self.source_index = 0
        self.playback = Playback(playing, speed)
        self.shown: Shown | None = None
        self.trouble = ""
        self.fault: Fault | None = None  # fault of the last pair that was checked
        self._judge: tuple[object, Judge] | None = None  # the judge of pairs that are prepared in one way
        self._judged_pair = 0  # number of the last pair that was judged
        self._before: tuple[int, Prepared] | None = None  # index of that pair, and its images
        self._sequence: tuple[object, int, RowFilter] = None, -1, RowFilter()  # the preparation of the last pair, its index and its filter
        self.grabbing, self.matching = Rate(), Rate()
        self._wants: dict[object, frozenset[str]] = {}
        self._wake = threading.Condition()
        self._dirty, self._closing, self._serial, self._pair = True, False, 0, 0
        self._frame: tuple[object, Frame] | None = None
        self._prepared: tuple[object, Prepared] | None = None
        self._ahead: tuple[object, Future[Frame]] | None = None
        self._matchers = Matchers()
        self._reader = ThreadPoolExecutor(1, "reader")
        self._worker = threading.Thread(target=self._run, name="engine", daemon=True)
        self.playback.open(self.source.length)

    @property
    def rectifiable(self) -> bool:
        own = self.shown.prepared.frame.calibration if self.shown and self.rig is None else None
        return self.calibration is not None or own is not None

    @property
    def source(self) -> Source:
        return self.sources[self.source_index]

    def start(self) -> None:
        self._worker.start()

    def chosen_first(self) -> BudgetChoice:
        """Matches the first pair before start(), and returns the choice of the budget. Raises Error."""
        self._work(True, self.revision, self.source, self.source_index, 0, self.settings, None, frozenset())
        assert self.settings.choice is not None
        return self.settings.choice

    def close(self) -> None:
        with self._wake:
            self._closing = True
            self._wake.notify()
        self._worker.join()
        self._write_rig()
        for source in self.sources:
            self._reader.submit(source.close)
        self._reader.shutdown()

    def change(self, message: Mapping[str, Any]) -> None:
        """Applies a request of a page. Raises CallError for a wrong request, and then changes nothing. May plan, which takes a while."""
        do = message["do"]
        if do in processing.CHANGES:
            self._check_change(message)  # before the lock, for which the event loop waits
        with self._wake:
            if do in PLAYING:
                self.playback.change(message)
                self._dirty |= do in ("step", "seek") and not self.playback.live
                self._let_go(self.source)
            elif do == "source":
                self._open(int(message["index"]))
            elif do == "pin":
                self.pinned = self.settings if message["on"] else None
            elif do in processing.CHANGES:
                self.settings = processing.changed(self.settings, message)
            else:
                raise CallError(f"there is no action '{do}'")
            self._dirty |= do not in PLAYING
            self.revision += do not in PLAYING
            self._wake.notify()
        self.notify("state")

    def _check_change(self, message: Mapping[str, Any]) -> None:
        """Rejects a parameter that contradicts the others. Matching then continues, and the page shows the previous value."""
        before = self.settings
        changed = processing.changed(before, message)
        if message["do"] == "set" and not str(message["name"]).endswith(".stage"):
            try:
                self._plan(changed)
            except Error:
                if self._can_run(before):
                    raise

    def _can_run(self, settings: Settings) -> bool:
        try:
            self._plan(settings)
        except Error:
            return False
        return True

    def _plan(self, settings: Settings) -> None:
        """Raises Error if a pair like the present one cannot be matched with these settings."""
        settings = replace(settings, device="cpu", disparities=settings.disparities or (0, 64))
        if self.shown is None:
            Matcher(pipeline=settings.effective_pipeline(), disparities=settings.disparities, device="cpu").explain()
        else:
            prepared = self.shown.prepared
            matcher_of(prepared, settings, ()).explain(prepared.left, prepared.right)

    def limits(self, name: str) -> tuple[float, float] | None:
        """Returns the lowest and the highest value of a numeric parameter that the other parameters allow now; None if the pipeline has no
        such parameter.
        """
        settings = self.settings
        found = next((info for info in settings.pipeline.parameters() if info.name == name), None)
        if found is None or found.minimum is None or found.maximum is None:
            return None
        step = found.step or (1.0 if found.type == "integer" else (found.maximum - found.minimum) / 1024)

        def allows(value: float) -> bool:
            text = str(round(value)) if found.type == "integer" else repr(value)
            try:
                changed = processing.changed(settings, {"do": "set", "name": name, "value": text})
            except Error:
                return True  # a single value, such as an even one, says nothing about those beyond it
            return self._can_run(changed)

        now = float(found.value)
        return _end(now, found.minimum, -step, allows), _end(now, found.maximum, step, allows)

    def pair(self, how: Pairing) -> None:
        """Pairs the views of the source in another way. If Error is raised, the previous pairing remains."""
        source = self.source
        if source.pairing is None:
            raise CallError(f"'{source.name}' does not have two views to pair")
        self._reader.submit(source.pair, how).result()
        with self._wake:
            if source is self.source:
                self._frame = self._ahead = None
                self.playback.open(source.length)
                self._dirty = True
                self.revision += 1
            self._wake.notify()
        self.notify("state")

    def want(self, page: object, names: frozenset[str] | None) -> None:
        """Sets the outputs that a page shows in addition to the disparity; None when the page is closed."""
        with self._wake:
            before = self._wanted()
            if names is None:
                self._wants.pop(page, None)
            else:
                self._wants[page] = names
            if not self._wanted() <= before:
                self._dirty = True
                self._wake.notify()

    def _wanted(self) -> frozenset[str]:
        return frozenset().union(*self._wants.values())

    def _open(self, index: int) -> None:
        if not 0 <= index < len(self.sources):
            raise CallError(f"there is no source {index}; the sources are 0 to {len(self.sources) - 1}")
        before, self.source_index = self.source, index
        self._let_go(before)
        self._frame = self._ahead = None
        self.settings = replace(self.settings, disparities=None, region=None, choice=None)
        self.playback.open(self.source.length)

    def _let_go(self, source: Source) -> None:
        """Closes a source that is no longer read; the next read opens it again."""
        if source is not self.source or self.playback.off:
            self._reader.submit(source.close)

    def _run(self) -> None:
        while True:
            with self._wake:
                while not (self._closing or self._dirty or self.playback.wait() == 0.0):
                    self._wake.wait(self.playback.wait())
                if self._closing:
                    return
                played = self.playback.playing
                fresh = self._advance()
                job = self.source, self.source_index, self.playback.index, self.settings, self.pinned, self._wanted()
                revision = self.revision
            trouble = ""
            try:
                self._work(fresh, revision, *job)
            except Exception as error:  # noqa: BLE001 - whatever it is, the page says it, and the next pair may do
                trouble = str(error) or type(error).__name__
                with self._wake:
                    self.playback.playing = self.playback.playing and not self._dirty and self.playback.live
            self._let_go(job[0])
            if trouble != self.trouble or played != self.playback.playing:
                self.trouble = trouble
                self.notify("state")

    def _advance(self) -> bool:
        """Returns whether to read another live pair. Changed settings are applied to the present pair."""
        dirty, self._dirty = self._dirty, False
        if self.playback.wait() != 0.0 or (dirty and not self.playback.playing):
            return self._frame is None
        if self._frame is not None:
            self.playback.advance()
        return True

    def _work(
        self,
        fresh: bool,
        revision: int,
        source: Source,
        source_index: int,
        index: int,
        settings: Settings,
        pinned: Settings | None,
        wanted: frozenset[str],
    ) -> None:
        frame = self._read(fresh, source, source_index, index)
        if settings.disparities is None:
            settings = self._with_range(source, source_index, settings, frame)
        geometry = (id(frame), settings.resolution, settings.swapped, settings.rectified, settings.aligns_rows, settings.uses_seeds)
        if self._prepared is None or self._prepared[0] != geometry:
            sequence = None if source.length == 1 else self._sequence_of((source_index, *geometry[1:]), index, source)
            tracker = self._tracker_of(source_index, frame, settings)
            self._prepared = geometry, prepare(frame, settings, self.rig, self.calibration, sequence, tracker)
            self._pair += 1
        prepared = self._prepared[1]
        if settings.budget is not None and settings.choice is None:
            settings = self._with_choice(source_index, settings, prepared)
        started = time.perf_counter()
        matcher = self._matchers.of("shown", prepared, settings, wanted & {"confidence"})
        result = self._judged((source_index, *geometry[1:]), index, prepared, matcher).result
        ms = (time.perf_counter() - started) * 1e3
        self.matching.count()
        other, pinned_ms = None, 0.0
        if pinned is None:
            self._matchers.drop("pinned")
        else:
            beside = replace(pinned, disparities=pinned.disparities or settings.disparities, region=settings.region)
            started = time.perf_counter()
            matcher = self._matchers.of("pinned", prepared, beside, [])
            other = Run(matcher=matcher).one(prepared, judge=False, align_rows=prepared.to_align).result
            pinned_ms = (time.perf_counter() - started) * 1e3
        assert settings.disparities is not None
        self._serial += 1
        rectifiable = self.rectifiable
        searched = prepared.range_of(settings.disparities)
        device = self._matchers.device("shown")
        self.shown = Shown(self._serial, self._pair, index, prepared, settings, searched, result, other, pinned_ms, ms, device, revision)
        self.notify("frame")
        if rectifiable != self.rectifiable:  # with the cameras of the pair itself
            self.notify("state")

    def _judged(self, way: object, index: int, prepared: Prepared, matcher: Matcher) -> RunResult:
        """Matches a pair, and notes its fault if the pair is new. `way` is how pairs are prepared."""
        is_new = self._judged_pair != self._pair
        if self._judge is None or self._judge[0] != way:
            self._judge, self._before = (way, Judge()), None
        before = self._before[1] if self._before is not None and self._before[0] == index - 1 else None
        done = Run(matcher=matcher, _judge=self._judge[1]).one(prepared, judge=is_new, before=lambda: before, align_rows=prepared.to_align)
        if is_new:
            self._judged_pair, self._before = self._pair, (index, prepared)
            fault_before, self.fault = self.fault, done.fault
            if fault_before != self.fault:
                self.notify("state")
        return done

    def _sequence_of(self, way: object, index: int, source: Source) -> RowFilter:
        """Returns the filter that follows the rows of pairs which are prepared in one way. It starts again after a jump."""
        way_before, before, sequence = self._sequence
        if way_before != way or (source.length is not None and before != index - 1):
            sequence = RowFilter()
        self._sequence = way, index, sequence
        return sequence

    def _tracker_of(self, source_index: int, frame: Frame, settings: Settings) -> RigTracker | None:
        """Returns the tracker of a rig that moves; None for pairs that are shown as they are."""
        rig, calibration = (self.rig, self.calibration) if self.rig is not None else (frame.rig, frame.calibration)
        if not self._track_rig or settings.swapped or not settings.rectified or rig is None:
            return None
        if self._tracker is None or self._tracker[0] != source_index:
            self._write_rig()
            self._tracker = source_index, RigTracker(calibration or rig)
        for news in self._tracker[1].news():
            print(f"stereopsis: pair {news.pair}: {news.sentence}", file=sys.stderr, flush=True)
        return self._tracker[1]

    def _write_rig(self) -> None:
        if self._tracker is not None:
            self._tracker[1].calibration.write(self._track_rig)

    def _read(self, fresh: bool, source: Source, source_index: int, index: int) -> Frame:
        key = (source_index, index)
        live = source.length is None
        if self._frame is not None and self._frame[0] == key and not (live and fresh):
            return self._frame[1]
        if self._ahead is not None and self._ahead[0] == key:
            frame = self._ahead[1].result()
        else:
            frame = self._reader.submit(source.read, index).result()
        self.grabbing.count()
        with self._wake:
            if source is self.source and source.length is not None and source.length < self.playback.length:
                self.playback.end_at(source.length)
        self._frame, self._ahead = (key, frame), None
        if source.length is not None and source.length > 1:
            following = (index + 1) % source.length
            self._ahead = (source_index, following), self._reader.submit(source.read, following)
        return frame

    def _with_range(self, source: Source, source_index: int, settings: Settings, frame: Frame) -> Settings:
        found = source.disparities or self._estimated(settings, frame)
        with self._wake:
            if self.source_index == source_index and self.settings.disparities is None:
                self.settings = replace(self.settings, disparities=found)
        self.notify("state")
        return replace(settings, disparities=found)

    def _with_choice(self, source_index: int, settings: Settings, prepared: Prepared) -> Settings:
        """Returns the settings with the pipeline that the budget chooses for this pair."""
        with matcher_of(prepared, settings, (), budget=settings.budget) as matcher:
            choice = Run(matcher=matcher).one(prepared, judge=False, align_rows=prepared.to_align).result.choice
        assert choice is not None
        with self._wake:
            if self.source_index == source_index and self.settings.budget is not None:
                self.settings = processing.with_choice(self.settings, choice)
        self.notify("state")
        return processing.with_choice(settings, choice)

    def _estimated(self, settings: Settings, frame: Frame) -> Range:
        whole = prepare(frame, replace(settings, resolution="full", aligns_rows=False), self.rig, self.calibration)
        return _native.estimate_disparities(whole.left, whole.right, bit_depth=whole.frame.bit_depth)

    def estimate(self) -> None:
        """Returns the search range that is estimated from the images of the present pair. Raises Error."""
        if self.shown is None:
            raise CallError("there is no pair yet from which the search range could be estimated")
        first, end = self._estimated(self.shown.settings, self.shown.prepared.frame)
        self.change({"do": "range", "first": first, "end": end})

    def frames(self, most: int) -> list[Frame]:
        """Returns pairs of the source, spread evenly; of a live source, the newest ones. Raises Error."""
        source = self.source
        length = most if source.length is None else source.length
        count = min(most, length)
        return [self._reader.submit(source.read, i * length // count).result() for i in range(count)]

    def cameras_of(self, frame: Frame) -> _native.Calibration | _native.Rig | None:
        """Returns the calibration of raw pairs, or the rig of rectified ones; None if none is known."""
        rig, raw = (frame.rig, frame.calibration) if self.rig is None else (self.rig, self.calibration)
        if raw is not None:
            return raw
        return None if rig is None else scaled_rig(rig, (1.0, 1.0), (frame.left.shape[1], frame.left.shape[0]))

    def rates(self) -> dict[str, float]:
        return {"grabbing": self.grabbing.value(), "matching": self.matching.value()}
