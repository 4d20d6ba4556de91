"""Bags of ROS 1 and ROS 2 as sources of pairs, with the cameras of the bag."""

import importlib
import pathlib
from collections.abc import Iterator
from typing import Any

from .._errors import CallError, FileError, UnsupportedError
from .frame import Frame
from .pairing import LOOSE, STRICT, Pairing

FILES = {".bag", ".mcap", ".db3"}


def is_bag(given: str) -> bool:
    """Returns whether `given` has the name of a bag, or is a folder that `ros2 bag` wrote."""
    path = pathlib.Path(given)
    if path.is_dir():
        return (path / "metadata.yaml").is_file() or any(file.suffix in FILES for file in path.iterdir())
    return path.suffix in FILES


class Bag:
    """A source of pairs (see sources.py). Pairs can only be read in order. To go back, the source reads from the beginning."""

    disparities: tuple[int, int] | None = None

    def __init__(self, given: str, topics: tuple[str | None, str | None], how: Pairing) -> None:
        try:
            self._module: Any = importlib.import_module("stereopsis.ros.bags.recording")
        except ModuleNotFoundError as missing:
            raise UnsupportedError(
                f"'{given}' requires the package {missing.name}, which is not installed; run: python -m pip install rosbags"
            ) from missing
        self._given, self._topics = given, topics
        self.name = pathlib.Path(given).name
        self.rate = 0.0
        self.length: int | None = None
        self.pairing: Pairing | None = None
        self._recording: Any = None
        self._iterator: Iterator[Any] = iter(())
        self._pair: Any = None  # position of the last pair that was read
        self._next = 0
        self.pair(how)

    def pair(self, how: Pairing) -> None:
        how = how.or_usual("stamp", True)
        if how.by != "stamp":
            raise CallError("the images of a bag have times and no numbers; use --pair stamp")
        self.close()
        try:
            interval = self._interval()
            apart = (STRICT if how.strict else LOOSE) * interval
            if next(self._pairs(apart), None) is None:
                raise FileError(
                    f"no two images in '{self._given}' are closer in time than {1e3 * apart:.3g} ms"
                    + ("; switch strict synchronisation off (--no-strict)" if how.strict else "")
                )
            self._apart, self.pairing, self.rate, self.length = apart, how, 1 / interval, self._recording.length
        finally:
            self.close()

    def read(self, index: int) -> Frame:
        if self._recording is None or index < self._next:
            self.close()
            self._iterator, self._next = self._pairs(self._apart), 0
        while self._next <= index:
            pair = next(self._iterator, None)
            if pair is None:
                self.length = self._next  # the length is known only now
                break
            self._pair, self._next = pair, self._next + 1
        return self._frame(self._next - 1)

    def _frame(self, number: int) -> Frame:
        pair = self._pair
        rig = pair.cameras.rig if pair.cameras else None
        calibration = pair.cameras.calibration if pair.cameras else None
        seconds, part = divmod(pair.stamp, 10**9)
        return Frame(pair.left, pair.right, f"{number}: {seconds}.{part // 10**6:03}", rig=rig, calibration=calibration)

    def _interval(self) -> float:
        """Returns the time between two images of a view, in seconds."""
        times = []
        for raw in self._opened(0.0).bag.messages([self._recording.topics.left]):
            times.append(raw.time)
            if len(times) == 20:
                break
        self.close()
        return max(1e-3, (times[-1] - times[0]) * 1e-9 / (len(times) - 1)) if len(times) > 1 else 1.0

    def _opened(self, apart: float) -> Any:
        self._recording = self._module.Recording(self._given, *self._topics, approximate=apart)
        return self._recording

    def _pairs(self, apart: float) -> Iterator[Any]:
        return iter(self._opened(apart))

    def close(self) -> None:
        if self._recording is not None:
            self._recording.close()
        self._recording = None
