"""Calibrates two cameras from views of a board. The installed OpenCV finds the corners and solves the least-squares problem."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _options
from ._board import Board, opencv
from ._errors import CallError, FileError, FormatError
from ._native import Calibration, Camera, Rig, RigRefinement, cameras_of, estimate_rig, photo_focal, refine_rig, stereo_rectified
from ._pair_source import ImagePair, PairSource
from ._scenes import read_image

# The limits of the command `calibrate`; src/geometry/calibrate_opencv.cpp gives the reasons.
LEAST_VIEWS, LEAST_CORNERS, LEAST_COVERAGE, LEAST_TILT, OUTLIER = 5, 8, 0.25, 10, 3
LARGEST_RMS, LARGEST_DY = 5, 2

Views = str | Sequence[Any]
Corners = dict[int, tuple[float, float]]


@dataclass(frozen=True)
class CalibrationView:
    """A pair of views with its errors in pixels, NaN if no errors were computed. If `used` is False, `remark` has the reason."""

    name: str
    used: bool
    remark: str
    rms_left: float = np.nan
    rms_right: float = np.nan
    rms: float = np.nan
    dy: float = np.nan


@dataclass(frozen=True, repr=False)
class Calibrated:
    """The result of calibrate(). Errors are in pixels.

    calibration     for `calibration=` of Matcher, and for Rectification; its write(file) stores it
    rms_left, rms_right, rms   reprojection errors (RMS) of the left camera, the right camera and the pair
    dy_mean, dy_p95            mean and 95th percentile of |y_left − y_right| after rectification
    coverage_left, coverage_right   share of the image in which corners were seen, 0 to 1
    views           a CalibrationView for each pair
    """

    calibration: Calibration
    rms_left: float
    rms_right: float
    rms: float
    dy_mean: float
    dy_p95: float
    coverage_left: float
    coverage_right: float
    views: list[CalibrationView]

    def __repr__(self) -> str:
        """Returns four lines: the views, the reprojection errors, the rectification, and the rig."""
        rig, used = self.calibration.rig, sum(view.used for view in self.views)
        left, right = 100 * self.coverage_left, 100 * self.coverage_right
        return (
            f"calibrated from {used} of {len(self.views)} views, which cover {left:.0f} % of the left and {right:.0f} % of the right image\n"
            f"reprojection error (RMS): left {self.rms_left:.3f} px, right {self.rms_right:.3f} px, pair {self.rms:.3f} px\n"
            f"after rectification: rows differ by {self.dy_mean:.3f} px in the mean, by {self.dy_p95:.3f} px at the 95th percentile\n"
            f"rig: {rig.size[0]}×{rig.size[1]}, focal length {rig.focal:.2f} px, baseline {rig.baseline:.4g} {rig.unit or '(no unit)'}"
        )


def calibrate(
    left: Views, right: Views, board: str, *, zoom: float = 0.0, keep_outliers: bool = False
) -> Calibrated:
    """Calibrates two cameras from views of a board, like the command `stereopsis calibrate`.

    left, right   views, in pairs: arrays (h, w) or (h, w, 3) of uint8, files, or a pattern such as 'left*.jpg' (in order of names)
    board         chessboard:9x6:25mm (inner corners, square), or charuco:8x6:30mm:22mm:DICT_4X4_50 (squares, square,
                  marker, dictionary); without a unit, the rig has no unit
    zoom          0 to 1: with 0, rectified images have no pixels without a source; with 1, they show all pixels of the cameras
    keep_outliers  True to use views whose error is more than three times the median error, too

    Requires OpenCV (the module cv2). Raises CallError if there are too few views, or if the views are too similar. Raises FormatError if no
    calibration fits the views, and UnsupportedError without OpenCV.
    """
    layout = Board.parse(board)
    if not 0 <= zoom <= 1:
        raise CallError(f"zoom={_options.shown(zoom)} is not allowed; it must be from 0 to 1")
    files = _listed(left, "left"), _listed(right, "right")
    if len(files[0]) != len(files[1]):
        raise CallError(f"there are {len(files[0])} left and {len(files[1])} right views; pass as many left as right views")
    if isinstance(left, (str, os.PathLike)) and isinstance(right, (str, os.PathLike)):
        source = PairSource(left, right)
        named = [source.files(i) for i in range(len(source))]
        files = [left_file for left_file, _ in named], [right_file for _, right_file in named]
    opencv()
    return solved(*Found.all_of(layout, *files), zoom, keep_outliers)


def refine_calibration(pairs: Sequence[ImagePair | tuple[Any, Any]], calibration: Calibration | Rig) -> RigRefinement:
    """Corrects a calibration from ordinary pairs, without a board, like the command `stereopsis calibrate --from-scenes`.

    pairs         a PairSource, or a sequence of pairs (left, right) of arrays; up to 50 of them are used
    calibration   the Calibration of raw pairs, or the Rig of rectified pairs; its `size` must be that of the images

    Returns the corrected calibration, each correction with its standard deviation, and the rows before and after. The length of the baseline
    and the common focal length stay as given. Raises FormatError if the scenes do not show how the cameras are turned, and CallError for images
    of another size.
    """
    cameras = cameras_of(calibration) if isinstance(calibration, Rig) else calibration
    return refine_rig(cameras, len(pairs), _reader_of(pairs))


def estimate_calibration(
    pairs: Sequence[ImagePair | tuple[Any, Any]], *, focal: float | None = None, baseline: float | str | None = None
) -> RigRefinement:
    """Calibrates two unknown cameras from ordinary pairs, like the command `stereopsis calibrate --from-scenes` without --calib.

    pairs      a PairSource, or a sequence of pairs (left, right) of arrays; up to 50 of them are used
    focal      focal length of both cameras in pixels [from the Exif data of a PairSource's first image; otherwise estimated]
    baseline   distance between the cameras, a number or text such as "120mm" [not known: depths are multiples of it]

    The lenses must be equal and have little distortion. Raises FormatError if the scenes do not show how the cameras are turned, if the camera
    moved forwards, or if the second camera is not to the right of the first; CallError for a focal length or a baseline that is not positive.
    """
    if not len(pairs):
        raise CallError("there are no pairs; pass at least one")
    read = _reader_of(pairs)
    first, _ = read(0)
    if focal is None and isinstance(pairs, PairSource):
        focal = photo_focal(pairs.files(0)[0], first.shape[1], first.shape[0])
    return estimate_rig((first.shape[1], first.shape[0]), focal, baseline, len(pairs), read)


def _reader_of(pairs: Sequence[ImagePair | tuple[Any, Any]]) -> Any:
    def read(i: int) -> tuple[Any, Any]:
        pair = pairs[i]
        return (pair.left, pair.right) if isinstance(pair, ImagePair) else pair

    return read


def solved(pairs: Sequence[Found], board: Board, size: tuple[int, int], zoom: float, keep_outliers: bool) -> Calibrated:
    """Computes the calibration from the corners of all pairs of views."""
    for pair in pairs:
        pair.turn_same_way_up(board)
    usable = [pair for pair in pairs if len(pair.shared) >= LEAST_CORNERS]
    outliers: list[tuple[Found, int, _Fit]] = []
    while True:
        if len(usable) < LEAST_VIEWS:
            raise CallError(
                f"both cameras see the board in {len(usable)} of {len(pairs)} pairs; {LEAST_VIEWS} are required, and 10 to 20 "
                "are recommended; check the board's size, the light and the focus, and record more pairs"
            )
        fit = _Fit(usable, board, size)
        worst = int(np.argmax(fit.view_rms))
        if keep_outliers or fit.view_rms[worst] <= OUTLIER * np.sort(fit.view_rms)[(len(usable) - 1) // 2]:
            break
        outliers.append((usable.pop(worst), worst, fit))
    calibration = fit.calibration(zoom)
    dy = fit.row_errors(calibration)
    every = np.sort(np.concatenate(dy))
    dy_mean = float(every.mean())
    if fit.rms > LARGEST_RMS or dy_mean > LARGEST_DY:
        raise FormatError(
            f"no calibration fits these views: the reprojection error is {fit.rms:.1f} px (at most {LARGEST_RMS} is allowed), and rows differ "
            f"by {dy_mean:.1f} px (at most {LARGEST_DY}); check the pairing of the views and the dimensions "
            "of the board"
        )
    told = {id(pair): fit.view(i, pair, float(dy[i].mean())) for i, pair in enumerate(usable)}
    told |= {id(pair): before.view(i, pair) for pair, i, before in outliers}
    return Calibrated(
        calibration=calibration,
        rms_left=fit.cameras[0].rms,
        rms_right=fit.cameras[1].rms,
        rms=fit.rms,
        dy_mean=dy_mean,
        dy_p95=float(every[(len(every) - 1) * 95 // 100]),
        coverage_left=fit.coverage(0),
        coverage_right=fit.coverage(1),
        views=[told.get(id(pair)) or CalibrationView(pair.name, False, pair.remark()) for pair in pairs],
    )


def _listed(views: Views, name: str) -> list[Any]:
    if not isinstance(views, (str, os.PathLike)):
        return list(views)
    found = sorted(glob.glob(os.fspath(views)))
    if not found:
        raise FileError(f"{name}={os.fspath(views)!r} matches no file; pass a pattern such as 'left*.jpg', or a list of files or arrays")
    return [Path(file) for file in found]


def _grey(view: Any, name: str) -> npt.NDArray[np.uint8]:
    image = read_image(view) if isinstance(view, (str, os.PathLike)) else np.asarray(view)
    if image.dtype != np.uint8 or not (image.ndim == 2 or (image.ndim == 3 and image.shape[2] in (1, 3))):
        raise CallError(
            f"{name} has the shape {image.shape} and the type {image.dtype}; a view must be (height, width) or (height, width, 3), "
            "of uint8"
        )
    if image.ndim == 3 and image.shape[2] == 3:
        r, g, b = (image[..., c].astype(np.int64) for c in range(3))
        image = ((19595 * r + 38470 * g + 7471 * b + 32768) >> 16).astype(np.uint8)
    return np.ascontiguousarray(image.reshape(image.shape[:2]))


@dataclass
class Found:
    """The corners of a board that both cameras see."""

    name: str
    left: Corners
    right: Corners

    @property
    def shared(self) -> npt.NDArray[np.intp]:
        return np.array([i for i in self.left if i in self.right], np.intp)

    def points(self, camera: int) -> npt.NDArray[np.float32]:
        corners = self.right if camera else self.left
        return np.array([corners[int(i)] for i in self.shared], np.float32)

    def remark(self) -> str:
        if not self.left and not self.right:
            return "no board in either image"
        if not self.left or not self.right:
            return f"no board in the {'right' if self.left else 'left'} image"
        return "too few common corners"

    @classmethod
    def all_of(cls, board: Board, left: list[Any], right: list[Any]) -> tuple[list[Found], Board, tuple[int, int]]:
        pairs, size = [], None
        for number, views in enumerate(zip(left, right)):
            found = []
            for view, side in zip(views, ("left", "right")):
                name = os.fspath(view) if isinstance(view, (str, os.PathLike)) else f"{side}[{number}]"
                grey = _grey(view, name)
                size = size or grey.shape
                if grey.shape != size:
                    raise CallError(
                        f"{name} has {grey.shape[1]}×{grey.shape[0]} pixels, but the first view has {size[1]}×{size[0]}; all must "
                        "have the same size"
                    )
                found.append(board.find(grey))
            name = os.path.basename(os.fspath(views[0])) if isinstance(views[0], (str, os.PathLike)) else f"view {number}"
            pairs.append(cls(name, *found))
        return pairs, board, (size[1], size[0]) if size else (0, 0)

    def turn_same_way_up(self, board: Board) -> None:
        """Numbers the corners of both views from the same end of the board. A chessboard whose numbers of columns and rows are both even or
        both odd looks the same upside down.
        """
        if board.dictionary or (board.columns + board.rows) % 2 or not self.left or not self.right:
            return
        last = board.columns * board.rows - 1
        ways = [np.subtract(view[last], view[0]) for view in (self.left, self.right)]
        if ways[0] @ ways[1] < 0:
            self.right = {last - i: point for i, point in self.right.items()}


@dataclass
class _Camera:
    matrix: npt.NDArray[np.float64]
    distortion: npt.NDArray[np.float64]
    rms: float


class _Fit:
    """Computes both cameras from a set of pairs."""

    def __init__(self, pairs: Sequence[Found], board: Board, size: tuple[int, int]) -> None:
        cv2 = opencv()
        self._unit, self._size = board.unit, size
        on_board = [board.place_of(pair.shared) for pair in pairs]
        self._seen = [[pair.points(camera) for pair in pairs] for camera in (0, 1)]
        for camera, side in enumerate(("left", "right")):
            if (covered := self.coverage(camera)) < LEAST_COVERAGE:
                raise CallError(
                    f"the board covers {100 * covered:.0f} % of the {side} camera's image over all views; "
                    f"{100 * LEAST_COVERAGE:.0f} % are required; show the board in all corners and at all edges of the image"
                )
        self.cameras: list[_Camera] = []
        for camera in (0, 1):
            rms, matrix, distortion, turns, _ = cv2.calibrateCamera(on_board, self._seen[camera], size, None, None)
            self.cameras.append(_Camera(matrix, distortion, rms))
            if camera == 0:
                self._check_tilt(turns)
        left, right = self.cameras
        # Refines the parameters of both cameras together, starting from those of each camera.
        found = cv2.stereoCalibrateExtended(
            on_board, *self._seen, left.matrix, left.distortion, right.matrix, right.distortion, size, None, None,
            flags=cv2.CALIB_USE_INTRINSIC_GUESS,
            criteria=(cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 200, 1e-9),
        )  # fmt: skip
        self.rms, left.matrix, left.distortion, right.matrix, right.distortion, self._turn, self._shift = found[:7]
        self._per_view = np.asarray(found[-1]).reshape(len(pairs), 2)
        self.view_rms = np.sqrt((self._per_view**2).mean(axis=1))

    def coverage(self, camera: int) -> float:
        """Returns the share of the image's 8×6 cells that contain a corner."""
        points = np.concatenate(self._seen[camera])
        cells = np.clip((points * (8, 6) / self._size).astype(int), 0, (7, 5))
        return len(np.unique(cells, axis=0)) / 48

    @staticmethod
    def _check_tilt(turns: Sequence[Any]) -> None:
        normals = np.array([opencv().Rodrigues(turn)[0][:, 2] for turn in turns])
        tilt = np.degrees(np.arccos(np.clip((normals @ normals.T).min(), -1, 1)))
        if tilt < LEAST_TILT:
            raise CallError(
                f"the tilt of the board differs by at most {tilt:.1f} degrees over all views; {LEAST_TILT} are required to distinguish the focal "
                "length from the distance, so tilt the board more in some views"
            )

    def view(self, i: int, pair: Found, dy: float | None = None) -> CalibrationView:
        left, right = map(float, self._per_view[i])
        used = dy is not None
        remark = "" if used else "outlier, left out"
        return CalibrationView(pair.name, used, remark, left, right, float(self.view_rms[i]), np.nan if dy is None else dy)

    def calibration(self, zoom: float) -> Calibration:
        x, y = self._shift.ravel()[:2]
        if abs(y) > abs(x):
            raise CallError(
                "one camera is above the other, and only cameras side by side are supported; rotate the images by 90 degrees"
            )
        if x > 0:
            raise CallError("the right camera is to the left of the left camera; swap the left and the right images")
        left, right = map(_camera, self.cameras)
        turn, shift = self._turn.ravel().tolist(), self._shift.ravel().tolist()
        return stereo_rectified(self._size, left, right, turn, shift, self._unit, zoom)

    def row_errors(self, calibration: Calibration) -> list[npt.NDArray[np.float64]]:
        """Returns |y_left − y_right| of each corner for each pair, computed with OpenCV's undistortPoints."""
        rig = calibration.rig
        cameras = (calibration.left, rig.cx_left), (calibration.right, rig.cx_right)
        rows = []
        for seen, own, (camera, cx) in zip(self._seen, self.cameras, cameras):
            turn = np.reshape(camera.rectification, (3, 3))
            target = np.array([[rig.focal, 0, cx], [0, rig.focal, rig.cy], [0, 0, 1]])
            rows.append(
                [opencv().undistortPoints(p[:, None], own.matrix, own.distortion, R=turn, P=target)[:, 0, 1] for p in seen]
            )
        return [np.abs(a.astype(float) - b) for a, b in zip(*rows)]


def _camera(camera: _Camera) -> Camera:
    k, distortion = camera.matrix, camera.distortion.ravel()[:12].tolist()
    return Camera(fx=k[0, 0], fy=k[1, 1], cx=k[0, 2], cy=k[1, 2], distortion=distortion, rectification=np.eye(3).ravel().tolist())
