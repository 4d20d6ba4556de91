"""Judges the messages, pairs and results of a node for its diagnostics."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from .notes import Notes
from .pairs import SIDES, Pairing

WARNS, ERRS = 0.05, 0.30  # shares of messages or pairs that are lost
FEWEST = 20  # messages in the window, with fewer of which no share is judged
WINDOW_SECONDS = 10.0
SILENT_SECONDS = 5.0
PROFILE = "python3 -m stereopsis.ros.node2 --profile"
ADVICE = (
    "images are lost between the processes of the cameras and this node. With Fast DDS, give all of these processes a larger segment of "
    f"shared memory: export FASTRTPS_DEFAULT_PROFILES_FILE=$({PROFILE}), and FASTDDS_DEFAULT_PROFILES_FILE for ROS 2 Kilted and later; or "
    "publish smaller images, or reliably, with qos_overrides that request the same here"
)
SLOW = "matching takes longer than the time between pairs; choose a faster method or device, a smaller search range, or smaller images"


@dataclass
class Ages:
    """Ages of the results since the last diagnostics, in seconds: the time from the stamp of a pair until its results were sent."""

    busy: float = 0.0
    all: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Totals:
    """Numbers of messages and pairs so far."""

    messages: tuple[int, int] = (0, 0)
    alone: tuple[int, int] = (0, 0)
    lost: tuple[int, int] = (0, 0)
    pairs: int = 0
    matched: int = 0
    skipped: int = 0

    def lost_share(self, before: Totals, side: int) -> float:
        """Returns the share of the messages of a side since `before` that did not arrive, or that had no partner."""
        came, alone, lost = (getattr(self, n)[side] - getattr(before, n)[side] for n in ("messages", "alone", "lost"))
        return max(lost, alone) / (came + lost) if came + lost >= FEWEST else 0.0

    def skipped_share(self, before: Totals) -> float:
        pairs = self.pairs - before.pairs
        return (self.skipped - before.skipped) / pairs if pairs >= FEWEST else 0.0


class Health:
    """Counts what a node receives and matches. `say(text)` logs a warning, once for each advice."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._said: set[str] = set()
        self.restart()

    def restart(self) -> None:
        """Forgets the past, when the node begins or ceases to receive messages."""
        self.ages = Ages()
        self.pairs = self.matched = self.skipped = 0
        self._lost = [0, 0]
        self._since = time.monotonic()
        self._past: deque[tuple[float, Totals]] = deque([(self._since, Totals())])

    def lose(self, side: int, count: int) -> None:
        """Notes messages of which the middleware knows that they did not arrive."""
        self._lost[side] += count

    def status(self, pairing: Pairing, notes: Notes, failed: int) -> tuple[dict[str, str], str, str]:
        """Returns the values, the level and the message of the diagnostics since the last ones."""
        now, totals = time.monotonic(), self._totals(pairing)
        last_time, last = self._past[-1]
        rate = (totals.matched - last.matched) / max(1e-9, now - last_time)
        values = {
            "pairs per second": f"{rate:.2f}",
            "busy": f"{100 * self.ages.busy / max(1e-9, now - last_time):.0f} %",
            "pairs received": str(totals.pairs),
            "pairs matched": str(totals.matched),
            "pairs skipped for newer ones": str(totals.skipped),
            "pairs left out": str(pairing.broken + failed),
            **self._values(pairing),
            **{kind: str(count) for kind, count in notes.counts.items()},
        }
        if self.ages.all:
            ages = sorted(self.ages.all)
            values |= {"median age of results": f"{ages[len(ages) // 2]:.3f} s", "largest age of results": f"{ages[-1]:.3f} s"}
        self.ages = Ages()
        self._past.append((now, totals))
        while now - self._past[0][0] > WINDOW_SECONDS and len(self._past) > 2:
            self._past.popleft()
        found = [*self._silence(pairing, now), *self._losses(totals)]
        if notes.counts:
            found.append(("WARN", next(reversed(notes.counts))))
        return values, *min(found, default=("OK", f"{rate:.1f} pairs a second"), key=lambda one: one[0])  # ERROR comes before WARN

    def _totals(self, pairing: Pairing) -> Totals:
        left, right = pairing.images.counts
        lost = self._lost[0], self._lost[1]
        return Totals((left.messages, right.messages), (left.alone, right.alone), lost, self.pairs, self.matched, self.skipped)

    def _values(self, pairing: Pairing) -> dict[str, str]:
        values = {}
        for side, count, lost in zip(SIDES, pairing.images.counts, self._lost, strict=True):
            values[f"{side} messages"] = str(count.messages)
            values[f"{side} matched"] = str(count.paired)
            values[f"{side} without a partner"] = str(count.alone)
            values[f"{side} lost on the way"] = str(lost)
            values[f"{side} largest gap"] = f"{count.largest_gap / 1e9:.3f} s"
            values[f"{side} jumps back"] = str(count.jumps_back)
        return values

    def _silence(self, pairing: Pairing, now: float) -> list[tuple[str, str]]:
        """Returns the error of topics from which nothing came for some seconds, and of stamps that differ."""
        counts = pairing.images.counts
        if all(count.messages for count in counts) and not counts[0].paired:
            return [("ERROR", "both sides send, but no stamps are alike; is approximate_sync needed?")]
        earlier = [totals for at, totals in self._past if at <= now - SILENT_SECONDS]
        if not earlier:
            return []
        silent = [topic for topic, count, then in zip(pairing.topics.images, counts, earlier[-1].messages, strict=True) if count.messages == then]
        return [("ERROR", f"no message on {' and '.join(silent)} for {SILENT_SECONDS:.0f} s; does the camera publish?")] if silent else []

    def _losses(self, totals: Totals) -> list[tuple[str, str]]:
        before = self._past[0][1]
        prepared = next(t for _, t in self._past if t.matched or t is totals)  # pairs are skipped while the first one is prepared
        shares = [
            *((totals.lost_share(before, i), f"of the {side} images are lost or have no partner", ADVICE) for i, side in enumerate(SIDES)),
            (totals.skipped_share(prepared), "of the pairs are skipped, because newer ones arrive while a pair is matched", SLOW),
        ]
        found = []
        for share, what, advice in shares:
            if share < WARNS:
                continue
            found.append(("ERROR" if share >= ERRS else "WARN", f"{100 * share:.0f} % {what}"))
            if advice not in self._said:
                self._said.add(advice)
                self._say(f"{100 * share:.0f} % {what}: {advice}")
        return sorted(found)
