"""Compares methods on scenes with ground truth, by the command `bench --dataset`."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from . import _options
from ._errors import CallError, Error
from ._pair import warn
from ._program import ending


def compare(
    dataset: str | os.PathLike[str],
    methods: Sequence[str] | str = ("fast", "balanced", "accurate"),
    *,
    html: str | os.PathLike[str] | None = None,
    set: Mapping[str, object] | None = None,
    device: str = "auto",
    repeat: int = 3,
) -> list[dict[str, Any]]:
    """Runs methods on a folder of scenes, and returns their times and measures: one entry for each method, as `bench --json` writes it.

    dataset  folder of scenes, each with a dataset.json
    methods  names of methods or presets, optionally with settings: "sgm:optimisation.paths=8,optimisation.p1=15"; "onnx:FILE" and
             "program:CMD {left} {right} {out}"
    html     file of the report: figures, medals, accuracy over time, error pictures, and the settings that differ
    set      parameters of all methods
    device   a name from st.devices()
    repeat   number of timed runs of each scene, after one warm-up run

    A scene that cannot be read or matched is left out, with a warning. Raises CallError, and Error if no report could be made.
    """
    from .commands import PROGRAMS

    program = str(PROGRAMS / "stereopsis")
    environment = {**os.environ, "STEREOPSIS_PYTHON": sys.executable}  # the interpreter that runs networks and programs
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder) / "results.json"
        call = [program, "bench", "--dataset", os.fspath(dataset), "--no-peers", "--json", str(results), "--device", device]
        call += ["--repeat", str(_options.integer("repeat", repeat, 1))]
        for method in _options.names("methods", methods):
            call += ["--method", method]
        for name, value in (set or {}).items():
            call += ["--set", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
        if html is not None:
            call += ["--html", os.fspath(html)]
        done = subprocess.run(call, capture_output=True, text=True, env=environment)
        report: dict[str, list[dict[str, Any]]] = json.loads(results.read_text()) if results.exists() else {"failed": []}
        if done.returncode != 0 and not report["failed"]:
            sentence = done.stderr.strip().removeprefix("stereopsis: ") or f"{program} {ending(done.returncode)}"
            raise CallError(sentence) if done.returncode == 2 else Error(sentence)
        for scene in report["failed"]:
            warn(f"the scene {scene['name']} is left out: {scene['error']}", UserWarning)
        return report["results"]
