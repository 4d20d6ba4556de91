"""Sources of pairs with one interface. Only files that the call names are ever read."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from .. import _native
from .._errors import CallError, FormatError
from .._json import parsed
from .._pair_source import ImagePair, PairSource
from .._scenes import synth
from .frame import Frame
from .pairing import STRICT, Pairing


class Source(Protocol):
    """A source of pairs. `length` is None for live pairs, which cannot be sought; read() then returns the newest pair.

    After close(), the next read() opens the source again. All calls must come from the same thread.
    """

    name: str
    length: int | None
    rate: float  # pairs per second; 0: no limit
    disparities: tuple[int, int] | None  # the search range, if the source gives one
    pairing: Pairing | None  # set if two views have to be paired

    def read(self, index: int) -> Frame: ...
    def pair(self, how: Pairing) -> None: ...
    def close(self) -> None: ...


@dataclass(frozen=True)
class Halves:
    """The arrangement of pictures that hold both views; both are false for pictures of one view."""

    side_by_side: bool = False
    top_bottom: bool = False
    right_first: bool = False  # exchanges the views of files that hold both

    def __bool__(self) -> bool:
        return self.side_by_side or self.top_bottom


class Files:
    """A pair of images, or a sequence of pairs, from files that PairSource reads."""

    disparities: tuple[int, int] | None = None
    bit_depth: int | None = None  # overrides the bit depth of files that declare 16 bits
    rig: _native.Rig | None = None  # the rig, if a calibration lies beside the pair
    remark: str | None = None  # sentence that says why a calibration beside the pair is not used
    seeds: list[Path | None] | None = None  # a file of disparities that are known beforehand for each pair

    def __init__(
        self, name: str, given: Sequence[str | Path], how: Pairing, truth: str | Path | None = None, scale: float = 0.0,
        halves: Halves = Halves(),
    ) -> None:
        self.name, self.scale = name, scale
        self.length: int | None = None
        self.pairing: Pairing | None = None
        self._given, self._truth, self._halves = given, truth, halves
        self.pair(how)

    def pair(self, how: Pairing) -> None:
        has_videos = any(_native.is_video(one) for one in self._given)
        how = how.or_usual("number", not has_videos)
        by_stamp = how.by == "stamp"
        self.pairs = PairSource(
            *self._given,
            pair=str(how.by),
            slop=f"{100 * STRICT:g}%" if by_stamp and how.strict else None,
            side_by_side=self._halves.side_by_side,
            top_bottom=self._halves.top_bottom,
            right_first=self._halves.right_first,
            keep_going=not how.strict,
        )
        self.length, self.rate = len(self.pairs), self.pairs.rate
        self.truths = self.pairs.files_beside(self._truth) if self._truth else [None] * self.length
        self.pairing = how if self.pairs.is_sequence and not self._halves else None

    def read(self, index: int) -> Frame:
        pair, truth = self.pairs[index], self.truths[index]
        left, right = pair.files
        seeds = None if self.seeds is None else self.seeds[index]
        is_video = _native.is_video(left)
        return Frame(
            pair.left,
            pair.right,
            f"{self.name} {index}" if is_video else left.name if left.stem not in ("left", "im0", "im2") else left.parent.name or left.name,
            None if truth is None else _native.read_disparity(truth, self.scale),
            None if is_video or left == right else (str(left), str(right)),
            self._bit_depth_of(pair),
            pair.seconds_apart,
            rig=self.rig,
            masks=(pair.mask_left, pair.mask_right),
            seeds=None if seeds is None else _native.read_disparity(seeds, 0.0),
            seed_file=None if seeds is None else str(seeds),
        )

    def _bit_depth_of(self, pair: ImagePair) -> int:
        if self.bit_depth is None:
            return pair.bit_depth
        if pair.left.dtype != np.uint16 or pair.bit_depth not in (0, self.bit_depth):
            bits = pair.bit_depth or 8 * pair.left.itemsize
            raise CallError(f"--bit-depth {self.bit_depth} applies to 16-bit images, but {pair.name} has {bits} bits; leave it out")
        return self.bit_depth

    def close(self) -> None:
        pass


class Synthetic:
    """A generated scene. The cameras pan over a wider scene and back if `moving` is true."""

    rate = 30.0
    frames = 48
    pairing: Pairing | None = None

    def __init__(self, scene: str, width: int = 640, height: int = 480, count: int = 64, moving: bool = False) -> None:
        if scene not in _native.scene_names():
            raise CallError(f"there is no scene '{scene}'; there are {', '.join(_native.scene_names())}")
        self.name = f"synth: {scene}{', moving' if moving else ''}"
        self.scene, self.size, self.moving = scene, (width, height, count), moving
        self.disparities: tuple[int, int] | None = (0, count)
        self.length: int | None = self.frames if moving else 1
        self._whole: Any = None

    def read(self, index: int) -> Frame:
        width, height, count = self.size
        extra = width // 4 if self.moving else 0
        if self._whole is None:
            self._whole = synth(self.scene, width + extra, height, count, noise=2)
        x = round(extra * (0.5 - 0.5 * math.cos(2 * math.pi * index / self.frames)))
        part = slice(x, x + width)
        whole = self._whole
        return Frame(whole.left[:, part], whole.right[:, part], f"{self.scene} {index}", whole.disparity[:, part])

    def pair(self, how: Pairing) -> None:
        raise CallError("generated pairs need no pairing; leave --pair out")

    def close(self) -> None:
        self._whole = None


def synthetic(given: str) -> Synthetic:
    parts = [part for part in given.removeprefix("synth").removeprefix(":").split(",") if part]
    scene, size, moving = "table", (640, 480, 64), False
    for part in parts:
        numbers = re.fullmatch(r"(\d+)x(\d+)x(\d+)", part)
        if numbers:
            size = int(numbers[1]), int(numbers[2]), int(numbers[3])
        elif part == "moving":
            moving = True
        else:
            scene = part
    return Synthetic(scene, *size, moving=moving)


Topics = tuple[str | None, str | None]


def open_sources(
    given: Sequence[str], truth: str | None, scale: float, how: Pairing = Pairing(), topics: Topics = (None, None), halves: Halves = Halves()
) -> list[Source]:
    """Opens the sources that the call names, followed by the generated scenes."""
    from . import bag, capture

    if (halves or halves.right_first) and (not given or any(bag.is_bag(one) or capture.is_camera(one) or one.startswith("synth") for one in given[:1])):
        raise CallError("--side-by-side, --top-bottom and --right-first apply to image files and videos, and the source has none; leave them out")
    found: list[Source] = []
    if given and bag.is_bag(given[0]):
        found += bags(given, truth, how, topics)
    elif any(topics):
        raise CallError("--left and --right are topics of a bag, and the source is none; give a bag, or LEFT and RIGHT without these options")
    elif given:
        found += named(given, truth, scale, how, halves)
    elif truth:
        raise CallError("--truth requires image files; give LEFT and RIGHT")
    first = [Synthetic("table", moving=True)] if not given else []
    return [*found, *first, *(Synthetic(scene) for scene in _native.scene_names())]


def bags(given: Sequence[str], truth: str | None, how: Pairing, topics: Topics) -> list[Source]:
    if truth:
        raise CallError("--truth applies to image files, and a bag has none; leave it out")
    from . import bag

    return [bag.Bag(one, topics, how) for one in given]


def named(given: Sequence[str], truth: str | None, scale: float, how: Pairing, halves: Halves) -> list[Source]:
    from . import capture

    if len(given) > 2:
        raise CallError(f"{len(given)} sources are given; give LEFT and RIGHT, or one source: a folder, a video or synth:…")
    if any(capture.is_camera(one) for one in given):
        return [capture.Capture(*given, how=how)]
    if given[0] == "synth" or given[0].startswith("synth:"):
        return [synthetic(given[0])]
    first = Path(given[0])
    if len(given) == 2 or halves or not first.is_dir():
        if len(given) == 1 and _native.is_video(first) and not halves:
            halves = Halves(side_by_side=True, right_first=halves.right_first)
        return [Files(first.name, given, how, truth, scale, halves)]
    folders = [first] if _native.has_both_views(first) else [one for one in sorted(first.iterdir()) if one.is_dir() and _native.has_both_views(one)]
    if not folders:  # files with both views, or the sentence of the pair source
        return [Files(first.name, given, how, truth, scale, halves)]
    return [scene_of(one, truth if one == first else None, scale, how) for one in folders]


def described_by(about: Path) -> tuple[tuple[int, int] | None, str, float]:
    """Returns the contents of a dataset.json: the search range, the file with the ground truth, and its scale."""
    described = parsed(about.read_bytes(), f"'{about}'")
    try:
        disparities = (0, int(described["ndisp"])) if "ndisp" in described else None
        return disparities, str(described.get("gt", "")), float(described.get("gt_scale", 0))
    except (AttributeError, TypeError, ValueError) as error:
        raise FormatError(
            f"'{about}' does not describe a scene ({error}); ndisp and gt_scale must be numbers, and gt a file's name"
        ) from error


TRUTHS = ["disp_left.pfm", "disp0.pfm", "disp0GT.pfm"]


def scene_of(folder: Path, truth: str | None, scale: float, how: Pairing) -> Files:
    """Returns the pairs of a folder with both views; a single pair has the ground truth, the search range and the calibration that lie
    beside it.
    """
    source = Files(folder.name, [folder], how, truth, scale)
    if source.pairs.is_sequence:
        return source
    about, disparities = folder / "dataset.json", None
    if about.is_file():
        disparities, name, truth_scale = described_by(about)
        beside = [folder / name] if name else []
    else:
        beside, truth_scale = [folder / name for name in TRUTHS], scale
    found = next((file for file in beside if file.is_file()), None)
    if truth is None and found is not None:
        source = Files(folder.name, [folder], how, found, truth_scale)
    source.disparities = disparities
    find_rig(source)
    return source


def find_rig(source: Files) -> None:
    """Sets the rig of the calib.txt beside a pair. A file for another size does not apply: the pair was scaled after calibration."""
    file = source.pairs.files(0)[0].parent / "calib.txt"
    if not file.is_file():
        return
    height, width = source.pairs[0].left.shape[:2]
    rig = _native.Rig.read(file)
    if tuple(rig.size) in ((0, 0), (width, height)):
        source.rig = rig
    else:
        source.remark = (
            f"{file} is for images of {rig.size[0]}×{rig.size[1]}, and these are {width}×{height}, so that there is no depth; if the images "
            f"were scaled, give --calib {file} --calib-scale {width / rig.size[0]:.6g}"
        )
