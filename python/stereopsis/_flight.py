"""Keeps pairs of a source in flight in a matcher. The loop itself is the library's, as in the command."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Generic, Protocol, TypeVar

from . import _native
from ._budget import BudgetChoice
from ._errors import CallError
from ._native import RowEstimate, RowFilter
from ._result import Result
from ._seeds import Seeds
from ._stage import Turns


class Planner(Protocol):
    """The functions of a Matcher that a flight calls."""

    _pipeline: Any
    _turns: AbstractContextManager[None]

    def _pair_of_stream(self, left: Any, right: Any, mask_left: Any = None, mask_right: Any = None, **seeds: Any) -> _native.Pair: ...
    def _matched_shape(self, pair: _native.Pair) -> tuple[int, int]: ...
    def _has_plan(self, pair: _native.Pair, in_flight: int) -> bool: ...
    def _plan(self, pair: _native.Pair, left: Any, right: Any, in_flight: int = 1) -> _native.Matcher: ...
    def _align(self, pair: _native.Pair, sequence: RowFilter | None) -> RowEstimate | None: ...
    @property
    def choice(self) -> BudgetChoice | None: ...


M = TypeVar("M", bound=Planner)
Images = tuple[Any, Any, Any, Any]


def images_of(given: Any) -> Images:
    """Returns both images of a pair that a source gives, and their masks or None: (left, right), or an object with these attributes."""
    if hasattr(given, "left") and hasattr(given, "right"):
        return given.left, given.right, getattr(given, "mask_left", None), getattr(given, "mask_right", None)
    try:
        left, right = given
    except (TypeError, ValueError):
        raise CallError(
            f"a source gave a {type(given).__name__}, which is not a pair; it must give (left, right), or objects with the attributes left and right"
        ) from None
    return left, right, None, None


class Flying(Generic[M]):
    """A pair on its way. `given` is what the source gave, and `result` is there at the end."""

    matcher: M
    images: Images
    pair: _native.Pair
    method: str
    device: str
    rows: RowEstimate | None
    choice: BudgetChoice | None
    result: Result

    def result_of(self, arrays: dict[str, Any]) -> Result:
        return Result(arrays, self.method, device=self.device, rows=self.rows, choice=self.choice)

    def __init__(self, given: Any) -> None:
        self.given = given
        self.pending: _native.Pending | None = None


class Flight(Generic[M]):
    """The steps of the loop over the pairs of a source. `matcher_of` returns the matcher for a pair, `sequence` follows the rows of the
    pairs, and `seeds` finds the seeds of a pair. It yields each pair in order, with the exception with which it failed, or None.
    """

    def __init__(
        self, source: Iterator[Any], matcher_of: Callable[[Any], M], in_flight: int, copy: bool, sequence: RowFilter | None, seeds: Seeds
    ) -> None:
        self._source, self._matcher_of, self._in_flight, self._copy = source, matcher_of, in_flight, copy
        self._sequence, self._seeds = sequence, seeds
        self._now: M | None = None
        self._most = 1
        self._flying: list[Flying[M]] = []
        self._stopped = False
        self._spoilt: CallError | None = None

    def __iter__(self) -> Iterator[tuple[Flying[M], BaseException | None]]:
        loop = _native.PairLoop(self)  # deleting it waits for the pairs in flight
        while (done := loop.next()) is not None:
            if self._spoilt is not None:
                raise self._spoilt
            yield done

    def stop(self) -> None:
        """Ends the loop after the pairs in flight."""
        self._stopped = True

    def most_in_flight(self) -> int:
        return self._most

    def is_ready(self) -> bool:
        is_ready = getattr(self._source, "is_ready", None)  # LiveSource has this function; other iterables are asked at once
        return is_ready is None or bool(is_ready())

    def take(self) -> Flying[M] | None:
        if self._stopped:
            return None
        try:
            return Flying(next(self._source))
        except StopIteration:
            return None

    def suits(self, flying: Flying[M]) -> bool:
        flying.matcher = self._matcher_of(flying.given)
        flying.images = images_of(flying.given)
        flying.pair = flying.matcher._pair_of_stream(*flying.images, **self._seeds.given(flying.given))
        return flying.matcher is self._now and flying.matcher._has_plan(flying.pair, self._in_flight)

    def plan(self, flying: Flying[M]) -> None:
        self._add_previous_seeds(flying)  # a budget measures with seeds
        planned = self._planned(flying)
        self._now = flying.matcher
        self._most = 1 if self._waits(flying, planned) or self._seeds.previous else self._in_flight * len(planned.devices)

    def begin(self, flying: Flying[M]) -> None:
        if not self._copy and any(other.pending is not None and other.pending.overlaps(flying.pair) for other in self._flying):
            self._spoilt = CallError(
                "a pair shares memory with a pair in flight, whose result may now be wrong; use separate arrays for each pair in "
                "flight, or leave copy=False out"
            )
            raise self._spoilt
        flying.method, planned = str(flying.matcher._pipeline.method), self._planned(flying)
        flying.device, flying.choice = ",".join(planned.devices), flying.matcher.choice
        self._add_previous_seeds(flying)
        flying.rows = flying.matcher._align(flying.pair, self._sequence)
        with flying.matcher._turns:
            if self._waits(flying, planned):
                flying.result = self._seeds.kept(flying.result_of(planned.match(flying.pair, {})))
                return
            flying.pending = planned.enqueue(flying.pair, self._copy and self._most > 1)
        flying.pair = flying.pending.pair
        self._flying.append(flying)

    def finish(self, flying: Flying[M]) -> None:
        pending, flying.pending = flying.pending, None
        if pending is not None:
            self._flying.remove(flying)
            flying.result = self._seeds.kept(flying.result_of(pending.wait()))

    def _add_previous_seeds(self, flying: Flying[M]) -> None:
        if self._seeds.previous:
            seeds = self._seeds.of(flying.given, flying.matcher._matched_shape(flying.pair))
            flying.pair = flying.matcher._pair_of_stream(*flying.images, **seeds)

    def _planned(self, flying: Flying[M]) -> _native.Matcher:
        left, right, *_ = flying.images
        with flying.matcher._turns:
            return flying.matcher._plan(flying.pair, left, right, self._in_flight)

    def _waits(self, flying: Flying[M], planned: _native.Matcher) -> bool:
        """Returns whether the pair is matched by this thread: Python stages run for one caller at a time."""
        return isinstance(flying.matcher._turns, Turns) and planned.device == "cpu"
