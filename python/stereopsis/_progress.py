"""Reports the progress of a sequence to a terminal or to a function."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import TypeVar

from . import _options
from ._errors import CallError

OnProgress = Callable[[int, int | None], None]
T = TypeVar("T")


class Progress:
    """Counts results, and reports each new count."""

    def __init__(self, total: int | None, told: OnProgress | None) -> None:
        self._total, self._told = total, told

    @classmethod
    def of(cls, pairs: Iterable[object], wanted: bool | OnProgress) -> Progress:
        total = len(pairs) if isinstance(pairs, Sized) else None
        if callable(wanted):
            return cls(total, wanted)
        if not isinstance(wanted, bool):
            raise CallError(f"progress={_options.shown(wanted)} is not allowed; it must be True, False or a function of (done, total)")
        return cls(total, Line() if wanted and sys.stderr.isatty() else None)

    def over(self, results: Iterator[T]) -> Iterator[T]:
        done = 0
        try:
            for result in results:
                done += 1
                self.report(done, self._total)
                yield result
        finally:
            self.end()

    def report(self, done: int, total: int | None) -> None:
        if self._told is not None and done > 0:
            self._told(done, total)

    def end(self) -> None:
        if isinstance(self._told, Line):
            self._told.end()


class Line:
    """A progress line on a terminal's stderr, updated at most ten times a second."""

    def __init__(self) -> None:
        self._start = self._shown = time.monotonic()
        self._any = False

    def __call__(self, done: int, total: int | None) -> None:
        now = time.monotonic()
        if done != total and now - self._shown < 0.1:
            return
        self._shown, self._any = now, True
        rate = done / max(now - self._start, 1e-9)
        print(f"\r{done}{'' if total is None else f' of {total}'} pairs, {rate:.1f} a second\x1b[K", end="", file=sys.stderr)

    def end(self) -> None:
        if self._any:
            print(file=sys.stderr)
