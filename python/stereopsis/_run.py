"""Runs: the pairs of a source are matched in order, judged, and given to whoever iterates."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from . import _native, _options
from ._errors import CallError, Error
from ._flight import Flight, images_of
from ._matching import Matcher
from ._native import RowFilter, ShutterDelay
from ._pair import Fault, Judge
from ._result import Result
from ._seeds import Seeds

T = TypeVar("T")


class LiveSource(Generic[T]):
    """Pairs that come by themselves, such as those of cameras, on their way to a Run. Any thread may call put() and close().

    most       largest number of pairs that wait [1]
    when_full  "drop": a new pair replaces the oldest one, so that a slow run matches the newest pairs; "wait": put() waits until
               the run takes a pair ["drop"]

    >>> import stereopsis as st
    >>> camera = st.LiveSource()
    >>> camera.put("old"), camera.put("new"), camera.dropped
    (0, 1, 1)
    >>> camera.close()
    >>> list(camera)
    ['new']
    """

    def __init__(self, most: int = 1, when_full: str = "drop") -> None:
        self._most = _options.integer("most", most, 1, 2**31 - 1)
        self._waits = _options.one_of("when_full", when_full, "drop", "wait") == "wait"
        self._pairs: deque[T] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self.dropped = 0
        """Number of pairs that were dropped so far."""

    def put(self, pair: T) -> int:
        """Adds a pair. Returns the number of pairs that were dropped, 0 or 1. A closed source drops the pair itself."""
        with self._changed:
            if self._waits:
                self._changed.wait_for(lambda: self._closed or len(self._pairs) < self._most)
            dropped = int(self._closed or len(self._pairs) == self._most)
            if not self._closed:
                if dropped:
                    self._pairs.popleft()
                self._pairs.append(pair)
            self.dropped += dropped
            self._changed.notify_all()
        return dropped

    def close(self) -> None:
        """Ends the source after the pairs that wait."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def clear(self) -> None:
        """Removes the pairs that wait. They do not count as dropped."""
        with self._changed:
            self._pairs.clear()
            self._changed.notify_all()

    def take(self, timeout: float | None = None) -> T | None:
        """Waits for a pair, at most `timeout` seconds. Returns None if none came, or if the source was closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or bool(self._pairs), timeout)
            pair = self._pairs.popleft() if self._pairs else None
            self._changed.notify_all()
        return pair

    def is_ready(self) -> bool:
        """Returns whether take() returns without waiting."""
        with self._changed:
            return self._closed or bool(self._pairs)

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        pair = self.take()
        if pair is None:
            raise StopIteration
        return pair


@dataclass(frozen=True)
class RunResult:
    """A pair that a Run has matched.

    pair          what the source gave
    result        its Result
    disparities   search range (first, end)
    fault         what is wrong with the pair, with the attributes `kind` and `sentence`; None if the pair was not checked, or fits
    is_new_fault  True if no earlier pair of the run has a fault of this kind
    """

    pair: Any
    result: Result
    disparities: tuple[int, int]
    fault: Fault | None
    is_new_fault: bool


MatcherOf = Matcher | Callable[[Any], Matcher]


class Run:
    """Matches the pairs of a source in order, with several of them in flight, and judges them. Iterate over it to get a RunResult for each
    pair.

    source     an iterable of pairs: st.PairSource(files), st.LiveSource(), or anything that gives (left, right) or objects with the
               attributes left, right and, if pixels are masked, mask_left and mask_right; for a pipeline with seeds also seeds and seed_trust
    in_flight  largest number of pairs in flight on each device, 1 to 1024 [3]
    copy       as in Matcher.stream()
    matcher    a Matcher, or a function that returns the Matcher of a pair, in place of options
    sequence   True: the pairs are those of one rig in their order, and a filter over all of them estimates the alignments of their rows.
               False: the alignment of each pair is estimated from this pair alone [True]
    seed_previous  True: the disparities of the frame before are the seeds of each pair, which reduces flicker; one pair at a time is matched.
               A pair may have the attribute motion, a 4×4 matrix from the frame of the rectified left camera before to that of the pair, or
               flow, the optical flow between the left images, (h, w, 2) float32; without both, the scene does not move [False]
    on_error   function of (pair, error), which is called with a pair that cannot be matched; the run then continues. None: the error
               ends the run
    options    those of Matcher; align_rows is "auto" by default. Faults of pairs are in the results, and nothing is warned of

    The run plans again if the size or the type of the pairs changes. One thread at a time may use a run; any thread may call stop().

    >>> import stereopsis as st
    >>> scenes = [st.synth("table", width=160, height=120, disparities=32, seed=i) for i in range(3)]
    >>> [f"{done.result.measured_share:.1f}" for done in st.Run(scenes, disparities=32)]
    ['0.8', '0.8', '0.8']
    """

    def __init__(
        self,
        source: Iterable[Any] = (),
        *,
        matcher: MatcherOf | None = None,
        in_flight: int = 3,
        copy: bool = True,
        sequence: bool = True,
        seed_previous: bool = False,
        on_error: Callable[[Any, Error], None] | None = None,
        _judge: Judge | None = None,  # judges the pairs of several runs together
        **options: Any,
    ) -> None:
        try:
            self._source = iter(source)
        except TypeError:
            raise CallError(f"source={_options.shown(source)} is not allowed; it must be an iterable of pairs") from None
        self._in_flight = _options.integer("in_flight", in_flight, 1, 1024)
        self._copy = _options.flag("copy", copy)
        self._on_error, self._judge = on_error, Judge() if _judge is None else _judge
        self._before: tuple[Matcher, _native.Pair] | None = None  # the pair that was judged last
        self._sequence = RowFilter() if _options.flag("sequence", sequence) else None
        if matcher is not None and options:
            raise CallError(f"{sorted(options)[0]} is an option of the matcher, and a matcher is given; set the option where the matcher is made")
        if _options.flag("seed_previous", seed_previous) and matcher is None:
            options["set"] = {"seeds.stage": "seeds", **(options.get("set") or {})}
        self._options = options
        self._matcher: MatcherOf = _made(options) if matcher is None else matcher
        self._seeds = Seeds(seed_previous, self._matcher)
        self._flight: Flight | None = None

    def _matcher_of(self, pair: Any) -> Matcher:
        return self._matcher if isinstance(self._matcher, Matcher) else self._matcher(pair)

    def __iter__(self) -> Iterator[RunResult]:
        return self.over(self._source)

    def over(self, pairs: Iterable[Any]) -> Iterator[RunResult]:
        """Yields the results of other pairs than those of the source."""
        self._flight = flight = Flight(iter(pairs), self._matcher_of, self._in_flight, self._copy, self._sequence, self._seeds)
        for flying, error in flight:
            if error is None:
                yield self._judged(flying.given, flying.matcher, flying.result, flying.pair, keep=self._copy)
            elif self._on_error is not None and isinstance(error, Error):
                self._on_error(flying.given, error)
            else:
                raise error

    def one(self, pair: Any, *, judge: bool = True, before: Callable[[], Any] | None = None, **inputs: Any) -> RunResult:
        """Matches one pair of a caller who has no source, and waits for its result.

        judge   False if the pair was judged before
        before  function that returns the pair before this one, or None; without it, the pair of the call before
        inputs  further arguments of a call of a Matcher, such as `out`
        """
        matcher = self._matcher_of(pair)
        left, right, mask_left, mask_right = images_of(pair)
        if self._sequence is not None and inputs.get("align_rows") is None:
            inputs["align_rows"] = matcher._rows_in(self._sequence, left, right)
        if self._seeds.previous:
            inputs |= self._seeds.of(pair, matcher._matched_shape(matcher._pair_of_stream(left, right)))
        else:
            inputs |= self._seeds.given(pair)
        result = self._seeds.kept(matcher(left, right, mask_left=mask_left, mask_right=mask_right, **inputs))
        if not judge or not isinstance(result.validity, np.ndarray):  # a pair on a GPU is not judged
            return RunResult(pair, result, _range_of(matcher), None, False)
        judged = matcher._pair_of_stream(left, right, mask_left, mask_right)
        if result.row_alignment is not None:
            judged.align_rows(result.row_alignment)
        if matcher._tracker is not None:
            matcher._tracker._again(judged)
        if before is None:
            return self._judged(pair, matcher, result, judged)

        def pair_before() -> _native.Pair | None:
            given = before()
            return None if given is None else matcher._pair_of_stream(*images_of(given))

        self._before = None
        return self._judged(pair, matcher, result, judged, pair_before)

    def change(self, **options: Any) -> None:
        """Changes options of the matcher from the next pair on. The judge forgets the pairs before it."""
        made = _made({**self._options, **options})
        self._options = {**self._options, **options}
        if isinstance(self._matcher, Matcher):
            self._matcher.close()
        self._matcher, self._judge, self._before = made, Judge(), None
        self._sequence = None if self._sequence is None else RowFilter()
        self._seeds = Seeds(self._seeds.previous, made)

    def pass_rows(self, pair: Any) -> None:
        """Notes the rows of a pair that needs no result, so that the alignments of the pairs after it are those of a run without interruption.
        """
        left, right, *_ = images_of(pair)
        if self._sequence is not None:
            self._matcher_of(pair)._rows_in(self._sequence, left, right)

    @property
    def shutters(self) -> ShutterDelay | None:
        """The delay between the shutters of the cameras; None unless the rows of the pairs so far show one."""
        return None if self._sequence is None else self._sequence.shutters

    def stop(self) -> None:
        """Ends the iteration after the pairs in flight."""
        if self._flight is not None:
            self._flight.stop()

    def _judged(
        self,
        given: Any,
        matcher: Matcher,
        result: Result,
        pair: _native.Pair,
        pair_before: Callable[[], _native.Pair | None] = lambda: None,
        keep: bool = True,
    ) -> RunResult:
        def before() -> _native.Pair | None:
            known = self._before
            return known[1] if known is not None and known[0] is matcher else pair_before()

        fault = self._judge.fault_of(result, lambda: pair, before, matcher._rectification, matcher._expects_negative)
        self._before = (matcher, pair) if keep else None  # without copies, its arrays may hold another pair by then
        return RunResult(given, result, _range_of(matcher), fault, fault is not None and self._judge.is_new)


def _made(options: dict[str, Any]) -> Matcher:
    return Matcher(**{"align_rows": "auto", **options, "warn_of_pair": False})


def _range_of(matcher: Matcher) -> tuple[int, int]:
    assert matcher.disparities is not None
    return matcher.disparities
