"""Calibration boards, and the search for their corners in an image with the user's OpenCV."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native
from ._cv2 import opencv as _opencv
from ._errors import CallError

Points = npt.NDArray[np.float32]  # (n, 2): the coordinates x, y


def opencv() -> Any:
    """Returns the module cv2. Raises UnsupportedError if it cannot calibrate."""
    return _opencv("calibrate", "findChessboardCorners", "calibrateCamera", "stereoCalibrateExtended", "stereoRectify")


@dataclass(frozen=True)
class Board:
    """A flat calibration board. `columns` and `rows` count inner corners; lengths are in `unit`."""

    columns: int
    rows: int
    square: float
    unit: str
    marker: float = 0
    dictionary: str = ""

    @classmethod
    def parse(cls, text: str) -> Board:
        """Reads a board from the text that the command's --board accepts."""
        kind, *parts = str(text).split(":")
        if len(parts) != {"chessboard": 2, "charuco": 4}.get(kind):
            raise CallError(
                f"the board '{text}' is not known; it must be chessboard:COLUMNSxROWS:SQUARE with the number of inner corners "
                "(chessboard:9x6:25mm), or charuco:COLUMNSxROWS:SQUARE:MARKER:DICTIONARY with the number of squares "
                "(charuco:8x6:30mm:22mm:DICT_4X4_50)"
            )
        found = re.fullmatch(r"(\d{1,3})x(\d{1,3})", parts[0])
        if not found or not all(3 <= int(count) <= 100 for count in found.groups()):
            raise CallError(
                f"the board '{text}' has the size '{parts[0]}'; it must be COLUMNSxROWS, both from 3 to 100, such as 9x6"
            )
        columns, rows = map(int, found.groups())
        square, unit = cls._length(parts[1], text)
        if kind == "chessboard":
            return cls(columns, rows, square, unit)
        marker, same = cls._length(parts[2], text)
        if bool(same) != bool(unit) or (marker := _native.length_in(parts[2], unit)) >= square:
            raise CallError(
                f"the board '{text}' has markers of {parts[2]} in squares of {parts[1]}; a marker must be smaller than its "
                "square, and both or neither must have a unit"
            )
        return cls(columns - 1, rows - 1, square, unit, marker, parts[3])

    @staticmethod
    def _length(text: str, board: str) -> tuple[float, str]:
        try:
            value, unit = _native.parse_length(text)
        except CallError:
            value, unit = 0.0, ""
        if value <= 0:
            raise CallError(
                f"the board '{board}' has the length '{text}'; it must be a positive number, such as 25mm, 2.5cm, 0.025m, or "
                "1 without a unit"
            )
        return value, unit

    def place_of(self, corners: npt.NDArray[np.intp]) -> npt.NDArray[np.float32]:
        """Returns the positions (n, 3) on the board of the corners with these numbers. Corners are numbered row by row."""
        x, y = corners % self.columns, corners // self.columns
        return np.stack([self.square * x, self.square * y, 0 * x], axis=1).astype(np.float32)

    def find(self, grey: npt.NDArray[np.uint8]) -> dict[int, tuple[float, float]]:
        """Returns the corners by number, with sub-pixel precision. The result is empty if the board is not found."""
        if self.dictionary:
            return self._charuco(grey)
        cv2 = opencv()
        flags = cv2.CALIB_CB_ADAPTIVE_THRESH | cv2.CALIB_CB_NORMALIZE_IMAGE | cv2.CALIB_CB_FAST_CHECK
        found, corners = cv2.findChessboardCorners(grey, (self.columns, self.rows), flags=flags)
        if not found:
            return {}
        grid = corners.reshape(self.rows, self.columns, 2)
        least = min(np.linalg.norm(np.diff(grid, axis=axis), axis=2).min() for axis in (0, 1))
        points = _refined(grey, corners.reshape(-1, 2), int(0.4 * least))
        return {i: (float(x), float(y)) for i, (x, y) in enumerate(points)}

    def _charuco(self, grey: npt.NDArray[np.uint8]) -> dict[int, tuple[float, float]]:
        aruco = _opencv("a charuco board", "aruco.CharucoDetector").aruco
        number = getattr(aruco, self.dictionary, None)
        if not self.dictionary.startswith("DICT_") or number is None:
            raise CallError(f"the dictionary '{self.dictionary}' is not known; it must be one of OpenCV's, such as DICT_4X4_50")
        dictionary = aruco.getPredefinedDictionary(number)
        layout = aruco.CharucoBoard((self.columns + 1, self.rows + 1), self.square, self.marker, dictionary)
        corners, ids, *_ = aruco.CharucoDetector(layout).detectBoard(grey)
        if ids is None or len(ids) == 0:
            return {}
        corners = corners.reshape(-1, 2)
        spacing = np.linalg.norm(np.diff(corners, axis=0), axis=1).min(initial=np.inf)
        gap = (self.square - self.marker) / (2 * self.square)  # largest window that contains no edge of a marker
        points = _refined(grey, corners, int(min(gap * spacing, 6)))
        return {int(i): (float(x), float(y)) for i, (x, y) in zip(ids.ravel(), points)}


def _refined(grey: npt.NDArray[np.uint8], corners: Points, half: int) -> Points:
    """Refines corners in windows that extend `half` pixels to each side and contain no other corner. `half` is at most 6, because the lens
    bends longer edges.
    """
    cv2 = opencv()
    half = min(max(half, 2), 6)
    criteria = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 100, 1e-4)
    corners = cv2.cornerSubPix(grey, np.ascontiguousarray(corners, np.float32), (half, half), (-1, -1), criteria)
    smooth = cv2.GaussianBlur(grey.astype(np.float32), (0, 0), half / 4)
    return np.array([_saddle_near(smooth, corner, half - 1) for corner in corners.reshape(-1, 2)], np.float32)


def _saddle_near(smooth: Any, corner: Any, radius: int) -> Any:
    """Returns the saddle point of the quadratic that fits the image around a corner best (Lucchese and Mitra 2002)."""
    y, x = np.mgrid[-radius : radius + 1, -radius : radius + 1].astype(float)
    # f = p·(x² + y² − mean) + m·(x² − y²) + b·xy + d·x + e·y + constant, all orthogonal on the window.
    basis = [x * x + y * y - (x * x + y * y).mean(), x * x - y * y, x * y, x, y]
    at = np.array(corner, float)
    for _ in range(20):
        centre = at.astype(np.float32)  # the precision of getRectSubPix
        patch = opencv().getRectSubPix(smooth, (2 * radius + 1, 2 * radius + 1), tuple(map(float, centre))).astype(float)
        p, m, b, d, e = ((patch * f).sum() / (f * f).sum() for f in basis)
        a, c = p + m, p - m
        determinant = 4 * a * c - b * b
        if determinant >= 0:
            return corner  # no saddle
        before, at = at, centre + np.array([b * e - 2 * c * d, b * d - 2 * a * e]) / determinant
        if np.hypot(*(at - before)) < 1e-6:
            break
    return at if np.hypot(*(at - corner)) < 1 else corner
