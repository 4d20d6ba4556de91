"""Pairs left and right images by frame number, like the command `match`, or by time."""

from __future__ import annotations

import bisect
import datetime
import glob
import math
import pathlib
import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .._errors import CallError, FileError

IMAGES = {".png", ".pgm", ".ppm", ".pnm", ".jpg", ".jpeg", ".tif", ".tiff", ".pfm", ".npy"}
Path = pathlib.Path

LOOSE, STRICT = 0.5, 0.05  # largest difference of the times of a pair, as a share of the time between two images of a view


@dataclass(frozen=True)
class Pairing:
    """How to pair images: by "number" or by "stamp". If `strict` is true, every file must have a partner in pairing by number,
    and the times of a pair must be nearly equal in other cases. None selects the default of the source: files are paired by
    number and strictly, cameras by number and not strictly, bags by stamp.
    """

    by: str | None = None
    strict: bool | None = None

    @classmethod
    def of(cls, message: Mapping[str, object]) -> Pairing:
        by = str(message["by"])
        if by not in ("number", "stamp"):
            raise CallError(f"--pair {by} is not allowed; it must be number or stamp")
        return cls(by, bool(message["strict"]))

    def or_usual(self, by: str, strict: bool) -> Pairing:
        return Pairing(self.by or by, strict if self.strict is None else self.strict)


def files_of(given: str) -> list[Path]:
    """Returns the files of a folder, a pattern with %d or wildcards, or one file, sorted by frame number, then by name."""
    path = Path(given)
    if path.is_dir():
        found = [file for file in path.iterdir() if file.suffix.lower() in IMAGES and not file.name.startswith(".")]
    elif "%" in given or any(sign in given for sign in "*?["):
        wildcard = re.sub(r"%0?\d*d", "*", glob.escape(given) if "%" in given else given)
        found = [Path(name) for name in glob.glob(wildcard)]
    else:
        found = [path]
    if not found:
        raise FileError(f"'{given}' matches no image; give a folder, a pattern or an existing file")
    return sorted(found, key=lambda file: (number_of(file) or 0, file.name))


def number_of(file: Path) -> int | None:
    """Returns the last number in the stem of the name."""
    digits = re.findall(r"\d+", file.stem)
    return int(digits[-1]) if digits else None


@dataclass(frozen=True)
class PairOfFiles:
    """The indices of a pair, and the difference of its times in seconds if they are known."""

    left: Path
    right: Path
    apart: float | None = None


def paired(left: Sequence[Path], right: Sequence[Path], how: Pairing) -> list[PairOfFiles]:
    if len(left) == len(right) == 1:
        return [PairOfFiles(left[0], right[0])]
    if how.by == "stamp":
        lefts, rights = stamped(left), stamped(right)
        both = nearest([stamp for stamp, _ in lefts], [stamp for stamp, _ in rights], bool(how.strict))
        return [PairOfFiles(lefts[i][1], rights[j][1], abs(lefts[i][0] - rights[j][0])) for i, j in both]
    return by_number(left, right, bool(how.strict))


def by_number(left: Sequence[Path], right: Sequence[Path], strict: bool, or_else: str = ", or switch strict pairing off (--no-strict)") -> list[PairOfFiles]:
    lefts, rights = by_key(left), by_key(right)
    for one, other, side in ((lefts, rights, "right"), (rights, lefts, "left")):
        alone = next((key for key in one if key not in other), None)
        if alone is not None and strict:
            raise CallError(
                f"'{one[alone]}' has no {side} image of the same number; add it, remove this one{or_else}"
            )
    both = [key for key in lefts if key in rights]
    if not both:
        raise CallError(f"no image next to '{left[0]}' has a partner of the same number; give the images of both views")
    return [PairOfFiles(lefts[key], rights[key]) for key in both]


