"""The results of a search: the table of default against tuned, the pipeline file, the JSON report and the picture."""

import dataclasses
import json
import shlex
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import _native
from .._pipeline import Pipeline
from ..commands._text import cell, print_table, write_json
from .beside import Beside
from .methods import pipeline_of
from .pairs import Item
from .search import Scored, Search, Trials, Try, scored

Json = dict[str, Any]
DEFAULT = "sgm"
PANEL = (640, 400)  # size of the picture
MARGIN = (64, 24, 24, 48)  # left, top, right, bottom
COLOURS = ("#0b62c4", "#c4500b", "#2f8f4e", "#8a3fb0", "#6b7280", "#b0306a", "#127f8f", "#8f6b12")


class Comparison:
    """The default and the tuned pipeline on all pairs, without a time limit."""

    def __init__(self, search: Search, best: Try) -> None:
        unlimited = Search(search.items, search.methods, search.proxy, None, search.device, search.threads)
        self.search, self.best = search, best
        self.beside: Sequence[Beside] = ()
        self.tuned_pipeline = pipeline_of(best.pipeline, best.method)
        self.default = scored(unlimited, Pipeline(DEFAULT), search.items.all)
        self.tuned = scored(unlimited, self.tuned_pipeline, search.items.all)

    def part(self, items: Sequence[Item]) -> tuple[list[float], list[float]]:
        """Returns the scores of default and tuned on some of the pairs."""
        numbers = [k for k, item in enumerate(self.search.items.all) if item in items]
        return [self.default.scores[k] for k in numbers], [self.tuned.scores[k] for k in numbers]

    def print(self) -> None:
        held_out = self.search.items.held_out
        rows = [["pair", "part", "default", "tuned", "difference", "default ms", "tuned ms"]]
        for k, item in enumerate(self.search.items.all):
            part = "held out" if k >= len(self.search.items.searched) else "searched"
            rows.append([item.name, part, *_row(self.default, self.tuned, k)])
        print_table(rows, left=(0, 1))
        for one in self.beside:
            print(f"{one.name}: mean of all pairs {one.score:.2f}, {one.ms:.1f} ms (tuned: {self.tuned.score:.2f}, {self.tuned.time:.1f} ms)")
        print(f"{self.unit}; default: {DEFAULT}, tuned: {self.best.method}.")
        for name, items in (("held-out", held_out), ("searched", self.search.items.searched)):
            if items:
                print(sentence(name, *self.part(items)))
        if not held_out:
            print(f"There are too few pairs to hold out a part ({len(self.search.items.searched)}; 3 are needed), so that no result on new pairs is known.")
        elif statistics.fmean(self.part(held_out)[1]) >= statistics.fmean(self.part(held_out)[0]):
            print("On the held-out pairs, the tuned settings are not better than the default; use the default.")

        limit, slow = self.search.limit, self.beyond_limit
        if limit is not None and slow:
            median = f"its median is {self.tuned.time:.1f} ms; a lower --limit leaves a margin" if self.tuned.time > limit else "its median is within it"
            print(f"In the last run, the tuned settings took longer than --limit {limit:g} on {slow} of {len(self.tuned.ms)} pairs ({median}).")

    @property
    def beyond_limit(self) -> int:
        """Number of pairs that took longer than the limit in the last run."""
        return 0 if self.search.limit is None else sum(ms > self.search.limit for ms in self.tuned.ms)

    @property
    def unit(self) -> str:
        if self.search.has_truth:
            return "Percentage of pixels wrong by more than 1 pixel"
        return f"Score '{self.search.proxy}' without ground truth, which ranks settings only roughly (docs/tune.md)"

    def as_json(self, trials: Trials) -> Json:
        parts = {"searched": self.search.items.searched, "held_out": self.search.items.held_out}
        scores = {name: dict(zip(("default", "tuned"), self.part(items), strict=True)) for name, items in parts.items()}
        return {
            "score": "bad1.0" if self.search.has_truth else self.search.proxy,
            "default": DEFAULT,
            "tuned": json.loads(self.best.pipeline),
            "ms": {"default": self.default.time, "tuned": self.tuned.time, "limit": self.search.limit, "pairs_beyond_limit": self.beyond_limit},
            "beside": [dataclasses.asdict(one) for one in self.beside],
            "pairs": {name: [item.name for item in items] for name, items in parts.items()},
            "scores": scores,
            "trials": {"finished": trials.count, "pruned": trials.pruned},
        }

    def write(self, folder: Path, trials: Trials) -> None:
        if not self.best.method.startswith("program:"):  # a pipeline file must not run programs
            write_json(str(folder / "pipeline.json"), json.loads(self.best.pipeline))
        write_json(str(folder / "report.json"), self.as_json(trials))
        _native.write_bytes(folder / "accuracy-time.svg", picture(trials.tries, self.best, self.search.limit, self.unit).encode())


