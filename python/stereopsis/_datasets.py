"""Scores methods on folders of scenes with ground truth, as the command `evaluate --dataset` does."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from . import _native, _options
from ._errors import CallError
from ._external import Method
from ._pipeline import Pipeline
from ._progress import OnProgress, Progress
from ._rows import AlignRows, estimate_of, row_settings, text_of

Json = dict[str, Any]
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
    from .commands import placed  # imported here, because it is slow

    chosen = Pipeline((method or "sgm") if pipeline is None else pipeline).update(set or {})
    rows = row_settings(align_rows)
    shown = Progress.of(_native.find_scenes(folder)[0], progress)
    threads = _options.integer("threads", threads, 0, 4096)
    used, own_device = placed(chosen.copy(), _options.text("device", device), threads)
    repeat = _options.integer("repeat", repeat, 0, 10000)
    text = _native.compare(folder, [("", "", used, own_device)], [], device, threads, repeat, ENOUGH_SECONDS, rows, "", shown.report)
    shown.end()
    report = json.loads(text)
    found = report["results"][0]
    of_scenes = {key: found[key] for key in ("scenes", "average", "average_of_12") if key in found}
    return {
        "method": chosen.method,
        "device": found["device"],
        "parameters": chosen.get_params(),
        "align_rows": align_rows if isinstance(align_rows, str) else text_of(estimate_of(align_rows).plane),
        **of_scenes,
        "failed": report["failed"],
    }


def bit_depth_of(loaded: Json) -> int:
    return int(loaded["bit_depth"]) if loaded["left"].dtype == np.uint16 else 0


def widest(measures: Json) -> Json:
    """Returns the measures of all pixels, or of the non-occluded ones if the truth of the others is unknown."""
    chosen: Json = measures.get("all") or measures["nonocc"]
    return chosen


def folder_of(text: str) -> Path:
    folder = Path(text)
    if not folder.is_dir():
        raise CallError(f"--dataset {text} is not a folder that exists")
    return folder
