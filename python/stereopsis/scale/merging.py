"""Merges the results of units into files, and reports the progress of a job."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .. import _native
from .._errors import CallError, Error, FileError
from .._json import parsed
from .manifest import KINDS, Job, Unit
from .rasters import Array, write_tiled
from .running import duration, weight
from .spans import Span
from .store import State
from .work import MAP_TYPES, missing, read_map, targets


def merge(job: Job, output: Path, cog: bool = False, measured_only: bool = False) -> list[Path]:
    """Writes the disparity to a tiled GeoTIFF of float32, NaN where invalid. The validity and other requested maps are written beside this
    file. For a list of pairs, the output is a folder of these files. With `measured_only`, filled and repaired disparities are NaN, and the
    validity still distinguishes these pixels from invalid ones. Returns the files. Raises Error if units are missing or damaged.
    """
    left = missing(job, targets(job))
    if left:
        raise Error(
            f"{len(left)} of {len(job.units)} units are missing or damaged, unit {left[0].number} ({left[0].name}) first; "
            f"compute them with stereopsis scale run {job.folder}"
        )
    if output.suffix.lower() not in (".tif", ".tiff") and job.manifest.final_kind != "pair":
        raise CallError(f"{output} does not end in .tif; the merged result is a GeoTIFF, so choose such a name")
    outputs = _outputs(job, output)
    files = _native.CallFiles()
    for image in (image for pair in job.manifest.inputs for image in pair):
        files.reads(image.path, "an input image of the job")
    for name, path in (one for _, of in outputs for one in _files(job, of)):
        files.writes(path, f"the {name}")
    return [_written(job, unit, name, path, cog, measured_only) for unit, path in outputs for name, path in _files(job, path)]


def _outputs(job: Job, output: Path) -> list[tuple[Unit | None, Path]]:
    """Returns the output file of the image. For a list of pairs, returns one file for each pair, named after the left image."""
    if job.manifest.final_kind != "pair":
        return [(None, output)]
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{output} cannot be created: {error.strerror}; for many pairs, it must be a folder") from error
    stems = [Path(left.path).stem for left, _ in job.manifest.inputs]
    names = stems if len(set(stems)) == len(stems) else [f"{k:04}" for k in range(len(stems))]
    return [(unit, output / f"{names[unit.pair]}.tif") for unit in job.manifest.of_kind("pair")]


def _files(job: Job, output: Path) -> list[tuple[str, Path]]:
    more = [(name, output.with_suffix(f".{name}{output.suffix}")) for name in ("validity", *job.manifest.want)]
    return [("disparity", output), *more]


def _written(job: Job, unit: Unit | None, name: str, path: Path, cog: bool, measured_only: bool) -> Path:
    kind, (left, _) = job.manifest.final_kind, job.manifest.inputs[0 if unit is None else unit.pair]
    width, height = left.picture.width, left.picture.height
    units = job.manifest.of_kind(kind) if unit is None else [unit]

    def read(name: str, rows: Span) -> Array:
        return read_map(job, units, name, rows, Span(0, width))

    def measured(rows: Span) -> Array:
        return np.where(read("validity", rows) == 0, read(name, rows), np.float32(np.nan))

    only_measured = measured_only and name == "disparity"
    write_tiled(path, left.path, (width, height), MAP_TYPES[name], measured if only_measured else partial(read, name), cog)
    return path


@dataclass(frozen=True)
class Status:
    """The progress of a job. For each kind of unit, `kinds` has two numbers: complete units and all units. `seconds_left` is None until it
    can be estimated. For each kind of fault in pairs, `faults` has the number of units and a sentence.
    """

    kinds: dict[str, tuple[int, int]]
    damaged: list[Unit]
    share: float
    seconds: float
    peak_bytes: int
    seconds_left: float | None
    audit: dict[str, int] | None
    faults: dict[str, tuple[int, str]]

    @classmethod
    def of(cls, job: Job, contents: bool = False) -> Status:
        states = {unit.number: job.store.state(unit.name, contents) for unit in job.units}
        whole = [unit for unit in job.units if states[unit.number] is State.whole]
        abouts = [about for unit in whole if (about := job.store.about(unit.name)) is not None]
        have, all_ = Counter(unit.kind for unit in whole), Counter(unit.kind for unit in job.units)
        left = missing(job, targets(job), contents)
        share = 1 - sum(map(weight, left)) / sum(map(weight, job.units))
        seconds = sum(about["seconds"] for about in abouts)
        return cls(
            kinds={kind: (have[kind], all_[kind]) for kind in KINDS if all_[kind]},
            damaged=[unit for unit in job.units if states[unit.number] is State.damaged],
            share=share,
            seconds=seconds,
            peak_bytes=max((about["peak_bytes"] for about in abouts), default=0),
            seconds_left=_seconds_left(share, abouts),
            audit=audit_of(job, whole),
            faults=_faults(abouts),
        )

    def as_json(self) -> str:
        return json.dumps(
            {**vars(self), "damaged": [unit.name for unit in self.damaged], "done": self.share == 1}, indent=1
        )

    def __str__(self) -> str:
        lines = [f"{kind:8}{whole:>7} of {count}" for kind, (whole, count) in self.kinds.items()]
        left = "" if not self.seconds_left else f", about {duration(self.seconds_left)} left"
        lines.append(f"{100 * self.share:.1f} % of the work{left}")
        lines.append(f"{duration(self.seconds)} of workers' time, at most {self.peak_bytes / 2**30:.2f} GiB in one")
        if self.damaged:
            lines.append(f"damaged: {', '.join(unit.name for unit in self.damaged)}; run makes them anew")
        lines += [f"a pair seems wrong in {count} of the units: {sentence}" for count, sentence in self.faults.values()]
        if self.audit is not None and self.audit["pixels"]:
            differ, far = (100 * self.audit[name] / self.audit["pixels"] for name in ("differ", "by_more_than_a_pixel"))
            lines.append(f"at audited seams {differ:.3f} % of the pixels differ with twice the collar, {far:.3f} % by more than a pixel")
        return "\n".join(lines)


def _faults(abouts: list[dict[str, Any]]) -> dict[str, tuple[int, str]]:
    found: dict[str, tuple[int, str]] = {}
    for fault in (about["fault"] for about in abouts if "fault" in about):
        count, sentence = found.get(fault["kind"], (0, fault["sentence"]))
        found[fault["kind"]] = count + 1, sentence
    return found


def _seconds_left(share: float, abouts: list[dict[str, Any]]) -> float | None:
    """Returns the remaining time at the present rate, which is measured from the start of the first unit to the end of the last
    one.
    """
    if not abouts or share <= 0:
        return None
    elapsed: float = max(a["begin"] + a["seconds"] for a in abouts) - min(a["begin"] for a in abouts)
    return elapsed * (1 - share) / share


def audit_of(job: Job, whole: list[Unit]) -> dict[str, int] | None:
    """Returns the sums of the counts of all audited seams; None if no audit is planned."""
    if not job.manifest.of_kind("audit"):
        return None
    sums: Counter[str] = Counter()
    for unit in whole:
        if unit.kind == "audit":
            file = job.store.path(f"audit/{unit.name}.json")
            sums.update(parsed(file.read_bytes(), f"{file}"))
    return dict(sums)
