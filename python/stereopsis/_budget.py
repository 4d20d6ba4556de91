"""The choice of a method and an image size that match a pair within a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from . import _native, _options
from ._errors import CallError
from ._pipeline import Pipeline

_CHOOSING = threading.Lock()  # matchers that measure at the same time would slow each other down
_SEEDS = "seeds.stage"  # a setting that goes with each method


class Budget(NamedTuple):
    """The largest time of a pair. `text` is the budget as the user wrote it, for sentences."""

    time: str
    text: str


def budget_of(budget: str | float | Budget) -> Budget:
    """Returns the budget that is given as a text with a unit, or as a number of seconds."""
    if isinstance(budget, Budget):
        return budget
    if isinstance(budget, str):
        time = _options.text("budget", budget)
    elif isinstance(budget, bool):
        raise CallError(f"budget={budget} is not allowed; it must be a time such as '30ms', or a number of seconds")
    else:
        time = f"{_options.number('budget', budget)!r}s"
    return Budget(time, f"budget={_options.shown(budget)}")


@dataclass(frozen=True)
class BudgetChoice:
    """The method and the size of the images that match pairs within a budget with the fewest measured errors.

    method        name of the method
    settings      parameters that were chosen beside the method, such as {"prepare.factor": 2} for images of half the size
    pipeline      the Pipeline of this method with all parameters
    disparities   search range (first, end)
    ms            median time of a pair in host memory, in milliseconds
    measured_now  False if all times were measured by an earlier call
    options       arguments that give the same result without the budget: st.match(left, right, **choice.options)
    """

    method: str
    settings: dict[str, Any]
    pipeline: Pipeline
    disparities: tuple[int, int]
    ms: float
    measured_now: bool
    options: dict[str, Any]

    @property
    def factor(self) -> int:
        """The factor by which width and height of the images are reduced; 1 for the full size."""
        return int(self.pipeline.get_text("prepare.factor")) if self.pipeline.get_text("prepare.stage") == "reduce" else 1

    def __str__(self) -> str:
        size = "full size" if self.factor == 1 else f"1/{self.factor} of width and height"
        return f"{self.method}, {size}, disparities {self.disparities[0]} to {self.disparities[1] - 1}, {self.ms:.1f} ms a pair"

    def __repr__(self) -> str:
        return f"<choice of {self}>"


class Chooser:
    """Chooses for a matcher. `pipeline` is the pipeline that the arguments of the matcher give."""

    def __init__(
        self, budget: Budget, pipeline: Pipeline, set: Mapping[str, object] | None, is_method_given: bool, is_pipeline_given: bool
    ) -> None:
        self.text = budget.text
        self._budget, self._pipeline = budget, pipeline
        self._set, self._is_pipeline_given = dict(set or {}), is_pipeline_given
        self._keeps_method = is_method_given or is_pipeline_given or any(name != _SEEDS for name in self._set)
        self._made()  # rejects what cannot be chosen from

    def _made(self) -> _native.Budget:
        given = self._pipeline if self._keeps_method else None
        return _native.Budget(self._budget.time, self._budget.text, given, self._pipeline.get_text(_SEEDS) != "none")

    def choose(self, request: _native.Request, pair: _native.Pair, disparities: tuple[int, int], warn: Callable[[str], None]) -> BudgetChoice:
        """Measures the candidates whose times are not known yet, and returns the choice. Calls `warn` with a sentence if the times cannot
        be kept. Raises UnsupportedError for a budget that cannot be met.
        """
        with _CHOOSING:
            chosen = self._made().choose(request, pair)
        for sentence in chosen.warnings:
            warn(sentence)
        pipeline = Pipeline(chosen.pipeline)
        settings = {name: pipeline.get(name) for name in (setting.partition("=")[0] for setting in chosen.settings)}
        method = chosen.method or str(pipeline.method)
        named = {"pipeline": pipeline} if self._is_pipeline_given else {"method": method, "set": {**self._set, **settings}}
        return BudgetChoice(method, settings, pipeline, disparities, chosen.ms, chosen.is_measured, {**named, "disparities": disparities})


def check_alone(budget: Budget, **others: object) -> None:
    """Rejects a budget beside an argument with which there is nothing to choose."""
    for name, given in others.items():
        if given:
            raise CallError(f"{budget.text} measures whole pairs of images, and {name} gives something else; leave one of them out")
