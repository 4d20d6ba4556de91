"""A unit done: its inputs read, matched, and what comes of it kept. This is all that an engine has to start."""

from __future__ import annotations

import json
import os
import resource
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import validity
from .._errors import CallError, Error, FormatError
from .._matching import Matcher, Stripe
from .._pipeline import Pipeline
from .manifest import Job, Rules, Unit
from .planning import NO_LIMIT
from .rasters import Array, decoded, encoded, read
from .spans import Span
from .states import Paths, packed, unpacked
from .store import State

REASONS = 2 * validity.outside - 1  # why a pixel is invalid
MAP_TYPES = {"disparity": "float32", "validity": "uint8", "right": "float32", "confidence": "float32"}


def missing(job: Job, targets: Iterable[Unit], contents: bool = True) -> list[Unit]:
    """The targets that are not whole, and of what they need that which is not, in the order in which to make them."""
    found: dict[int, bool] = {}
    open_ = list(targets)
    while open_:
        unit = open_.pop()
        if unit.number not in found:
            found[unit.number] = job.store.state(unit.name, contents) is not State.whole
            if found[unit.number]:
                open_ += [job.units[i] for i in unit.after]
    return [unit for unit in job.units if found.get(unit.number, False)]


def targets(job: Job) -> list[Unit]:
    """What a job is done for."""
    return job.manifest.of_kind(job.manifest.final_kind, "audit")


