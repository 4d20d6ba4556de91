"""Matches stamped pairs, with one matcher for pairs of one kind and several pairs in flight."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._errors import CallError, DeviceError, Error
from .._matching import Matcher
from .._native import Calibration
from .._pair import COMMAND_ADVICE
from .._pair_source import BLACK_OF_LOSSY
from .._pipeline import Pipeline
from .._result import Result
from .._rows import AlignRows
from .._run import Run, RunResult
from .._seeds import outside_of
from .._tracking import RigTracker
from .cameras import Cameras
from .images import Array
from .notes import Notes
from .pairs import StampedPair
from .searched import Searched
from .stamps import shown

PRODUCTS = ("disparity", "depth", "points", "confidence")


@dataclass(frozen=True)
class Matching:
    """The settings of matching. The search range is `disparities`, (first, end), or is computed from `near_far`, in metres. If both are
    None, the range is estimated from the first pair.
    """

    pipeline: Pipeline
    device: str = "auto"
    threads: int = 0
    disparities: tuple[int, int] | None = None
    near_far: tuple[float, float] | None = None
    bit_depth: int = 0
    in_flight: int = 3
    align_rows: AlignRows = "auto"
    seed_previous: bool = False  # the disparities of the pair before are seeds
    track_rig: str = ""  # file for the calibration of a rig that moves; "": it does not move
    fill_depth: bool = False  # depth and points of filled and repaired pixels, too

    def range_of(self, cameras: Cameras | None) -> tuple[int, int] | None:
        if self.disparities is not None or self.near_far is None:
            return self.disparities
        if cameras is None:
            raise CallError("near and far require camera_info, and there is none; give the disparities")
        return cameras.rig.range(*self.near_far)


@dataclass(frozen=True)
class Matched:
    """A pair and its result. `colour` is the rectified left image, with which points are coloured."""

    pair: StampedPair
    result: Result
    searched: Searched
    colour: Array


class Processor:
    """Matches pairs. Pairs that cannot be matched are noted and skipped."""

    def __init__(self, matching: Matching, products: Sequence[str], notes: Notes) -> None:
        self._products, self._notes = set(products), notes
        self._matcher: tuple[object, Matcher] | None = None
        self.change(matching)
        self._estimated: tuple[int, int] | None = None
        self._tracked: tuple[Cameras, RigTracker] | None = None  # the cameras of the last pair
        self.failed = 0
        self._has_noted_shutters = False

    def over(self, pairs: Iterable[StampedPair]) -> Iterator[Matched]:
        """Yields the results in the order of the pairs; up to `in_flight` pairs are in flight."""
        for done in self._run.over(pairs):
            yield self._matched(done)

    def one(self, pair: StampedPair, products: Sequence[str]) -> Matched | None:
        """Matches one pair, waits for the result, and computes only the given products."""
        self._products = set(products)
        try:
            return self._matched(self._run.one(pair))
        except Error as error:
            self._fail(pair, error)
            return None

    def pass_rows(self, pair: StampedPair) -> None:
        """Notes the rows of a pair that an earlier run has matched, so that a resumed run has the alignments of an uninterrupted one."""
        if self._matching.align_rows == "auto":
            self._run.pass_rows(pair)

    @property
    def estimated(self) -> tuple[int, int] | None:
        """The search range that was estimated from the first pair; None if the settings have a range. A resumed run sets this range."""
        return self._estimated

    @estimated.setter
    def estimated(self, disparities: tuple[int, int] | None) -> None:
        self._estimated = disparities

    def change(self, matching: Matching) -> None:
        """Changes the settings from the next pair on."""
        self._matching = matching
        self._run = Run(matcher=self._matcher_for, in_flight=matching.in_flight, seed_previous=matching.seed_previous, on_error=self._fail)
        self.close()

    def close(self) -> None:
        if self._matcher is not None:
            self._matcher[1].close()
        self._matcher = None

    def _fail(self, pair: StampedPair, error: Error) -> None:
        if isinstance(error, DeviceError):
            raise error
        self.failed += 1
        self._notes.note("pairs that cannot be matched", f"at {shown(pair.stamp)} the pair cannot be matched: {error}")

    def _matcher_for(self, pair: StampedPair) -> Matcher:
        want = self._wanted(pair)
        key = (pair.cameras, pair.lossy, want)
        if self._matcher is None or self._matcher[0] != key:
            self.close()
            self._matcher = key, self._made(pair, want)
        return self._matcher[1]

    def _made(self, pair: StampedPair, want: tuple[str, ...]) -> Matcher:
        self._note_contrast(pair)
        cameras = pair.cameras
        raw = self._calibration_of(cameras)
        with_depth = "depth" in want or "points" in want
        m = self._matching
        return Matcher(
            pipeline=m.pipeline,
            set={"seeds.stage": "seeds"} if m.seed_previous or pair.seeds is not None else None,
            disparities=self._estimated or m.range_of(cameras),
            device=m.device,
            threads=m.threads,
            want=want,
            rig=cameras.rig if cameras is not None and raw is None and with_depth else None,
            calibration=raw,
            fill_depth=m.fill_depth,
            align_rows=m.align_rows,
            bit_depth=m.bit_depth,
            black=BLACK_OF_LOSSY if pair.lossy else 0,
            warn_of_pair=False,  # the run judges the pairs
        )

    def _calibration_of(self, cameras: Cameras | None) -> Calibration | RigTracker | None:
        """Returns what rectifies the pairs of these cameras. A rig that moves is followed as long as the cameras stay the same."""
        if cameras is None or not self._matching.track_rig:
            return None if cameras is None else cameras.calibration
        if self._tracked is None or self._tracked[0] != cameras:
            self.write_rig()
            self._tracked = cameras, RigTracker(cameras.calibration or cameras.rig)
        return self._tracked[1]

    def write_rig(self) -> None:
        """Writes the corrected cameras of a rig that moves, if there was a pair."""
        if self._tracked is not None:
            self._tracked[1].calibration.write(self._matching.track_rig)

    def _say_of_rig(self, pair: StampedPair) -> None:
        for news in [] if self._tracked is None else self._tracked[1].news():
            self._notes.say(f"at {shown(pair.stamp)}, pair {news.pair}: {news.sentence}")

    def _note_contrast(self, pair: StampedPair) -> None:
        """Notes 16-bit images of which few bits are used, such as the 10 bits of many cameras: they would be matched nearly black."""
        if pair.left.dtype != np.uint16 or self._matching.bit_depth:
            return
        largest = max(int(pair.left.max()), int(pair.right.max()))
        if largest < 1 << 12:
            bits = max(9, largest.bit_length())
            self._notes.note(
                "low contrast", f"no pixel of the pair at {shown(pair.stamp)} exceeds {largest} of 65535; if the images have {bits} bits, give --bit-depth {bits}"
            )

    def _wanted(self, pair: StampedPair) -> tuple[str, ...]:
        """Returns the outputs to request, by the library's names."""
        known = pair.cameras is not None
        needed = self._products | ({"depth"} if "registered" in self._products else set())
        want: list[str] = [name for name in ("depth", "points") if known and name in needed]
        if "confidence" in self._products:
            want.append("confidence")
        if "points" in want and pair.cameras is not None and pair.cameras.calibration is not None:
            want.append("rectified")
        return tuple(want)

    def _matched(self, done: RunResult) -> Matched:
        pair, result = done.pair, done.result
        self._say_of_rig(pair)
        if done.fault is not None:
            self._notes.note(f"pair: {done.fault.kind}", f"at {shown(pair.stamp)}, {done.fault.said_with(COMMAND_ADVICE)}")
        if not self._has_noted_shutters and self._run.shutters is not None:
            self._has_noted_shutters = True
            self._notes.note("shutters out of step", self._run.shutters.sentence)
        if pair.seeds is not None and (said := outside_of(pair.seeds, done.disparities)):
            self._notes.note("seeds outside the range", f"at {shown(pair.stamp)}, {said}")
        if self._matching.range_of(pair.cameras) is None:
            self._estimated = done.disparities
        height, width = result.disparity.shape
        searched = Searched.of((width, height), done.disparities, self._matching.pipeline, pair.cameras)
        colour: Any = result.rectified if "rectified" in result else pair.left if pair.colour is None else pair.colour
        return Matched(pair, result, searched, colour)
