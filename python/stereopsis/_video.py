"""Decodes and encodes videos with OpenCV's module cv2, if it is installed."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import numpy.typing as npt

from ._cv2 import opencv
from ._errors import FormatError, UnsupportedError

FEW = 32  # as many frames are skipped faster by decoding them than by seeking


class Video:
    """A video for PairSource. Several threads may read; reading in order is fastest."""

    def __init__(self, file: str) -> None:
        self._cv2 = opencv(f"the video {file}", "VideoCapture", "videoio_registry")
        self._file, self._lock = file, threading.Lock()
        self._open()
        if not self._capture.isOpened():
            raise FormatError(
                f"{file} cannot be decoded as a video; convert it to H.264 in MP4, or write the frames as PNG files"
            )
        rate = float(self._capture.get(self._cv2.CAP_PROP_FPS))
        self.rate = rate if rate > 0 else 30.0
        self.size = self._count()

    def read(self, frame: int) -> npt.NDArray[np.uint8]:
        with self._lock:
            image: Any = self._capture.read()[1] if self._move_to(frame) else None  # None: it cannot be decoded
            if image is None or image.ndim != 3:
                raise FormatError(f"frame {frame} of {self._file} cannot be decoded; the video is damaged or cut off")
            self._next += 1
            return np.ascontiguousarray(image[..., ::-1])  # OpenCV's order is BGR

    def _open(self) -> None:
        # Other decoders than FFmpeg take a name for a pattern of images.
        decoders = self._cv2.videoio_registry.getStreamBackends()
        ffmpeg = self._cv2.CAP_FFMPEG
        self._capture = self._cv2.VideoCapture(self._file, ffmpeg if ffmpeg in decoders else self._cv2.CAP_ANY)
        self._next = 0  # the frame that is decoded next

    def _count(self) -> int:
        """Counts the frames unless the last announced one is the last: containers announce estimates, or nothing."""
        announced = int(self._capture.get(self._cv2.CAP_PROP_FRAME_COUNT))
        if announced >= 1 and self._move_to(announced - 1) and self._capture.grab():
            self._next += 1
            if not self._capture.grab():
                return self._next
        self._open()
        while self._capture.grab():
            self._next += 1
        if self._next == 0:
            raise FormatError(f"{self._file} has no frame that can be decoded; the video is damaged or cut off")
        return self._next

    def _move_to(self, frame: int) -> bool:
        if frame < self._next:
            self._open()
        if frame > self._next + FEW:
            if not self._capture.set(self._cv2.CAP_PROP_POS_FRAMES, frame):
                return False
            self._next = frame
        while self._next < frame:
            if not self._capture.grab():
                return False
            self._next += 1
        return True


class VideoFile:
    """A video that is written under the name `unfinished`. Sentences name `file`."""

    def __init__(self, file: str, unfinished: str, rate: float) -> None:
        self._cv2 = opencv(f"the video {file}", "VideoWriter")
        self._file, self._unfinished, self._rate = file, unfinished, rate
        self._writer: Any = None

    def append(self, frame: npt.NDArray[np.uint8]) -> None:
        """Appends a frame of RGB. Codecs subsample the colours, so an odd last row or column is repeated."""
        height, width = frame.shape[:2]
        even = np.pad(frame, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
        if self._writer is None:
            self._writer = self._opened((even.shape[1], even.shape[0]))
        self._writer.write(np.ascontiguousarray(even[..., ::-1]))  # OpenCV's order is BGR

    def finish(self) -> None:
        if self._writer is not None:
            self._writer.release()

    def _opened(self, size: tuple[int, int]) -> Any:
        for code in ("avc1", "mp4v", "MJPG"):  # H.264 where OpenCV's FFmpeg has an encoder for it, else MPEG-4
            writer = self._cv2.VideoWriter(self._unfinished, self._cv2.VideoWriter.fourcc(*code), self._rate, size)
            if writer.isOpened():
                return writer
        raise UnsupportedError(f"OpenCV has no encoder for {self._file}; use .mp4 or .avi, or write a pattern such as color%03d.png")
