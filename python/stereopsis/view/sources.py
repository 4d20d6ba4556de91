"""Where pairs come from, behind one interface. Only what the call names is ever read."""

from __future__ import annotations

import json
import math
import pathlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .. import _native
from .._errors import CallError, FileError
from .._scenes import read_image, synth
from .pairing import IMAGES, Path, files_of, paired

Array = Any


@dataclass(frozen=True)
class Frame:
    """A pair as it was given, and what is known of it."""

    left: Array
    right: Array
    name: str
    truth: Array | None = None
    files: tuple[str, str] | None = None  # as `match` takes them; None where there are none
    bit_depth: int = 0  # of 16-bit pictures; 0: all


class Source(Protocol):
    """`length` is None where pairs come as they come: there is no seeking then, and read() gives the newest."""

    name: str
    length: int | None
    rate: float  # pairs a second, 0: as fast as can be
    disparities: tuple[int, int] | None  # where the source says what to search

    def read(self, index: int) -> Frame: ...
    def close(self) -> None: ...


class Files:
    """One pair, or a sequence of them."""

    rate = 0.0

    def __init__(self, name: str, pairs: Sequence[tuple[Path, Path]], truths: Sequence[Path], scale: float) -> None:
        self.name, self.pairs, self.truths, self.scale = name, list(pairs), list(truths), scale
        self.disparities: tuple[int, int] | None = None
        self.length: int | None = len(self.pairs)
        self.bit_depth: int | None = None

    def read(self, index: int) -> Frame:
        left, right = self.pairs[index]
        truth = self.truths[index] if index < len(self.truths) else None
        return Frame(
            read_image(left, self.bit_depth),
            read_image(right, self.bit_depth),
            left.name if left.stem not in ("left", "im0", "im2") else left.parent.name or left.name,
            None if truth is None else _native.read_disparity(truth, self.scale),
            (str(left), str(right)),
            self.bit_depth or 0,
        )

    def close(self) -> None:
        pass


class Synthetic:
    """A generated scene; moving, the cameras pan over a wider one and back."""

    rate = 30.0
    frames = 48

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


def open_sources(given: Sequence[str], truth: str | None, scale: float) -> list[Source]:
    """What the call names, and the generated scenes behind it."""
    found: list[Source] = []
    if given:
        found += named(given, truth, scale)
    elif truth:
        raise CallError("--truth needs the pictures that it is of; give LEFT and RIGHT")
    first = [Synthetic("table", moving=True)] if not given else []
    return [*found, *first, *(Synthetic(scene) for scene in _native.scene_names())]


def named(given: Sequence[str], truth: str | None, scale: float) -> list[Source]:
    from . import capture

    if len(given) > 2:
        raise CallError(f"{len(given)} sources are given; give LEFT and RIGHT, or one of a folder, a video and synth:…")
    if any(capture.is_video(one) for one in given):
        return [capture.Capture(*given)]
    truths = files_of(truth) if truth else []
    if len(given) == 2:
        pairs = paired(files_of(given[0]), files_of(given[1]))
        return [Files(pathlib.Path(given[0]).name, pairs, truths, scale)]
    if given[0] == "synth" or given[0].startswith("synth:"):
        return [synthetic(given[0])]
    folder = Path(given[0])
    if not folder.is_dir():
        if not folder.exists():
            raise FileError(f"'{folder}' is not there; give LEFT and RIGHT, a folder, a video or synth:SCENE")
        raise CallError(f"'{folder}' is one picture; give LEFT and RIGHT")
    scene = scene_of(folder, truths, scale)
    if scene is not None:
        return [scene]
    scenes = [found for inner in sorted(folder.iterdir()) if inner.is_dir() and (found := scene_of(inner, [], scale))]
    if not scenes:
        raise FileError(f"'{folder}' holds no pair: no left.* and right.*, no left/ and right/, no folders with them")
    return list(scenes)


FOLDERS = [("left", "right"), ("image_2", "image_3"), ("image_0", "image_1"), ("image_02", "image_03")]
PAIRS = [("left", "right"), ("im0", "im1"), ("im2", "im6"), ("view1", "view5")]
TRUTHS = ["disp_left.pfm", "disp0.pfm", "disp0GT.pfm"]


def scene_of(folder: Path, truths: Sequence[Path], scale: float) -> Files | None:
    """left/ and right/, or left.* and right.* (as Middlebury and KITTI name them, too), with the truth that is there."""
    for left, right in FOLDERS:
        if (folder / left).is_dir() and (folder / right).is_dir():
            pairs = paired(files_of(str(folder / left)), files_of(str(folder / right)))
            return Files(folder.name, pairs, truths, scale)
    for names in PAIRS:
        pair = [[f for f in sorted(folder.glob(f"{name}.*")) if f.suffix.lower() in IMAGES] for name in names]
        if all(pair):
            break
    else:
        return None
    source = Files(folder.name, [(pair[0][0], pair[1][0])], truths, scale)
    about = folder / "dataset.json"
    if about.is_file():
        described = json.loads(about.read_text())
        source.disparities = (0, int(described["ndisp"])) if "ndisp" in described else None
        truth = folder / str(described.get("gt", ""))
        if not truths and truth.is_file():
            source.truths, source.scale = [truth], float(described.get("gt_scale", 0))
    elif not truths:
        source.truths = [file for name in TRUTHS if (file := folder / name).is_file()][:1]
    return source
