"""Ranges of rows or columns, from `first` to `end` (excluded)."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    first: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.first

    def grown(self, before: int, after: int, most: int) -> Span:
        """Returns the span extended on both sides, within an image of `most` rows or columns."""
        return Span(max(0, self.first - before), min(most, self.end + after))

    def meets(self, other: Span) -> bool:
        return self.first < other.end and other.first < self.end

    def common(self, other: Span) -> Span:
        return Span(max(self.first, other.first), min(self.end, other.end))

    def within(self, other: Span) -> slice:
        """Returns the slice of this span in an array that covers the other span."""
        return slice(self.first - other.first, self.end - other.first)


def cut(length: int, pieces: int) -> list[Span]:
    """Cuts a length into spans of equal length, which share a plan, with a shorter last one. If the last span would be empty, the lengths
    differ by at most 1 instead.
    """
    step = pieces_of(length, pieces)
    if step * (pieces - 1) < length:
        return [Span(step * i, min(length, step * (i + 1))) for i in range(pieces)]
    return [Span(length * i // pieces, length * (i + 1) // pieces) for i in range(pieces)]


def pieces_of(length: int, most: int) -> int:
    """Returns the number of spans of at most `most` that cover a length."""
    return -(-length // max(1, most))