class Worker:
    """Does units of a job on this machine."""

    def __init__(self, job: Job, device: str | None = None, threads: int = 0) -> None:
        self._job, self._manifest, self._rules = job, job.manifest, job.manifest.rules
        self._device, self._threads = device or job.manifest.device, threads

    def run(self, unit: Unit) -> int:
        """Makes a unit unless it is whole, and before it what it needs and is absent or damaged. How many were made."""
        needed = missing(self._job, [unit])
        for one in needed:
            self.make(one)
        return len(needed)

    def make(self, unit: Unit) -> None:
        """Makes a unit whose inputs are whole. Raises Error, with the unit's name."""
        begin = time.time()
        try:
            for file in self._manifest.inputs[unit.pair]:
                file.check()
            files = getattr(self, f"_make_{unit.kind}")(unit)
        except Error as error:
            raise type(error)(f"unit {unit.number} ({unit.name}): {error}") from error
        about = {"number": unit.number, "begin": begin, "seconds": time.time() - begin, "peak_bytes": _peak_bytes()}
        self._job.store.keep(unit.name, files, about)

    # Kinds

    def _make_down(self, unit: Unit) -> dict[str, bytes]:
        return self._followed(unit, "down")

    def _make_up(self, unit: Unit) -> dict[str, bytes]:
        return self._followed(unit, "up")

    def _followed(self, unit: Unit, follow: str) -> dict[str, bytes]:
        down = follow == "down"
        comes, goes = (unit.rows.first, unit.rows.end) if down else (unit.rows.end, unit.rows.first)
        before = self._paths(unit, follow, comes)
        above, below = (before, None) if down else (None, before)
        stripe = self._stripe(unit, unit.rows, above, below, follow)
        paths = self._match(self._matcher(self._rules.raw, unit, stripe=stripe), unit, paths_of(above, below)).paths
        core = paths[:, unit.columns.within(unit.read_columns)]
        return {f"paths/{unit.name}.paths": packed(core, self._manifest.job, goes, unit.columns, unit.disparities[0])}

    def _make_match(self, unit: Unit) -> dict[str, bytes]:
        reach, height = self._rules.raw_rows, self._manifest.size[1]
        rows = unit.rows.grown(reach, reach, height)
        above, below = self._paths(unit, "down", rows.first), self._paths(unit, "up", rows.end)
        matcher = self._matcher(self._rules.raw, unit, stripe=self._stripe(unit, rows, above, below), want=self._wanted)
        return self._maps(unit, self._match(matcher, unit, paths_of(above, below)), rows, unit.columns, self._wanted)

    def _make_tile(self, unit: Unit) -> dict[str, bytes]:
        if self._manifest.collar is not None:
            result = self._match(self._matcher(self._rules.raw, unit, want=self._wanted), unit)
        else:
            rows, columns = unit.rows.within(unit.read_rows), unit.columns.within(unit.read_columns)
            region = columns.start, rows.start, unit.columns.length, unit.rows.length
            result = self._match(self._matcher(self._rules.raw, unit, want=self._wanted, region=region), unit)
        return self._maps(unit, result, unit.read_rows, unit.read_columns, self._wanted)

    def _make_pair(self, unit: Unit) -> dict[str, bytes]:
        result = self._match(self._matcher(self._rules.raw, unit, want=self._wanted), unit)
        return self._maps(unit, result, unit.rows, unit.columns, self._wanted)

    def _make_refine(self, unit: Unit) -> dict[str, bytes]:
        """With a collar that is doubled until no fill can have looked beyond it."""
        height = self._manifest.size[1]
        collar = max(unit.rows.first - unit.read_rows.first, unit.read_rows.end - unit.rows.end)
        while True:
            rows = unit.rows.grown(collar, collar, height)
            result = self._refined(unit, rows)
            if not self._rules.fills or fills_end(result.validity, unit.rows, rows, height, self._rules):
                return self._maps(unit, result, rows, unit.columns, self._manifest.want)
            collar = 2 * collar + 1

    def _refined(self, unit: Unit, rows: Span) -> Any:
        assert self._rules.refined is not None
        for other in self._raw:
            if other.rows.meets(rows) and other.number not in unit.after:
                self.run(other)
        names = ["disparity", "validity", *self._wanted]
        maps = {name: read_map(self._job, self._raw, name, rows, unit.columns) for name in names}
        matcher = self._matcher(self._rules.refined, unit, refines=True, want=self._manifest.want)
        if self._rules.reads_images:
            return self._match(matcher, unit, {"maps": maps}, rows)
        return matcher(None, None, maps=maps)

    def _make_audit(self, unit: Unit) -> dict[str, bytes]:
        """The seam again with twice the collar, against what the tiles have there."""
        result = self._match(self._matcher(self._rules.raw, unit), unit)
        again = result.disparity[unit.rows.within(unit.read_rows), unit.columns.within(unit.read_columns)]
        before = read_map(self._job, self._raw, "disparity", unit.rows, unit.columns)
        differ = again.view(np.uint32) != before.view(np.uint32)
        differ &= ~(np.isnan(again) & np.isnan(before))
        far = ~(abs(again - before) <= 1) & differ
        counts = {"pixels": int(differ.size), "differ": int(differ.sum()), "by_more_than_a_pixel": int(far.sum())}
        return {f"audit/{unit.name}.json": json.dumps(counts).encode()}

    # What they have in common

    @property
    def _raw(self) -> list[Unit]:
        return self._manifest.of_kind(self._manifest.raw_kind)

    @property
    def _wanted(self) -> list[str]:
        return self._rules.wanted("confidence" in self._manifest.want)

    def _stripe(self, unit: Unit, rows: Span, above: Paths | None, below: Paths | None, follow: str = "none") -> Stripe:
        return Stripe(rows.first - unit.read_rows.first, rows.length, above is not None, below is not None, follow)

    def _matcher(self, pipeline: str, unit: Unit, **how: Any) -> Matcher:
        options = tuple(sorted((name, tuple(value) if isinstance(value, list) else value) for name, value in how.items()))
        return _planned(pipeline, unit.disparities, self._device, self._threads, self._manifest.bit_depth, options)

    def _match(self, matcher: Matcher, unit: Unit, given: Mapping[str, Any] | None = None, rows: Span | None = None) -> Any:
        pair = self._manifest.inputs[unit.pair]
        (left, mask_left), (right, mask_right) = (
            read(file.path, file.picture, rows or unit.read_rows, unit.read_columns) for file in pair
        )
        return matcher(left, right, mask_left=mask_left, mask_right=mask_right, **(given or {}))

    def _paths(self, unit: Unit, kind: str, row: int) -> Paths | None:
        """Path costs of the rows before `row`, as wide as what the unit reads; 0 in columns where they do not matter."""
        before = [self._job.units[i] for i in unit.after if self._job.units[i].kind == kind]
        if not before:
            return None
        first, end = unit.disparities
        paths = np.zeros((self._rules.kinds, unit.read_columns.length, end - first), np.uint16)
        for one in before:
            name = f"paths/{one.name}.paths"
            columns, part = unpacked(self._job.store.path(name).read_bytes(), name, self._manifest.job, row)
            common = columns.common(unit.read_columns)
            paths[:, common.within(unit.read_columns)] = part[:, common.within(columns)]
        return paths

    def _maps(self, unit: Unit, result: Any, rows: Span, columns: Span, more: Sequence[str]) -> dict[str, bytes]:
        """The unit's own part of the result, which has `rows` and `columns`."""
        own = unit.rows.within(rows), unit.columns.within(columns)
        names = ["disparity", "validity", *more]
        return {f"maps/{unit.name}.{name}.tif": encoded(np.ascontiguousarray(getattr(result, name)[own])) for name in names}


