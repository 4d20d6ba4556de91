"""Videos and cameras, through OpenCV: two of them, or one that has both views side by side."""

from __future__ import annotations

import importlib
import pathlib
import re
import threading
import time
from typing import Any

from .._errors import FileError, UnsupportedError
from .sources import Frame

Array = Any
VIDEOS = {".mp4", ".avi", ".mkv", ".mov", ".webm", ".m4v", ".mpg", ".mpeg", ".ogv", ".y4m"}


def is_video(given: str) -> bool:
    return is_camera(given) or pathlib.Path(given).suffix.lower() in VIDEOS


def is_camera(given: str) -> bool:
    return re.fullmatch(r"(/dev/)?video\d+", given) is not None


class View:
    """One video or camera."""

    def __init__(self, given: str) -> None:
        try:
            cv2: Any = importlib.import_module("cv2")
        except ModuleNotFoundError as missing:
            raise UnsupportedError(
                f"'{given}' needs OpenCV, which is not installed; run: python -m pip install opencv-python-headless"
            ) from missing
        self._cv2, self.given, self.live = cv2, given, is_camera(given)
        device = int(re.sub(r"\D", "", given)) if self.live else given
        if not self.live and not pathlib.Path(given).is_file():
            raise FileError(f"'{given}' is not there; give a video file, or /dev/videoN")
        self._capture = cv2.VideoCapture(device)
        if not self._capture.isOpened():
            raise FileError(f"'{given}' can't be opened as a {'camera' if self.live else 'video'}; is it in use?")
        self.rate = float(self._capture.get(cv2.CAP_PROP_FPS)) or 30.0
        self.length = 0 if self.live else max(1, int(self._capture.get(cv2.CAP_PROP_FRAME_COUNT)))
        self._next = 0

    def grab(self) -> None:
        """Begins with the next picture: of two views, one right behind the other."""
        if not self._capture.grab():
            raise FileError(f"'{self.given}' gives no picture any more; is the camera still connected?")
        self._next += 1

    def picture(self) -> Array:
        done, image = self._capture.retrieve()
        if not done:
            raise FileError(f"'{self.given}' gave a picture that can't be decoded")
        return image if image.ndim == 2 else self._cv2.cvtColor(image, self._cv2.COLOR_BGR2RGB)

    def seek(self, index: int) -> None:
        if index != self._next:
            self._capture.set(self._cv2.CAP_PROP_POS_FRAMES, index)
            self._next = index

    def close(self) -> None:
        self._capture.release()


class Capture:
    """A source of `sources.py`."""

    disparities: tuple[int, int] | None = None

    def __init__(self, *given: str) -> None:
        self._given = given
        self._views = [View(one) for one in given]
        live = any(view.live for view in self._views)
        self.name = " + ".join(pathlib.Path(one).name for one in given)
        self.length = None if live else min(view.length for view in self._views)
        self.rate = 0.0 if live else self._views[0].rate
        self._newest: Newest | None = None

    def read(self, index: int) -> Frame:
        if not self._views:
            self._views = [View(one) for one in self._given]
        if self.length is None:
            if self._newest is None:
                self._newest = Newest(self._views)
            pictures, number = self._newest.take()
        else:
            for view in self._views:
                view.seek(index)
                view.grab()
            pictures, number = [view.picture() for view in self._views], index
        return self._frame(pictures, number)

    def _frame(self, pictures: list[Array], number: int) -> Frame:
        if len(pictures) == 1:
            half = pictures[0].shape[1] // 2
            pictures = [pictures[0][:, :half], pictures[0][:, half : 2 * half]]
        left, right = pictures
        if left.shape != right.shape:
            sizes = " and ".join(f"{p.shape[1]}×{p.shape[0]}" for p in pictures)
            raise FileError(f"the two views have {sizes} pixels; set both cameras to the same size")
        return Frame(left, right, f"{self.name} {number}")

    def close(self) -> None:
        if self._newest is not None:
            self._newest.close()
        for view in self._views:
            view.close()
        self._newest, self._views = None, []


class Newest:
    """Grabs all the time, so that what is taken is never an old picture of a buffer."""

    def __init__(self, views: list[View]) -> None:
        self._views, self._wake = views, threading.Condition()
        self._pictures: list[Array] | None = None
        self._failed: Exception | None = None
        self._number, self._closing = 0, False
        self._thread = threading.Thread(target=self._run, name="cameras", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._closing:
            try:
                for view in self._views:
                    view.grab()
                pictures, failed = [view.picture() for view in self._views], None
            except Exception as error:  # noqa: BLE001: whoever takes the next picture is told
                pictures, failed = None, error
                time.sleep(0.2)
            with self._wake:
                self._pictures, self._failed, self._number = pictures, failed, self._number + 1
                self._wake.notify()

    def take(self) -> tuple[list[Array], int]:
        with self._wake:
            if not self._wake.wait_for(lambda: self._pictures is not None or self._failed is not None, timeout=5):
                raise FileError("no camera gave a picture for 5 seconds; is it still connected?")
            if self._failed is not None:
                failed, self._failed = self._failed, None
                raise failed
            assert self._pictures is not None
            pictures, self._pictures = self._pictures, None
            return pictures, self._number

    def close(self) -> None:
        self._closing = True
        self._thread.join()
