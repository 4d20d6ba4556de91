"""Pairs left and right messages, and counts messages that were lost."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass
class TopicCount:
    """Counts of the messages of a topic. `alone` is the number of messages without a partner; times are in nanoseconds."""

    messages: int = 0
    paired: int = 0
    alone: int = 0
    repeated: int = 0  # stamps that occurred twice; the second message is dropped and counts as alone
    jumps_back: int = 0
    largest_gap: int = 0  # largest time between the stamps of successive messages
    gap_after: int | None = None  # stamp before the largest gap
    newest: int | None = None

    def count(self, stamp: int) -> str:
        """Counts a message. Returns "on", "again" or "back" for a stamp that is later than, equal to or before the previous one.
        """
        self.messages += 1
        before, self.newest = self.newest, stamp
        if before is None:
            return "on"
        if stamp == before:
            self.repeated += 1
            return "again"
        if stamp < before:
            self.jumps_back += 1
            return "back"
        if stamp - before > self.largest_gap:
            self.largest_gap, self.gap_after = stamp - before, before
        return "on"


class Synchroniser(Generic[T]):
    """Pairs messages of two topics by stamp. A message belongs to at most one pair.

    tolerance   largest difference of the stamps of a pair, in nanoseconds; 0: they must be equal. The nearest message that has
                arrived is the partner, so the tolerance should be less than half of the time between frames
    queue       number of messages of a topic that wait for a partner; a message that a newer one displaces counts as alone

    If a stamp jumps back (a bag is played again, or a clock was set), the waiting messages of its topic are dropped, so that no
    pair spans the jump.
    """

    def __init__(self, tolerance: int = 0, queue: int = 10) -> None:
        self._tolerance, self._queue = tolerance, queue
        self._waiting: tuple[deque[tuple[int, T]], deque[tuple[int, T]]] = deque(), deque()
        self.counts = TopicCount(), TopicCount()
        self.nearest: int | None = None  # smallest difference of the stamps of a left and a right message

    def add(self, side: int, stamp: int, item: T) -> tuple[T, T] | None:
        """Adds a message of the left (0) or right (1) topic. Returns the pair (left, right) that the message completes."""
        step = self.counts[side].count(stamp)
        if step == "again":
            self.counts[side].alone += 1
            return None
        if step == "back":
            self._drop(side, len(self._waiting[side]))
        found = self._nearest(1 - side, stamp)
        if found is None:
            self._wait(side, stamp, item)
            return None
        self._drop(side, len(self._waiting[side]))  # the waiting messages are older, and their partners can no longer arrive
        self._drop(1 - side, found)
        other = self._waiting[1 - side].popleft()[1]
        for count in self.counts:
            count.paired += 1
        return (item, other) if side == 0 else (other, item)

    def flush(self) -> None:
        """Counts all waiting messages as alone, at the end of the input."""
        for side in (0, 1):
            self._drop(side, len(self._waiting[side]))

    def _nearest(self, side: int, stamp: int) -> int | None:
        apart = [abs(other - stamp) for other, _ in self._waiting[side]]
        if apart:
            self.nearest = min(apart if self.nearest is None else [self.nearest, *apart])
        within = [
            (abs(other - stamp), index)
            for index, (other, _) in enumerate(self._waiting[side])
            if abs(other - stamp) <= self._tolerance
        ]
        return min(within)[1] if within else None

    def _wait(self, side: int, stamp: int, item: T) -> None:
        if len(self._waiting[side]) == self._queue:
            self._drop(side, 1)
        self._waiting[side].append((stamp, item))

    def _drop(self, side: int, count: int) -> None:
        for _ in range(count):
            self._waiting[side].popleft()
        self.counts[side].alone += count
