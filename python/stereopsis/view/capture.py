"""Reads cameras with OpenCV: one for each view, or one that shows both views side by side."""

import importlib
import pathlib
import re
import threading
import time
from typing import Any

from .._errors import CallError, FileError, UnsupportedError
from .frame import Frame
from .pairing import LOOSE, STRICT, Pairing

Array = Any
PATIENCE = 5.0  # seconds without a pair before an error is reported


def is_camera(given: str) -> bool:
    return re.fullmatch(r"(/dev/)?video\d+", given) is not None


class View:
    """One camera."""

    def __init__(self, given: str) -> None:
        if not is_camera(given):
            raise CallError(f"'{given}' is no camera; give two cameras, or two videos")
        try:
            cv2: Any = importlib.import_module("cv2")
        except ModuleNotFoundError as missing:
            raise UnsupportedError(
                f"'{given}' requires OpenCV, which is not installed; run: python -m pip install opencv-python-headless"
            ) from missing
        self._cv2, self.given = cv2, given
        self._capture = cv2.VideoCapture(int(re.sub(r"\D", "", given)))
        if not self._capture.isOpened():
            raise FileError(f"'{given}' cannot be opened as a camera; check that no other program uses it")
        self.rate = float(self._capture.get(cv2.CAP_PROP_FPS)) or 30.0
        self.stamp = 0.0  # time of the grabbed image, in seconds

    def grab(self) -> None:
        """Grabs the next image. The images of two views are grabbed directly after each other."""
        if not self._capture.grab():
            raise FileError(f"'{self.given}' delivers no more images; check that the camera is connected")
        told = self._capture.get(self._cv2.CAP_PROP_POS_MSEC) / 1e3  # the driver may report the kernel's clock
        self.stamp = told if told > 0 else time.monotonic()

    def picture(self) -> Array:
        done, image = self._capture.retrieve()
        if not done:
            raise FileError(f"'{self.given}' delivered an image that cannot be decoded")
        return image if image.ndim == 2 else self._cv2.cvtColor(image, self._cv2.COLOR_BGR2RGB)

    def close(self) -> None:
        self._capture.release()


class Capture:
    """A source (sources.py) of live pairs."""

    disparities: tuple[int, int] | None = None
    length: int | None = None
    rate = 0.0

    def __init__(self, *given: str, how: Pairing = Pairing()) -> None:
        self._given = given
        self._views = [View(one) for one in given]
        self.name = " + ".join(pathlib.Path(one).name for one in given)
        self.pairing: Pairing | None = None
        self._newest: Newest | None = None
        self.pair(how)

    def pair(self, how: Pairing) -> None:
        self.pairing = how.or_usual("number", False) if len(self._given) == 2 else None
        self._release()

    def read(self, index: int) -> Frame:
        if not self._views:
            self._views = [View(one) for one in self._given]
        if self._newest is None:
            self._newest = Newest(self._views, self.pairing or Pairing())
        pictures, number, apart = self._newest.take()
        if len(pictures) == 1:
            half = pictures[0].shape[1] // 2
            left, right = pictures[0][:, :half], pictures[0][:, half : 2 * half]
        else:
            left, right = pictures
        if left.shape != right.shape:
            sizes = " and ".join(f"{p.shape[1]}×{p.shape[0]}" for p in pictures)
            raise FileError(f"the two views have {sizes} pixels; set both cameras to the same size")
        return Frame(left, right, f"{self.name} {number}", apart=apart if len(pictures) == 2 else None)

    def _release(self) -> None:
        if self._newest is not None:
            self._newest.close()
        self._newest = None

    def close(self) -> None:
        self._release()
        for view in self._views:
            view.close()
        self._views = []


class Newest:
    """Grabs images continuously, so that a pair never consists of old images of a buffer."""

    def __init__(self, views: list[View], how: Pairing) -> None:
        self._views, self._how, self._wake = views, how, threading.Condition()
        self._taken: tuple[list[Array], float] | None = None
        self._failed: Exception | None = None
        self._number, self._closing, self._closest = 0, False, 0.0
        self._thread = threading.Thread(target=self._run, name="cameras", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._closing:
            taken, failed = None, None
            try:
                taken = self._grab()
            except Exception as error:  # noqa: BLE001 - whoever takes the next pair is told
                failed = error
                time.sleep(0.2)
            if taken is None and failed is None:
                continue
            with self._wake:
                self._taken, self._failed, self._number = taken, failed, self._number + 1
                self._wake.notify()

    def _grab(self) -> tuple[list[Array], float] | None:
        """Returns the next pair and the seconds between its images. Returns None if the time between them is too long."""
        for view in self._views:
            view.grab()
        first, last = self._views[0], self._views[-1]
        interval = 1 / max(view.rate for view in self._views)
        if self._how.by == "stamp":
            for _ in range(8):  # grabs again from the view that lags
                if abs(first.stamp - last.stamp) <= LOOSE * interval or self._closing:
                    break
                min(first, last, key=lambda view: view.stamp).grab()
        apart = abs(first.stamp - last.stamp)
        if self._how.strict and apart > STRICT * interval:
            self._closest = apart
            return None
        return [view.picture() for view in self._views], apart

    def take(self) -> tuple[list[Array], int, float]:
        with self._wake:
            if not self._wake.wait_for(lambda: self._taken is not None or self._failed is not None, PATIENCE):
                raise FileError(self._why_none())
            if self._failed is not None:
                failed, self._failed = self._failed, None
                raise failed
            assert self._taken is not None
            (pictures, apart), self._taken = self._taken, None
            return pictures, self._number, apart

    def _why_none(self) -> str:
        if self._closest:
            return (
                f"the cameras' pictures are {1e3 * self._closest:.1f} ms apart, too much for strict synchronisation; "
                "switch it off, or trigger both cameras together"
            )
        return f"no camera gave a picture for {PATIENCE:.0f} seconds; is it still connected?"

    def close(self) -> None:
        self._closing = True
        self._thread.join()
