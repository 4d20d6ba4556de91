"""OpenCV of the environment for the compiled command: its boards, calibration, videos and matchers, by the module cv2."""

import os
from collections.abc import Sequence

from ._board import Board
from ._calibration import Calibrated, Corners, Found, solved
from ._opencv_peers import make as make_matcher
from ._opencv_peers import version as matchers_version
from ._video import Video, VideoFile

__all__ = ["Board", "calibrate", "create_video", "make_matcher", "matchers_version", "open_video"]


def calibrate(
    pairs: Sequence[tuple[str, Corners, Corners]], board: Board, size: tuple[int, int], zoom: float, keep_outliers: bool
) -> Calibrated:
    """Calibrates from the corners of each pair of views: its name, and the corners in the left and the right image."""
    return solved([Found(*pair) for pair in pairs], board, size, zoom, keep_outliers)


def open_video(file: str) -> Video:
    _silence()
    return Video(file)


def create_video(file: os.PathLike[str], unfinished: os.PathLike[str], rate: float) -> VideoFile:
    """Creates the video `file` under the name `unfinished`; the caller renames it."""
    _silence()
    return VideoFile(os.fspath(file), os.fspath(unfinished), rate)


def _silence() -> None:
    """Silences OpenCV, which writes to stderr where it fails; the error that is raised says enough."""
    os.environ.setdefault("OPENCV_LOG_LEVEL", "SILENT")
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")
