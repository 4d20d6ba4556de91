"""Which left file belongs to which right one: as the command pairs sequences."""

from __future__ import annotations

import glob
import pathlib
import re
from collections.abc import Sequence

from .._errors import CallError, FileError

IMAGES = {".png", ".pgm", ".ppm", ".pnm", ".jpg", ".jpeg", ".tif", ".tiff", ".pfm", ".npy"}
Path = pathlib.Path


def files_of(given: str) -> list[Path]:
    """Of a folder, a pattern with %d or wildcards, or one file; sorted by frame number, then by name."""
    path = Path(given)
    if path.is_dir():
        found = [file for file in path.iterdir() if file.suffix.lower() in IMAGES and not file.name.startswith(".")]
    elif "%" in given or any(sign in given for sign in "*?["):
        wildcard = re.sub(r"%0?\d*d", "*", glob.escape(given) if "%" in given else given)
        found = [Path(name) for name in glob.glob(wildcard)]
    else:
        found = [path]
    if not found:
        raise FileError(f"'{given}' names no picture; give a folder, a pattern or a file that is there")
    return sorted(found, key=lambda file: (number_of(file) or 0, file.name))


def number_of(file: Path) -> int | None:
    """The last number of the stem."""
    digits = re.findall(r"\d+", file.stem)
    return int(digits[-1]) if digits else None


def paired(left: Sequence[Path], right: Sequence[Path], strict: bool = True) -> list[tuple[Path, Path]]:
    """Pairs by frame number. What has no partner is named, or without `strict` passed over."""
    if len(left) == len(right) == 1:
        return [(left[0], right[0])]
    lefts, rights = by_key(left), by_key(right)
    for one, other, side in ((lefts, rights, "right"), (rights, lefts, "left")):
        alone = next((key for key in one if key not in other), None)
        if alone is not None and strict:
            raise CallError(f"'{one[alone]}' has no {side} picture of the same number; add it, or remove this one")
    both = [key for key in lefts if key in rights]
    if not both:
        raise CallError(f"no picture beside '{left[0]}' has a partner of the same number; give both views' pictures")
    return [(lefts[key], rights[key]) for key in both]


def by_key(files: Sequence[Path]) -> dict[object, Path]:
    """By frame number; by name where there is none, or two have the same."""
    numbers = [number_of(file) for file in files]
    if None in numbers or len(set(numbers)) < len(numbers):
        return {file.name: file for file in files}
    return dict(zip(numbers, files, strict=True))
