"""The pairs on which settings are tried: scenes with ground truth, or the user's own pairs without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _native
from .._datasets import bit_depth_of, folder_of
from .._errors import CallError
from .._rows import RowSettings, aligned
from ..view.pairing import Pairing
from ..view.sources import Files, Source, open_sources
from . import proxies

Array = Any
HELD_OUT = 3  # every third pair is held out
FEWEST = 3  # pairs of which a part can be held out


@dataclass(frozen=True, eq=False)  # arrays have no single result of ==
class Item:
    """A pair, and what scores a disparity of it: the truth with the counted pixels, or the map of a reference method."""

    name: str
    pair: proxies.Pair
    bit_depth: int = 0
    truth: Array | None = None
    counted: Array | None = None  # 255 where a pixel counts
    scene: _native.DatasetScene | None = None


@dataclass(frozen=True)
class Items:
    """The pairs of a search, and those that are held out from it."""

    searched: list[Item]
    held_out: list[Item]

    @classmethod
    def of(cls, items: Sequence[Item]) -> Items:
        if len(items) < FEWEST:
            return cls(list(items), [])
        return cls(
            [one for k, one in enumerate(items) if k % HELD_OUT != HELD_OUT - 1], list(items[HELD_OUT - 1 :: HELD_OUT])
        )

    @property
    def all(self) -> list[Item]:
        return self.searched + self.held_out


def of_dataset(folder: str) -> list[Item]:
    """Returns the scenes of a folder. The widest region of known pixels counts."""
    scenes, failed = _native.find_scenes(folder_of(folder))
    if failed:
        raise CallError(f"'{failed[0][0]}' describes no scene: {failed[0][1]}")
    items, names = [], [f"{scene.dataset}/{scene.name}" for scene in scenes]
    for name, scene in zip(names, scenes, strict=True):
        loaded = scene.load()
        regions = loaded["regions"]
        counted = regions.get("all", regions.get("nonocc"))
        pair = proxies.Pair(loaded["left"], loaded["right"], (0, scene.disparities))
        unique = name if names.count(name) == 1 else f"{name} ({scene.folder.name})"
        items.append(Item(unique, pair, bit_depth_of(loaded), loaded["truth"], counted, scene))
    return items


def of_images(
    given: Sequence[str], disparities: tuple[int, int] | None, most: int, bit_depth: int | None, how: dict[str, Any]
) -> list[Item]:
    """Returns up to `most` pairs of the sources, spread evenly, with the map of the reference method for each."""
    sources = [one for one in open_sources(given, None, 0.0, Pairing()) if isinstance(one, Files)]
    frames = [(source, k) for source in sources for k in range(source.length or 0)]
    if not frames:
        raise CallError(f"'{' '.join(given)}' has no image files; give LEFT and RIGHT, or a folder of pairs")
    chosen = [frames[len(frames) * k // min(most, len(frames))] for k in range(min(most, len(frames)))]
    return [_item(source, k, disparities, bit_depth, how) for source, k in chosen]


def is_sequence(given: Sequence[str]) -> bool:
    """Returns whether the sources have more than one pair."""
    files = [one for one in open_sources(given, None, 0.0, Pairing()) if isinstance(one, Files)]
    return len(files) > 1 or any(one.pairs.is_sequence for one in files)


def _item(source: Source, k: int, disparities: tuple[int, int] | None, bit_depth: int | None, how: dict[str, Any]) -> Item:
    if isinstance(source, Files):
        source.bit_depth = bit_depth
    frame = source.read(k)
    found = disparities or source.disparities or _native.estimate_disparities(frame.left, frame.right, bit_depth=frame.bit_depth)
    right = aligned(frame.left, frame.right, RowSettings(is_off=False, fixed=None), frame.bit_depth)  # as `match` aligns it
    pair = proxies.with_reference(frame.left, right, found, bit_depth=frame.bit_depth, **how)
    return Item(frame.name if len(frame.name) > 0 else str(k), pair, frame.bit_depth)


def score(item: Item, proxy: str, disparity: Array, match: proxies.Match) -> float:
    """Returns the percentage of wrong pixels, or the value of the proxy if there is no truth. Low is good."""
    if item.truth is None:
        return proxies.score(proxy, item.pair, disparity, match)
    return float(_native.evaluate(np.ascontiguousarray(disparity), item.truth, item.counted)["bad1.0"])
