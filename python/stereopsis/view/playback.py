"""Selects the next pair, and the time at which it is shown."""

import time
from collections import deque
from collections.abc import Mapping
from typing import Any

from .._errors import CallError


GRABS = ("off", "request", "always")


class Playback:
    """The playback position in a source. `speed` is the largest number of pairs per second; 0 means no limit."""

    def __init__(self, playing: bool, speed: float) -> None:
        self.playing, self.speed, self.repeat = playing, speed, True
        self.index, self.length = 0, 1
        self.live = False
        self.off = False  # the source is closed until a pair is requested
        self.asked = 0  # number of single live pairs that were requested
        self._due = 0.0

    def open(self, length: int | None) -> None:
        self.index, self.live, self.length, self.off = 0, length is None, length or 1, False
        self._due = time.monotonic()

    def end_at(self, length: int) -> None:
        """Sets the length of a source that reports it only at its end."""
        self.length, self.index = length, min(self.index, length - 1)

    def wait(self) -> float | None:
        """Returns the seconds until the next pair is due; None if no pair is due without a request."""
        if self.asked:
            return 0.0
        if not self.playing or (self.length == 1 and not self.live):
            return None
        return max(0.0, self._due - time.monotonic())

    def advance(self) -> None:
        self.asked = max(0, self.asked - 1)
        now = time.monotonic()
        self._due = max(self._due, now - 0.1) + 1 / self.speed if self.speed else now
        if self.live:
            return
        if self.index + 1 < self.length:
            self.index += 1
        elif self.repeat:
            self.index = 0
        else:
            self.playing = False

    def change(self, message: Mapping[str, Any]) -> None:
        match message["do"]:
            case "grab":
                self._grab(str(message["value"]))
            case "play":
                self.playing, self.off = bool(message["on"]), False
                self._due = time.monotonic()
                if self.playing and not self.repeat and self.index == self.length - 1:
                    self.index = 0
            case "step" if self.live:
                self.playing, self.off, self.asked = False, False, 1
            case "step":
                self.playing = False
                self.index = (self.index + int(message["by"])) % self.length
            case "seek":
                index = int(message["index"])
                if not 0 <= index < self.length:
                    raise CallError(f"there is no pair {index}; the source has 0 to {self.length - 1}")
                self.index = index
            case "speed":
                speed = float(message["value"])
                if not 0 <= speed <= 1000:
                    raise CallError(f"a speed of {speed} is not allowed; it must be 0 (as fast as possible) to 1000")
                self.speed = speed
            case "repeat":
                self.repeat = bool(message["on"])

    def _grab(self, value: str) -> None:
        if value not in GRABS:
            raise CallError(f"the grabbing mode '{value}' is not allowed; it must be {', '.join(GRABS)}")
        self.playing, self.off, self._due = value == "always", value == "off", time.monotonic()

    @property
    def grab(self) -> str:
        return "always" if self.playing else "off" if self.off else "request"

    def state(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in ("playing", "grab", "speed", "repeat", "index", "length", "live")}


class Rate:
    """Returns the number of events per second in the last two seconds."""

    def __init__(self) -> None:
        self._times: deque[float] = deque()

    def count(self) -> None:
        self._times.append(time.monotonic())

    def value(self) -> float:
        now = time.monotonic()
        while self._times and self._times[0] < now - 2:
            self._times.popleft()
        if len(self._times) < 2:
            return 0.0
        return (len(self._times) - 1) / max(1e-3, self._times[-1] - self._times[0])
