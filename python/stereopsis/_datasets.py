"""Scores methods on folders of scenes with ground truth, as the command `evaluate --dataset` does."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import _native, _options
from ._errors import CallError, Error
from ._external import Method
from ._matching import Matcher
from ._native import DatasetScene
from ._pipeline import Pipeline
from ._progress import OnProgress, Progress
from ._rows import AlignRows, RowSettings, aligned, estimate_of, row_settings, text_of

Json = dict[str, Any]
REGIONS = ("nonocc", "all", "disc")
MEASURES = ("bad0.5", "bad1.0", "bad2.0", "bad4.0", "d1", "out3", "avgerr", "rms", "a90", "a95", "a99", "density")
ENOUGH_SECONDS = 10.0  # timed runs of a scene end after this time


def evaluate_dataset(
    folder: str | os.PathLike[str],
    method: str | Method | None = None,
    *,
    pipeline: Pipeline | None = None,
    set: Mapping[str, object] | None = None,
    device: str = "auto",
    threads: int = 0,
    align_rows: AlignRows = "off",
    repeat: int = 3,
    progress: bool | OnProgress = False,
) -> Json:
    """Runs a method on the scenes of a folder, and scores it: `scenes`, the `average` of each dataset, and the scenes that `failed`.

    folder    folder of scenes: all subfolders with a dataset.json, at any depth
    method, pipeline, set, device, threads   as in Matcher
    align_rows  as in Matcher; the right images are aligned before the time starts ["off", so that results can be compared with others]
    repeat    number of timed runs after one warm-up run, whose median is `ms`; 0: the only run is timed. No run begins after 10 seconds
    progress  True for a line on a terminal's stderr, or a function of (number of scenes that are done, number of scenes)

    The keys and the values are those of `stereopsis evaluate --dataset FOLDER --json FILE`. Raises FileError if there is no scene.
    """
    chosen = Pipeline((method or "sgm") if pipeline is None else pipeline).update(set or {})
    how = {"device": device, "threads": threads}
    rows = row_settings(align_rows)
    repeat = _options.integer("repeat", repeat, 0, 10000)
    found, broken = _native.find_scenes(folder)
    failed = [{"name": str(file.parent), "error": error} for file, error in broken]
    results: list[Json] = []
    used: list[str] = []

    def each() -> Iterator[DatasetScene]:
        for scene in found:
            try:
                result, name = score(scene, chosen, how, repeat, rows)
                results.append(result)
                used.append(name)
            except Error as error:
                failed.append({"name": scene.name, "error": str(error)})
            yield scene

    for _ in Progress.of(found, progress).over(each()):
        pass
    return {
        "method": chosen.method,
        "device": used[-1] if used else device,
        "parameters": chosen.get_params(),
        "align_rows": align_rows if isinstance(align_rows, str) else text_of(estimate_of(align_rows).plane),
        "scenes": results,
        "average": averages(results),
        **({} if (twelve := average_of_12(results)) is None else {"average_of_12": twelve}),
        "failed": failed,
    }


def score(scene: DatasetScene, pipeline: Pipeline, how: Mapping[str, Any], repeat: int, rows: RowSettings) -> tuple[Json, str]:
    """Matches and scores one scene. Returns the scores, and the name of the device."""
    loaded = scene.load()
    bit_depth = bit_depth_of(loaded)
    right = aligned(loaded["left"], loaded["right"], rows, bit_depth)
    with Matcher(pipeline=pipeline, disparities=scene.disparities, bit_depth=bit_depth, warn_of_pair=False, **how) as matcher:
        result, ms = timed(lambda: matcher(loaded["left"], right), repeat)
        device = matcher.device
    height, width = loaded["truth"].shape
    about = {"name": scene.name, "dataset": scene.dataset, "width": width, "height": height}
    measures = {region: measures_of(result.disparity, loaded["truth"], mask) for region, mask in loaded["regions"].items()}
    return {**about, "disparities": scene.disparities, "ms": ms, "measures": measures}, device


def bit_depth_of(loaded: Json) -> int:
    return int(loaded["bit_depth"]) if loaded["left"].dtype == np.uint16 else 0


def timed(run: Callable[[], Any], repeat: int) -> tuple[Any, float]:
    """Returns the result and the median milliseconds of several runs after one warm-up run."""
    times: list[float] = []
    end = time.perf_counter() + ENOUGH_SECONDS
    while True:
        started = time.perf_counter()
        result = run()
        times.append(1e3 * (time.perf_counter() - started))
        if len(times) > repeat or time.perf_counter() > end:
            return result, statistics.median_low(times[1:] or times)


def measures_of(disparity: Any, truth: Any, mask: Any) -> Json:
    counted = int((np.isfinite(truth) & (mask == 255)).sum())
    return {**_native.evaluate(disparity, truth, mask), "counted": counted}


def averages(scenes: Sequence[Json]) -> Json:
    """Returns the means of all measures over the scenes of each dataset."""
    made: Json = {}
    for dataset in dict.fromkeys(one["dataset"] for one in scenes):
        group = [one for one in scenes if one["dataset"] == dataset]
        regions = {name: [one["measures"][name] for one in group if name in one["measures"]] for name in REGIONS}
        made[dataset] = {
            "ms": sum(one["ms"] for one in group) / len(group),
            "measures": {name: _mean(measures) for name, measures in regions.items() if measures},
        }
    return made


def _mean(measures: Sequence[Json]) -> Json:
    def means(of: Sequence[Json]) -> Json:
        return {name: sum(one[name] for one in of) / len(of) for name in MEASURES}

    return {**means(measures), "counted": sum(one["counted"] for one in measures), "valid": means([one["valid"] for one in measures])}


def average_of_12(scenes: Sequence[Json]) -> float | None:
    """Returns the average of bad1.0 over the four scenes and three regions of Middlebury v2, or None if one is missing."""
    values = [m["bad1.0"] for one in scenes if one["dataset"] == "middlebury_v2" for m in one["measures"].values()]
    return sum(values) / 12 if len(values) == 12 else None


def widest(measures: Json) -> Json:
    """Returns the measures of all pixels, or of the non-occluded ones if the truth of the others is unknown."""
    chosen: Json = measures.get("all") or measures["nonocc"]
    return chosen


def folder_of(text: str) -> Path:
    folder = Path(text)
    if not folder.is_dir():
        raise CallError(f"--dataset {text} is not a folder that exists")
    return folder
