"""The methods that a search tries: those of the library, pipeline files, networks and programs; and other matchers beside them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from .._errors import CallError
from .._options import is_external
from .._pipeline import Pipeline, method_of, methods, restored

OPENCV = "opencv"


@dataclass(frozen=True)
class Chosen:
    """The methods to try, and the matchers of OpenCV that are scored beside the result."""

    tried: tuple[str, ...]
    beside: tuple[str, ...]


def listed(values: Sequence[str]) -> list[str]:
    """Returns the names in the values of --methods: with commas, except in the command of a program."""
    return [name for value in values for name in ([value] if value.startswith("program:") else value.split(","))]


def chosen(values: Sequence[str]) -> Chosen:
    """Checks the names of methods. Raises CallError."""
    known = [method.name for method in methods()]
    names = [one for name in listed(values) for one in (known if name == "all" else [name])]
    for name in names:
        if not (name in known or name.endswith(".json") or is_external(name) or _is_opencv(name)):
            raise CallError(
                f"--methods {','.join(values)}: there is no method '{name}'; give names of `stereopsis methods`, FILE.json of a pipeline, "
                "onnx:FILE, program:CMD, or opencv"
            )
    return Chosen(tuple(name for name in names if not _is_opencv(name)), tuple(name for name in names if _is_opencv(name)))


def _is_opencv(name: str) -> bool:
    return name.partition(":")[0] == OPENCV


def start_of(name: str) -> Pipeline:
    """Returns the pipeline from which a method is varied."""
    return Pipeline.read(name) if name.endswith(".json") else Pipeline(name)


def pipeline_of(text: str, name: str) -> Pipeline:
    """Returns a pipeline that was kept as JSON. A file must not run programs, so that the method comes from its name."""
    return restored(json.loads(text), method_of(name)) if name.startswith("program:") else Pipeline.from_json(text)