def by_key(files: Sequence[Path]) -> dict[object, Path]:
    """Returns the files by frame number, or by name if a number is missing or occurs twice."""
    numbers = [number_of(file) for file in files]
    if None in numbers or len(set(numbers)) < len(numbers):
        return {file.name: file for file in files}
    return dict(zip(numbers, files, strict=True))


def interval_of(stamps: Sequence[float]) -> float:
    """Returns the time between two images, in seconds."""
    steps = [after - before for before, after in zip(stamps, stamps[1:], strict=False) if after > before]
    return statistics.median(steps) if steps else math.inf


def nearest(left: Sequence[float], right: Sequence[float], strict: bool) -> list[tuple[int, int]]:
    """Returns the indices of pairs from two ascending lists of times in seconds. A right image is paired with the nearest left
    image.
    """
    limit = (STRICT if strict else LOOSE) * min(interval_of(left), interval_of(right))
    best: dict[int, tuple[float, int]] = {}
    for i, stamp in enumerate(left):
        after = bisect.bisect_left(right, stamp)
        j = min((j for j in (after - 1, after) if 0 <= j < len(right)), key=lambda j: abs(right[j] - stamp))
        apart = abs(right[j] - stamp)
        if apart <= limit and (j not in best or apart < best[j][0]):
            best[j] = apart, i
    if not best:
        closest = min(abs(one - other) for one in left[:1000] for other in right[:1000])
        raise CallError(
            f"no two images are closer in time than {1e3 * closest:.3g} ms, but {1e3 * limit:.3g} ms are allowed; "
            + ("pair them loosely, or by number" if strict else "pair them by number")
        )
    return sorted((i, j) for j, (_, i) in best.items())


def stamped(files: Sequence[Path]) -> list[tuple[float, Path]]:
    """Returns the files in the order of their times, in seconds. The times come from a timestamps.txt or times.txt next
    to the folder or in it (KITTI), otherwise from the last number of each name (EuRoC, TUM)."""
    folder = files[0].parent
    for place in (folder, folder.parent):
        for name in ("timestamps.txt", "times.txt"):
            if (place / name).is_file():
                return in_order(stamps_in(place / name, len(files)), files)
    numbers = [re.findall(r"\d+(?:\.\d+)?", file.stem) for file in files]
    if not all(numbers):
        alone = files[[bool(found) for found in numbers].index(False)]
        raise CallError(f"'{alone}' has no time in its name; add timestamps.txt beside it, or pair by number")
    return in_order([float(found[-1]) * unit_of(found[-1]) for found in numbers], files)


def in_order(stamps: Sequence[float], files: Sequence[Path]) -> list[tuple[float, Path]]:
    ordered = sorted(zip(stamps, files, strict=True))
    for (one, file), (other, another) in zip(ordered, ordered[1:], strict=False):
        if one == other:
            raise CallError(f"'{file}' and '{another}' have the same time; pair by number")
    return ordered


def stamps_in(file: Path, count: int) -> list[float]:
    lines = [line for line in file.read_text().splitlines() if line.strip() and not line.startswith("#")]
    if len(lines) != count:
        raise FileError(f"'{file}' has {len(lines)} times for {count} images; it must have one line for each image")
    try:
        return [seconds_of(line.strip()) for line in lines]
    except ValueError as error:
        raise FileError(f"'{file}' has a line that is not a time ({error}); write seconds, or dates with times") from error


def seconds_of(text: str) -> float:
    if re.fullmatch(r"[-+.\deE]+", text):
        return float(text) * unit_of(text)
    return datetime.datetime.fromisoformat(text).timestamp()


def unit_of(number: str) -> float:
    """Returns the unit of a time in seconds. The number of digits of a whole number since 1970 tells nanoseconds, microseconds
    and milliseconds apart.
    """
    digits = len(number) if number.isdigit() else 0
    return 1e-9 if digits >= 18 else 1e-6 if digits >= 15 else 1e-3 if digits >= 12 else 1.0
