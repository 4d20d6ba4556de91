"""The search itself: trials that are pruned early, kept in a file, and continued by a second call."""

import importlib
import json
import random
import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._errors import CallError, Error, FormatError
from .._matching import Matcher
from .._options import is_external
from .._pipeline import Pipeline
from .journal import drop_unfinished_line, lock_of
from .methods import start_of
from .pairs import Item, Items, score
from .space import as_suggested, sampled

STARTERS = ("sgm", "balanced", "sgm-learned", "sgm-learned-fast")  # tried first, if they are among the methods and within the limit
VARIED = 4  # number of parameters that a trial near the best one changes
TOLERANCE = 1.25  # a pair may take this many times the limit before a trial is pruned


@dataclass(frozen=True)
class Search:
    """The settings of a search. `limit` is the largest time per pair in milliseconds, or None."""

    items: Items
    methods: tuple[str, ...]
    proxy: str
    limit: float | None = None
    device: str = "auto"
    threads: int = 0

    @property
    def has_truth(self) -> bool:
        return self.items.searched[0].truth is not None


@dataclass(frozen=True)
class Scored:
    """The score and the milliseconds of a pipeline on each pair."""

    scores: list[float]
    ms: list[float]

    @property
    def score(self) -> float:
        return statistics.fmean(self.scores)

    @property
    def time(self) -> float:
        return statistics.median(self.ms)


@dataclass(frozen=True)
class Try:
    """A finished trial."""

    pipeline: str  # JSON
    method: str  # the name in --methods
    score: float
    ms: float


def starters(methods: Sequence[str]) -> list[tuple[str, Pipeline]]:
    """Returns the pipelines that are tried first: presets of the methods, pipeline files, and other methods as they are."""
    presets = [(Pipeline(name).method, Pipeline(name)) for name in STARTERS]
    own = [(name, start_of(name)) for name in methods if name.endswith(".json") or is_external(name)]
    return own + [(name, pipeline) for name, pipeline in presets if name in methods]


class TooSlow(Exception):
    """A pair took longer than the limit."""


def scored(search: Search, pipeline: Pipeline, items: Sequence[Item], step: Callable[[int, float], None] = lambda k, s: None) -> Scored:
    """Scores a pipeline on pairs. `step` is called after each pair with the mean score so far, and may raise."""
    found = Scored([], [])
    for k, item in enumerate(items):
        with Matcher(
            pipeline=pipeline, disparities=item.pair.disparities, device=search.device, threads=search.threads, bit_depth=item.bit_depth,
            warn_of_pair=False,
        ) as matcher:  # fmt: skip

            def match(left: Any, right: Any, matcher: Matcher = matcher) -> Any:
                return np.array(matcher(left, right).disparity)

            disparity = match(item.pair.left, item.pair.right)  # plans, too
            started = time.perf_counter()
            matcher(item.pair.left, item.pair.right)
            found.ms.append(1e3 * (time.perf_counter() - started))
            if search.limit is not None and found.ms[-1] > TOLERANCE * search.limit:
                raise TooSlow
            found.scores.append(score(item, search.proxy, disparity, match))
        step(k, found.score)
    return found


class Trials:
    """The trials of a search, in the file trials.log of a folder."""

    def __init__(self, search: Search, folder: Path, call: dict[str, Any]) -> None:
        self._optuna: Any = importlib.import_module("optuna")
        self._optuna.logging.set_verbosity(self._optuna.logging.ERROR)
        self._search = search
        self._starters = starters(search.methods)
        self._study = self._study_in(folder.absolute() / "trials.log")
        before = self._study.user_attrs.get("call")
        if before is not None and before != json.loads(json.dumps(call)):
            raise CallError(f"{folder} has the trials of another search; choose another folder with -o, or repeat the earlier call to continue it")
        self._study.set_user_attr("call", call)

    def _study_in(self, log: Path) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # optuna calls these options experimental
            sampler = self._optuna.samplers.TPESampler(n_startup_trials=10, multivariate=True, group=True)
        pruner = self._optuna.pruners.MedianPruner(n_startup_trials=6, n_warmup_steps=1)
        lock = lock_of(log)
        drop_unfinished_line(log, lock)
        backend = self._optuna.storages.journal.JournalFileBackend(str(log), lock_obj=lock)
        try:
            storage = self._optuna.storages.JournalStorage(backend)
            return self._optuna.create_study(study_name="stereopsis", storage=storage, load_if_exists=True, sampler=sampler, pruner=pruner)
        except (ValueError, LookupError, TypeError, AttributeError, AssertionError) as error:
            raise FormatError(
                f"{log} is damaged or was written by another program ({type(error).__name__}: {error}); delete it to begin the search anew, "
                "or choose another folder with -o"
            ) from error

    @property
    def count(self) -> int:
        """Number of trials that ended, pruned ones included."""
        return sum(trial.state.is_finished() for trial in self._study.trials)

    @property
    def pruned(self) -> int:
        return sum(trial.state.name != "COMPLETE" and trial.state.is_finished() for trial in self._study.trials)

    @property
    def tries(self) -> list[Try]:
        """The complete trials that keep the time limit."""
        limit = self._search.limit
        done = [
            Try(trial.user_attrs["pipeline"], trial.user_attrs["method"], trial.value, trial.user_attrs["ms"])
            for trial in self._study.trials
            if trial.state.name == "COMPLETE"
        ]
        return [one for one in done if limit is None or one.ms <= limit]

    @property
    def best(self) -> Try | None:
        return min(self.tries, key=lambda one: one.score, default=None)

    def run(self, number: int, seconds: float | None, on_trial: Callable[[], None]) -> None:
        """Runs trials until there are `number`, or until the time is over. A trial that was begun is finished."""
        end = None if seconds is None else time.monotonic() + seconds
        if not self._study.trials:
            for name, pipeline in self._starters:
                self._study.enqueue_trial(as_suggested(name, pipeline))
        while self.count < number and (end is None or time.monotonic() < end):
            if self.count >= len(self._starters) and self.count % 2 == 0:
                self._study.enqueue_trial(self._near_best())
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._run_one(self._study.ask())
            on_trial()

    def _near_best(self) -> dict[str, object]:
        """Returns the suggestions of the best trial without a few, which the sampler chooses anew. All together, the parameters of a
        method are too many to be improved at once.
        """
        done = [trial for trial in self._study.trials if trial.state.name == "COMPLETE"]
        if not done:
            return {}
        best = min(done, key=lambda trial: trial.value).params
        varied = random.Random(self.count).sample(sorted(best), min(VARIED, len(best)))
        return {name: value for name, value in best.items() if name == "method" or name not in varied}

    def _run_one(self, trial: Any) -> None:
        state = self._optuna.trial.TrialState

        def step(k: int, mean: float) -> None:
            trial.report(mean, k)
            if trial.should_prune():
                raise self._optuna.TrialPruned

        try:
            tried = sampled(trial, self._search.methods)
            found = scored(self._search, tried, self._search.items.searched, step)
        except (Error, TooSlow, self._optuna.TrialPruned):  # values that contradict each other, or a setting that is slow or bad
            self._study.tell(trial, state=state.PRUNED)
            return
        trial.set_user_attr("pipeline", tried.to_json())
        trial.set_user_attr("method", trial.params["method"])
        trial.set_user_attr("ms", found.time)
        self._study.tell(trial, found.score)
