"""Runs `stereopsis tune`."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from .._errors import CallError
from .._pipeline import methods
from ..commands._text import note
from ..view.arguments import range_of
from .pairs import Item, Items, of_dataset, of_images
from .proxies import REFERENCE
from .report import Comparison, command_of
from .search import Search, Trials


def run(arguments: argparse.Namespace) -> int:
    check(arguments)
    folder = Path(arguments.output)
    tried = methods_of(arguments)
    search = Search(Items.of(items_of(arguments)), tried, arguments.proxy, arguments.limit, arguments.device, arguments.threads)
    folder.mkdir(parents=True, exist_ok=True)
    trials = Trials(search, folder, call_of(arguments, search))
    progress = Progress(trials, arguments.trials, arguments.quiet)
    try:
        trials.run(arguments.trials, None if arguments.minutes is None else 60 * arguments.minutes, progress)
    except KeyboardInterrupt:
        progress.end()
        note(f"{trials.count} trials are kept; the same call continues them")
        return 130
    progress.end()
    best = trials.best
    if best is None:
        limit = "" if search.limit is None else f" within {search.limit:g} ms per pair"
        note(f"no setting was found{limit} in {trials.count} trials; raise --limit, or add --trials")
        return 1
    compared = Comparison(search, best)
    compared.write(folder, trials)
    compared.print()
    print(f"{trials.count} trials, {trials.pruned} of them pruned. Results: {folder}/pipeline.json, report.json, accuracy-time.svg")
    print(command_of(arguments.source, folder))
    return 0


def check(arguments: argparse.Namespace) -> None:
    if bool(arguments.source) == bool(arguments.dataset):
        raise CallError("tune requires either pairs (LEFT RIGHT, or a folder) or --dataset DIR, and not both")
    if arguments.trials < 1:
        raise CallError(f"--trials {arguments.trials} is not allowed; it must be at least 1")
    for option in ("limit", "minutes"):
        value = getattr(arguments, option)
        if value is not None and not value > 0:
            raise CallError(f"--{option} {value} is not allowed; it must be above 0")
    if arguments.dataset and arguments.disparities is not None:
        raise CallError("--disparities applies to pairs, and the scenes of --dataset have their own; leave it out")


def items_of(arguments: argparse.Namespace) -> list[Item]:
    if arguments.dataset:
        return of_dataset(arguments.dataset)
    how = {"device": arguments.device, "threads": arguments.threads}
    return of_images(arguments.source, range_of(arguments), arguments.pairs, arguments.bit_depth, how)


def methods_of(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Returns the methods to try. A method cannot be compared with itself, so that the reference of a proxy is not among them."""
    known = [method.name for method in methods()]
    compares = not arguments.dataset and arguments.proxy in ("reference", "mean")
    if arguments.methods is None:
        return ("sgm",) if compares else ("sgm", "sgm-learned", "sgm-learned-fast")
    if arguments.methods == "all":
        return tuple(name for name in known if not (compares and name == REFERENCE))
    chosen = tuple(arguments.methods.split(","))
    for name in chosen:
        if name not in known:
            raise CallError(f"--methods {arguments.methods}: there is no method '{name}'; the methods are {', '.join(known)}")
    if compares and REFERENCE in chosen:
        raise CallError(f"--proxy {arguments.proxy} compares with {REFERENCE}, which is among --methods; use --proxy views, or leave the method out")
    return chosen


def call_of(arguments: argparse.Namespace, search: Search) -> dict[str, Any]:
    """Returns what two calls of one search have in common."""
    pairs = [[item.name, list(item.pair.left.shape), list(item.pair.disparities)] for item in search.items.all]
    return {"pairs": pairs, "methods": list(search.methods), "proxy": None if search.has_truth else search.proxy, "limit": search.limit,
            "device": search.device, "threads": search.threads}  # fmt: skip


class Progress:
    """A line on a terminal's stderr: the trials and the best score so far."""

    def __init__(self, trials: Trials, total: int, quiet: bool) -> None:
        self._trials, self._total, self._start = trials, total, time.monotonic()
        self._shown = sys.stderr.isatty() and not quiet
        self._before = trials.count

    def __call__(self) -> None:
        if not self._shown:
            return
        count, best = self._trials.count, self._trials.best
        rate = (time.monotonic() - self._start) / max(count - self._before, 1)
        found = "" if best is None else f", best {best.score:.2f} by {best.method} in {best.ms:.0f} ms"
        print(f"\r{count} of {self._total} trials, {rate:.1f} s each{found}\x1b[K", end="", file=sys.stderr)

    def end(self) -> None:
        if self._shown:
            print(file=sys.stderr)
