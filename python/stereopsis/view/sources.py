"""Sources of pairs with one interface. Only files that the call names are ever read."""

from __future__ import annotations

import math
import pathlib
import re
from collections.abc import Sequence
from typing import Any, Protocol

from .. import _native
from .._errors import CallError, FileError, FormatError
from .._json import parsed
from .._scenes import read_image, synth
from .frame import Frame
from .pairing import IMAGES, Pairing, Path, files_of, paired

class Source(Protocol):
    """A source of pairs. `length` is None for live pairs: they cannot be sought, and read() returns the newest.

    After close(), the next read() opens the source again. One thread makes all calls.
    """

    name: str
    length: int | None
    rate: float  # pairs per second; 0: no limit
    disparities: tuple[int, int] | None  # the search range, if the source gives one
    pairing: Pairing | None  # set if two views have to be paired

    def read(self, index: int) -> Frame: ...
    def pair(self, how: Pairing) -> None: ...
    def close(self) -> None: ...


class Files:
    """A pair of images, or a sequence of pairs."""

    rate = 0.0

    def __init__(
        self, name: str, left: Sequence[Path], right: Sequence[Path], truths: Sequence[Path], scale: float, how: Pairing
    ) -> None:
        self.name, self.truths, self.scale = name, list(truths), scale
        self.disparities: tuple[int, int] | None = None
        self.bit_depth: int | None = None
        self.length: int | None = None
        self._left, self._right = left, right
        self._place = {file: i for i, file in enumerate(left)}
        self.pair(how)

    def pair(self, how: Pairing) -> None:
        how = how.or_usual("number", True)
        self.pairs = paired(self._left, self._right, how)
        self.length = len(self.pairs)
        self.pairing = how if len(self._left) + len(self._right) > 2 else None

    def read(self, index: int) -> Frame:
        files = self.pairs[index]
        left, right = files.left, files.right
        truth = self.truths[self._place[left]] if self._place[left] < len(self.truths) else None
        return Frame(
            read_image(left, self.bit_depth),
            read_image(right, self.bit_depth),
            left.name if left.stem not in ("left", "im0", "im2") else left.parent.name or left.name,
            None if truth is None else _native.read_disparity(truth, self.scale),
            (str(left), str(right)),
            self.bit_depth or 0,
            files.apart,
        )

    def close(self) -> None:
        pass


class Synthetic:
    """A generated scene. The cameras of a moving scene pan over a wider one and back."""

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
    given: Sequence[str], truth: str | None, scale: float, how: Pairing = Pairing(), topics: Topics = (None, None)
) -> list[Source]:
    """Opens the sources that the call names, followed by the generated scenes."""
    from . import bag

    found: list[Source] = []
    if given and bag.is_bag(given[0]):
        found += bags(given, truth, how, topics)
    elif any(topics):
        raise CallError("--left and --right are topics of a bag, and the source is none; give a bag, or LEFT and RIGHT without these options")
    elif given:
        found += named(given, truth, scale, how)
    elif truth:
        raise CallError("--truth requires image files; give LEFT and RIGHT")
    first = [Synthetic("table", moving=True)] if not given else []
    return [*found, *first, *(Synthetic(scene) for scene in _native.scene_names())]


def bags(given: Sequence[str], truth: str | None, how: Pairing, topics: Topics) -> list[Source]:
    if truth:
        raise CallError("--truth applies to image files, and a bag has none; leave it out")
    from . import bag

    return [bag.Bag(one, topics, how) for one in given]


def named(given: Sequence[str], truth: str | None, scale: float, how: Pairing) -> list[Source]:
    from . import capture

    if len(given) > 2:
        raise CallError(f"{len(given)} sources are given; give LEFT and RIGHT, or one source: a folder, a video or synth:…")
    if any(capture.is_video(one) for one in given):
        return [capture.Capture(*given, how=how)]
    truths = files_of(truth) if truth else []
    if len(given) == 2:
        return [Files(pathlib.Path(given[0]).name, files_of(given[0]), files_of(given[1]), truths, scale, how)]
    if given[0] == "synth" or given[0].startswith("synth:"):
        return [synthetic(given[0])]
    folder = Path(given[0])
    if not folder.is_dir():
        if not folder.exists():
            raise FileError(f"'{folder}' does not exist; give LEFT and RIGHT, a folder, a video or synth:SCENE")
        raise CallError(f"'{folder}' is a single image; give LEFT and RIGHT")
    scene = scene_of(folder, truths, scale, how)
    if scene is not None:
        return [scene]
    inner = [one for one in sorted(folder.iterdir()) if one.is_dir()]
    scenes = [found for one in inner if (found := scene_of(one, [], scale, how))]
    if not scenes:
        raise FileError(f"'{folder}' has no pair; it must have left.* and right.*, or left/ and right/, or folders with them")
    return list(scenes)


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


FOLDERS = [("left", "right"), ("image_2", "image_3"), ("image_0", "image_1"), ("image_02", "image_03"), ("cam0", "cam1")]
PAIRS = [("left", "right"), ("im0", "im1"), ("im2", "im6"), ("view1", "view5")]
TRUTHS = ["disp_left.pfm", "disp0.pfm", "disp0GT.pfm"]


def scene_of(folder: Path, truths: Sequence[Path], scale: float, how: Pairing) -> Files | None:
    """Returns the images of a folder: left/ and right/, or left.* and right.*, or the names of Middlebury, KITTI and EuRoC; with
    the ground truth if there is one.
    """
    for names in FOLDERS:
        sides = [folder / name for name in names]
        if all(side.is_dir() for side in sides):
            left, right = (files_of(str(side / "data" if (side / "data").is_dir() else side)) for side in sides)
            return Files(folder.name, left, right, truths, scale, how)
    for names in PAIRS:
        pair = [[f for f in sorted(folder.glob(f"{name}.*")) if f.suffix.lower() in IMAGES] for name in names]
        if all(pair):
            break
    else:
        return None
    source = Files(folder.name, pair[0][:1], pair[1][:1], truths, scale, how)
    about = folder / "dataset.json"
    if about.is_file():
        source.disparities, name, truth_scale = described_by(about)
        if not truths and (folder / name).is_file():
            source.truths, source.scale = [folder / name], truth_scale
    elif not truths:
        source.truths = [file for name in TRUTHS if (file := folder / name).is_file()][:1]
    return source