def paths_of(above: Paths | None, below: Paths | None) -> dict[str, Paths | None]:
    """As the matcher takes them."""
    return {"paths_above": above, "paths_below": below}


def _peak_bytes() -> int:
    """Of memory, that this process has taken so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@lru_cache(maxsize=1)
def _planned(
    pipeline: str, disparities: tuple[int, int], device: str, threads: int, bit_depth: int, options: tuple[tuple[str, Any], ...]
) -> Matcher:
    """The last one is kept, with its memory: the next unit is often alike."""
    return Matcher(
        pipeline=Pipeline.from_json(pipeline),
        disparities=disparities,
        device=device,
        threads=threads,
        bit_depth=bit_depth,
        memory_limit=NO_LIMIT,
        **dict(options),
    )


def fills_end(bits: npt.NDArray[np.uint8], own: Span, rows: Span, height: int, rules: Rules) -> bool:
    """Whether whatever a fill looked for around the stripe's own rows lies in what was read, where that is exact. Pipeline.in_stripes()
    has the rule: see InStripes.fills."""
    exact = Span(rows.first + (rules.before_fill if rows.first > 0 else 0), rows.end - (rules.before_fill if rows.end < height else 0))
    wanted = own.grown(rules.behind_fill, rules.behind_fill, height)
    measured = (bits & (validity.filled | REASONS)) == 0
    looks = ~measured & ((bits & (validity.masked | validity.outside)) == 0)
    looks, measured = looks[wanted.within(rows)], measured[exact.within(rows)]
    columns = looks.any(axis=0)
    # Of each column's pixels that look, the first has the least above it, and the last below.
    first = wanted.first - exact.first + looks.argmax(axis=0)
    last = wanted.end - exact.first - 1 - looks[::-1].argmax(axis=0)
    above = measured.argmax(axis=0) < first
    below = measured.shape[0] - 1 - measured[::-1].argmax(axis=0) > last
    found = measured.any(axis=0)
    ends_above = exact.first == 0 or bool((found & above | ~columns).all())
    ends_below = exact.end == height or bool((found & below | ~columns).all())
    return ends_above and ends_below


def read_map(job: Job, units: Iterable[Unit], name: str, rows: Span, columns: Span) -> Array:
    """A part of a map, put together from what units have made."""
    made = np.empty((rows.length, columns.length), MAP_TYPES[name])
    for unit in units:
        if not (unit.rows.meets(rows) and unit.columns.meets(columns)):
            continue
        r, c = unit.rows.common(rows), unit.columns.common(columns)
        own = [Span(span.first - of.first, span.end - of.first) for span, of in ((r, unit.rows), (c, unit.columns))]
        made[r.within(rows), c.within(columns)] = decoded(job.store.path(f"maps/{unit.name}.{name}.tif"), *own)
    return made




def run_unit(folder: str, number: int, device: str | None = None, threads: int = 0, *_: object) -> int:
    """For engines: any process may call it, on any machine that sees the folder. How many units were made. What a unit waits for
    may follow the arguments, and is not looked at."""
    job = _opened(folder, os.stat(os.path.join(folder, "manifest.json")).st_mtime_ns)
    return Worker(job, device, threads).run(job.units[number])


@lru_cache(maxsize=4)
def _opened(folder: str, modified: int) -> Job:
    return Job.open(folder)
