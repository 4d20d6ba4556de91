"""Compares methods on scenes with ground truth, as the command `bench --dataset` does."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import _native, _options
from ._errors import CallError
from ._external import Method
from ._pair import warn
from ._pipeline import Pipeline, text_of
from ._progress import OnProgress, Progress

Compared = str | Pipeline | Method


def compare(
    dataset: str | os.PathLike[str],
    methods: Sequence[Compared] | Mapping[str, Compared] | Compared = ("fast", "balanced", "accurate"),
    *,
    html: str | os.PathLike[str] | None = None,
    set: Mapping[str, object] | None = None,
    device: str = "auto",
    repeat: int = 3,
    progress: bool | OnProgress = False,
) -> list[dict[str, Any]]:
    """Runs methods on a folder of scenes, and returns their times and measures: one entry for each method, as `bench --json` writes it.

    dataset  folder of scenes: all subfolders with a dataset.json, at any depth
    methods  names of methods or presets, optionally with settings: "sgm:optimisation.paths=8,optimisation.p1=15"; files of pipelines;
             "onnx:FILE" and "program:CMD {left} {right} {out}"; Pipelines and Methods; "opencv", or one of its matchers such as
             "opencv:3WAY", with the settings of peers.json and with the package cv2. A mapping names them: {"mine": pipeline}
    html     file of the report: figures, medals, accuracy over time, error pictures, and the settings that differ
    set      parameters of all methods but OpenCV's
    device   a name from st.devices()
    repeat   number of timed runs of each scene, after one warm-up run
    progress True for a line on a terminal's stderr, or a function of (number of scenes that are done, number of scenes)

    A scene that cannot be read or matched is left out, with a warning, and so is a matcher of OpenCV that does not support every scene.
    Raises CallError, and Error if no report could be made.
    """
    from .commands import provide_methods  # imported here, because it is slow

    named = _named(methods)
    if not named:
        raise CallError("methods=[] is not allowed; give at least one method")
    settings = _options.mapping("set", set or {}, "a mapping from names of parameters to values")
    provide_methods()
    shown = Progress.of((), progress)
    text = _native.compare(
        dataset,
        [_prepared(label, one, settings, _options.text("device", device)) for label, one in named],
        [f"{name}={text_of(value)}" for name, value in settings.items()],
        device,
        0,
        _options.integer("repeat", repeat, 1, 10000),
        math.inf,
        (True, None),
        "" if html is None else html,
        shown.report,
    )
    shown.end()
    report: dict[str, list[dict[str, Any]]] = json.loads(text)
    for scene in report["failed"]:
        warn(f"the scene {scene['name']} is left out: {scene['error']}", UserWarning)
    for sentence in report["left_out"]:
        warn(str(sentence), UserWarning)
    return report["results"]


def _named(methods: Any) -> list[tuple[str, Compared]]:
    """Returns the methods with their labels, which are unique."""
    if isinstance(methods, Mapping):
        return [(_options.text("the name of a method", name), one) for name, one in methods.items()]
    if isinstance(methods, (str, Pipeline)) or callable(methods):
        methods = [methods]
    found: list[tuple[str, Compared]] = []
    for one in _options.listed(methods):
        label = one if isinstance(one, str) else _pipeline(one).method
        same = sum(before == label or before.startswith(f"{label} (") for before, _ in found)
        found.append((f"{label} ({same + 1})" if same and not isinstance(one, str) else label, one))
    return found


def _prepared(label: str, method: Compared, settings: Mapping[str, object], device: str) -> tuple[str, str, Pipeline | None, str]:
    """Returns the label, and the text of the method, or its pipeline and the device of a method from outside the library."""
    from .commands import placed  # imported here, because it is slow

    if isinstance(method, str):
        return label, _options.text("methods", method), None, ""
    pipeline, own_device = placed(_pipeline(method).copy(), device, 0)
    return label, "", pipeline.update(settings), own_device


def _pipeline(method: Any) -> Pipeline:
    if isinstance(method, Pipeline):
        return method
    if not callable(method):
        raise CallError(f"{_options.shown(method)} is not a method; give a name, a Pipeline, or a function (left, right, disparities) → disparity")
    return Pipeline(method)
