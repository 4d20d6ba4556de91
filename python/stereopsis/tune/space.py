"""The settings that a search tries: methods, and the parameters of each around their defaults."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from .._errors import CallError
from .._matching import Matcher
from .._native import ParameterInfo
from .._pipeline import Pipeline, value_of
from .methods import start_of

AFTER = ("none", "median", "left_right", "left_right,speckle,median", "left_right,speckle,median,fill")  # refinements of networks and programs
PLANNED = 64  # number of disparities for which a setting is checked
FACTOR = 3.0  # numbers are tried from default / FACTOR to default · FACTOR
ABOVE_ZERO = 15  # largest integer that is tried if the default is 0


class Trial(Protocol):
    """The interface of optuna.Trial that is used here."""

    def suggest_categorical(self, name: str, choices: Sequence[Any]) -> Any: ...
    def suggest_int(self, name: str, low: int, high: int, *, step: int = 1) -> int: ...
    def suggest_float(self, name: str, low: float, high: float) -> float: ...


def sampled(trial: Trial, methods: Sequence[str]) -> Pipeline:
    """Returns a pipeline with the method and the parameters that the trial suggests. Parameters of refinements that are off are not
    suggested, and the last refinement that fills remains on. A value that contradicts the others, such as a first penalty above the
    second one, remains at its default.
    """
    method = str(trial.suggest_categorical("method", list(methods)))
    pipeline = start_of(method)
    values: dict[str, object] = {}
    if pipeline.external is not None:
        pipeline.set("refinements", trial.suggest_categorical(f"{method}:refinements", list(AFTER)))
    filling = [f"{slot.slot}.enabled" for slot in pipeline.slots() if slot.fills]
    for slot in pipeline.slots():
        if not slot.changes_disparity:
            continue
        for info in sorted(slot.parameters, key=lambda info: not info.name.endswith(".enabled")):
            if values.get(f"{slot.slot}.enabled") is False or info.name in filling[-1:]:
                continue
            value = suggested(trial, f"{method}:{info.name}", info)
            if value is not None:
                values[info.name] = value
    return with_values(pipeline, values)


def with_values(pipeline: Pipeline, values: Mapping[str, object]) -> Pipeline:
    """Returns the pipeline with the values that it can be planned with. Values are tried twice, because one may allow another."""
    for name, value in (*values.items(), *values.items()):
        changed = pipeline.copy()
        try:
            changed.set(name, value)
            Matcher(pipeline=changed, disparities=PLANNED, device="cpu").explain()
        except CallError:
            continue
        pipeline = changed
    return pipeline


def as_suggested(name: str, pipeline: Pipeline) -> dict[str, object]:
    """Returns the suggestions that result in the pipeline, for the method of this name."""
    values = {f"{name}:{info.name}": value_of(info.value, info.type) for info in pipeline.parameters()}
    if pipeline.external is not None:
        values[f"{name}:refinements"] = pipeline.get_text("refinements")
    return {"method": name, **values}


def suggested(trial: Trial, name: str, info: ParameterInfo) -> object:
    """Returns a value of a parameter; None for parameters that are not varied."""
    if info.type == "flag":
        return trial.suggest_categorical(name, [False, True])
    if info.type == "choice" and info.choices:
        return trial.suggest_categorical(name, list(info.choices))
    if info.type not in ("integer", "number") or info.minimum is None or info.maximum is None:
        return None
    default = float(info.default)
    low = max(info.minimum, min(default / FACTOR, default * FACTOR))
    high = min(info.maximum, max(default / FACTOR, default * FACTOR))
    if info.type == "number":
        return trial.suggest_float(name, low, high) if high > low else None
    step = max(1, int(info.step))
    first = int(info.minimum) + math.floor((low - info.minimum) / step) * step
    last = int(min(info.maximum, max(high, default + step, ABOVE_ZERO if default == 0 else 0)))
    last = first + (last - first) // step * step
    return trial.suggest_int(name, first, last, step=step) if last > first else None