def _row(default: Scored, tuned: Scored, k: int) -> list[str]:
    a, b = default.scores[k], tuned.scores[k]
    return [cell(a, 2), cell(b, 2), f"{b - a:+.2f}", cell(default.ms[k], 1), cell(tuned.ms[k], 1)]


def sentence(name: str, default: Sequence[float], tuned: Sequence[float]) -> str:
    """Returns the means of a part, with the spread of the differences over its pairs."""
    differences = [b - a for a, b in zip(default, tuned, strict=True)]
    spread = f" ({min(differences):+.2f} to {max(differences):+.2f} by pair)" if len(differences) > 1 else ""
    change = statistics.fmean(differences)
    return f"Mean of the {len(default)} {name} pairs: {statistics.fmean(default):.2f} → {statistics.fmean(tuned):.2f}, {change:+.2f}{spread}."


def command_of(best: Try, folder: Path, words: Sequence[str]) -> str:
    """Returns the command that uses the tuned pipeline on the inputs of the call. A pipeline file must not run programs."""
    method = ["--pipeline", str(folder / "pipeline.json")]
    if best.method.startswith("program:"):
        tuned = pipeline_of(best.pipeline, best.method)
        settings = ["refinements=" + tuned.get_text("refinements"), *settings_of(tuned)]
        method = ["--method", best.method, *(word for one in settings for word in ("--set", one))]
    return shlex.join(["stereopsis", "match", *words, *method])


def settings_of(pipeline: Pipeline) -> list[str]:
    """Returns the parameters that differ from their defaults, as NAME=VALUE. Refinements that are off are not among the refinements."""
    off = {f"{slot.slot}." for slot in pipeline.slots() for info in slot.parameters if info.name == f"{slot.slot}.enabled" and info.value == "false"}
    return [f"{info.name}={info.value}" for info in pipeline.parameters() if info.value != info.default and not info.name.startswith(tuple(off))]


def picture(tries: Sequence[Try], best: Try, limit: float | None, unit: str) -> str:
    """Returns an SVG picture of all complete trials: the score over the time per pair."""
    (width, height), (left, top, right, bottom) = PANEL, MARGIN
    slowest, worst = max(one.ms for one in tries) * 1.05, max(one.score for one in tries) * 1.05 or 1.0
    methods = sorted({one.method for one in tries})

    def at(ms: float, score: float) -> tuple[float, float]:
        return left + ms / slowest * (width - left - right), height - bottom - score / worst * (height - top - bottom)

    parts = [f'<rect width="{width}" height="{height}" fill="#ffffff"/>']
    for k in range(5):
        x, y = at(slowest * k / 4, worst * k / 4)
        parts += [
            f'<path d="M{left} {y:.1f}H{width - right}" stroke="#e5e7eb"/>',
            f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{worst * k / 4:.1f}</text>',
            f'<text x="{x:.1f}" y="{height - bottom + 18}" text-anchor="middle">{slowest * k / 4:.0f}</text>',
        ]
    if limit is not None and limit < slowest:
        x = at(limit, 0)[0]
        parts.append(f'<path d="M{x:.1f} {top}V{height - bottom}" stroke="#24292f" stroke-dasharray="4"/>')
    for one in tries:
        x, y = at(one.ms, one.score)
        colour = COLOURS[methods.index(one.method) % len(COLOURS)]
        ring = ' stroke="#24292f" stroke-width="2"' if one == best else ""
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{6 if one == best else 4}" fill="{colour}" fill-opacity="0.7"{ring}/>')
    for k, method in enumerate(methods):
        parts.append(f'<text x="{width - right}" y="{top + 14 * (k + 1)}" text-anchor="end" fill="{COLOURS[k % len(COLOURS)]}">{method}</text>')
    parts.append(f'<text x="{left}" y="{height - 10}">ms per pair; vertical: {unit}. The ring is the chosen setting.</text>')
    body = "".join(parts)
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">{body}</svg>\n'
