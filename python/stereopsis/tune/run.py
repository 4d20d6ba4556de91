"""Runs `stereopsis tune`."""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import _native
from .._datasets import folder_of
from .._errors import CallError
from .._method import files_of_method
from ..commands._text import note
from ..view.arguments import range_of
from .pairs import Item, Items, is_sequence, of_dataset, of_images
from .beside import scores_beside
from .methods import chosen
from .proxies import REFERENCE
from .report import Comparison, command_of
from .search import Search, Trials


RESULTS = ("pipeline.json", "report.json", "accuracy-time.svg")


def run(arguments: argparse.Namespace) -> int:
    check(arguments)
    folder = Path(arguments.output)
    tried, beside = methods_of(arguments)
    check_files(arguments, tried, folder)
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
    compared.beside = scores_beside(arguments.dataset, beside)
    compared.write(folder, trials)
    compared.print()
    written = [name for name in RESULTS if (folder / name).exists()]
    print(f"{trials.count} trials, {trials.pruned} of them pruned. Results: {folder}/{', '.join(written)}")
    print(command_of(best, folder, words_of(arguments, search.items.all)))
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


def check_files(arguments: argparse.Namespace, tried: Sequence[str], folder: Path) -> None:
    """Raises CallError if a result is an input."""
    files = _native.CallFiles()
    for name in tried:
        for file in files_of_method(name) or ([Path(name)] if name.endswith(".json") else []):
            files.reads(file, "--methods")
    for scene in _native.find_scenes(folder_of(arguments.dataset))[0] if arguments.dataset else ():
        files.reads(scene.folder / "dataset.json", "a scene's description")
    for name in RESULTS:
        files.writes(folder / name, "a result of -o")


def items_of(arguments: argparse.Namespace) -> list[Item]:
    if arguments.dataset:
        return of_dataset(arguments.dataset)
    how = {"device": arguments.device, "threads": arguments.threads}
    return of_images(arguments.source, range_of(arguments), arguments.pairs, arguments.bit_depth, how)


def methods_of(arguments: argparse.Namespace) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the methods to try, and the matchers of OpenCV to score beside them. A method cannot be compared with itself, so that the
    reference of a proxy is not among them.
    """
    compares = not arguments.dataset and arguments.proxy in ("reference", "mean")
    if arguments.methods is None:
        return ("sgm",) if compares else ("sgm", "sgm-learned", "sgm-learned-fast"), ()
    names = chosen(arguments.methods)
    if compares and REFERENCE in names.tried:
        if arguments.methods == ["all"]:
            return tuple(name for name in names.tried if name != REFERENCE), ()
        raise CallError(f"--proxy {arguments.proxy} compares with {REFERENCE}, which is among --methods; use --proxy views, or leave the method out")
    if names.beside and not arguments.dataset:
        raise CallError(f"--methods {names.beside[0]} is scored by ground truth; give --dataset DIR, or leave it out")
    if not names.tried:
        raise CallError(f"--methods {names.beside[0]} has no parameters to search, and is scored beside a method; add one, such as sgm")
    return names.tried, names.beside


def words_of(arguments: argparse.Namespace, items: Sequence[Item]) -> list[str]:
    """Returns the inputs and the range of a call of `match`: those of the search, or the first scene."""
    if arguments.dataset:
        scene = items[0].scene
        assert scene is not None
        return [str(scene.left), str(scene.right), "--disparities", str(scene.disparities), "-o", "disparity.pfm"]
    words = [*arguments.source, "-o", "disparities/" if is_sequence(arguments.source) else "disparity.pfm"]
    for option in ("min_disparity", "disparities", "bit_depth"):
        if getattr(arguments, option):
            words += [f"--{option.replace('_', '-')}", str(getattr(arguments, option))]
    return words


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
