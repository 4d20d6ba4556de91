"""Finds and reads the pairs of an input with the reader of the command."""

from __future__ import annotations

import operator
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from . import _native, _options
from ._errors import CallError
from ._video import Video

Name = str | os.PathLike[str]
LOSSY = (".jpg", ".jpeg", ".jpe", ".jfif", ".jps", ".mpo")  # src/jobs/constant_settings.cpp has the same list
BLACK_OF_LOSSY = 2  # black becomes noise of this size in images that a lossy format stored


def black_of(file: Name | None) -> int:
    """Returns the largest value of black in an image that was read from `file`: the argument `black` of a Matcher."""
    return BLACK_OF_LOSSY if file is not None and os.fspath(file).lower().endswith(LOSSY) else 0


@dataclass(frozen=True)
class ImagePair:
    """A pair that PairSource has read.

    left, right            images, (height, width) or (height, width, 3), as st.match() takes them
    mask_left, mask_right  uint8, (height, width), 0 where the file says that a pixel is no data; None if all pixels are data
    bit_depth              significant bits of 16-bit images that declare fewer; 0: all bits
    name                   the file of the left image, or "frame 3 of left.mp4"
    files                  the files of both images
    seconds_apart          time between both images in seconds if they are paired by time stamp, else None
    """

    left: npt.NDArray[Any]
    right: npt.NDArray[Any]
    mask_left: npt.NDArray[np.uint8] | None
    mask_right: npt.NDArray[np.uint8] | None
    bit_depth: int
    name: str
    files: tuple[Path, Path]
    seconds_apart: float | None


class PairSource(Sequence[ImagePair]):
    """The pairs of an input, as the command `match` reads them. Images are read when a pair is accessed.

    left, right   two images, patterns (left%03d.png, 'left*.png'), directories or videos; without `right`, `left` is a folder
                  with both views, a folder of folders with one pair each, a list of pairs (.csv), or files that hold both
                  views: halves of a picture (side_by_side, top_bottom, JPS) or two pictures (MPO, TIFF). "pair.tif[1]" is the
                  second picture of a file
    pair          pairing of two sequences: "number" (by frame number, or by name) or "stamp" (by nearest time stamp)
    slop          largest difference of the time stamps of a pair: seconds, "5ms", or a share of the time between two frames
                  such as "5%" ["50%"]
    side_by_side  True if the left half of each picture is the left view
    top_bottom    True if the upper half of each picture is the left view
    right_first   True to exchange the views of files that hold both: the first one is the right view
    keep_going    True to skip frames without a partner, which are listed in `dropped`. With pair="stamp", they are always skipped

    Videos are decoded by OpenCV (the module cv2). Raises CallError for files that do not exist and for frames without a
    partner, FileError, FormatError, and UnsupportedError for videos without OpenCV.

    >>> import stereopsis as st, tempfile, pathlib
    >>> folder, scene = pathlib.Path(tempfile.mkdtemp()), st.synth("table", width=64, height=48, disparities=16)
    >>> st.write_pfm(folder / "left.pfm", scene.left[..., 1].astype("float32"))
    >>> st.write_pfm(folder / "right.pfm", scene.right[..., 1].astype("float32"))
    >>> [pair.left.shape for pair in st.PairSource(folder)]
    [(48, 64)]
    """

    def __init__(
        self, left: Name, right: Name | None = None, *, pair: str = "number", slop: str | float | None = None,
        side_by_side: bool = False, top_bottom: bool = False, right_first: bool = False, keep_going: bool = False,
    ) -> None:
        limit = "" if slop is None else slop if isinstance(slop, str) else f"{_options.number('slop', slop):.9f}"
        self._source = _native.PairSource(
            os.fspath(left), os.fspath(right or ""), _options.text("pair", pair), limit, side_by_side, top_bottom, right_first,
            keep_going, Video,
        )

    def __len__(self) -> int:
        return len(self._source)

    @overload
    def __getitem__(self, index: int) -> ImagePair: ...
    @overload
    def __getitem__(self, index: slice) -> list[ImagePair]: ...
    def __getitem__(self, index: int | slice) -> ImagePair | list[ImagePair]:
        if isinstance(index, slice):
            return [self._read(i) for i in range(*index.indices(len(self)))]
        return self._read(self._place(index))

    def _place(self, index: int) -> int:
        place = operator.index(index)
        place += len(self) if place < 0 else 0
        if not 0 <= place < len(self):
            raise IndexError(f"there is no pair {index}; the source has {len(self)}")
        return place

    def _read(self, i: int) -> ImagePair:
        for file in (self._source.left_file(i), self._source.right_file(i)):
            _native.add_input_file(file)
        (left, mask_left, bits_left), (right, mask_right, bits_right) = self._source.read(i)
        if bits_left != bits_right:
            raise CallError(f"{self._source.name(i)} has {bits_left} bits, and its partner has {bits_right}; both must have the same bit depth")
        return ImagePair(
            left, right, mask_left, mask_right,
            bit_depth=bits_left if bits_left < 8 * left.itemsize and left.dtype == np.uint16 else 0,
            name=self._source.name(i), files=self.files(i), seconds_apart=self._source.seconds_apart(i),
        )

    def files(self, index: int) -> tuple[Path, Path]:
        """Returns the files of both images of the pair `index`, without reading them."""
        place = self._place(index)
        return self._source.left_file(place), self._source.right_file(place)

    def result_name(self, index: int) -> str:
        """Returns a name for the results of the pair `index`: that of the left image or, if several have one name, what differs
        in their paths, such as the folder.
        """
        return self._source.result_name(self._place(index))

    def files_beside(self, given: Name) -> list[Path | None]:
        """Returns a file for each pair, such as its ground truth, by the number or the name of the left image.

        given  an image, which belongs to the first pair, or a pattern or a directory

        The file is None where a pair has none. Raises CallError if no file belongs to a pair.
        """
        return [file if file.name else None for file in self._source.files_beside(os.fspath(given))]

    @property
    def dropped(self) -> list[str]:
        """Names of the frames that have no partner and are skipped."""
        return self._source.dropped

    @property
    def is_sequence(self) -> bool:
        """True for sequences, even of one pair; False for two images."""
        return self._source.is_sequence

    @property
    def rate(self) -> float:
        """Number of frames per second of a video; 0 for images."""
        return self._source.rate
