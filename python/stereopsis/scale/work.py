"""Computes a unit: reads its inputs, matches them, and stores the results. An engine only needs to call this module."""

import json
import os
import resource
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .._errors import Error
from .._matching import BoundaryStripe, Matcher
from .._pair import COMMAND_ADVICE, Fault, Judge
from .._pipeline import Pipeline
from .._run import Run, RunResult
from .._seeds import outside_of
from ..validity import filled
from . import edges, flat
from .manifest import KINDS, Job, Manifest, Unit
from .matchers import MATCHERS
from .rasters import Array, decoded, encoded, read
from .spans import Span
from .rows import read_aligned
from .states import Paths, packed, unpacked
from .store import State

CHECKED = ("match", "tile", "pair")  # kinds of units that match a pair for the result
FIRST_LOOK = 64  # number of rows by which the input of a fill grows at first
MAP_TYPES = {"disparity": "float32", "validity": "uint8", "right": "float32", "confidence": "float32"}


def missing(job: Job, targets: Iterable[Unit], contents: bool = True) -> list[Unit]:
    """Returns the targets that are not complete, and the incomplete units that they need, in an order in which they can be
    computed. Units of one kind are consecutive, because they share a plan and its memory.
    """
    found: dict[int, bool] = {}
    open_ = list(targets)
    while open_:
        unit = open_.pop()
        if unit.number not in found:
            found[unit.number] = job.store.state(unit.name, contents) is not State.whole
            if found[unit.number]:
                open_ += [job.units[i] for i in unit.after]
    left = (unit for unit in job.units if found.get(unit.number, False))
    return sorted(left, key=lambda unit: KINDS.index(unit.kind))


def targets(job: Job) -> list[Unit]:
    """Returns the units whose maps are the results of the job."""
    return job.manifest.of_kind(job.manifest.final_kind, "audit")


class Part(NamedTuple):
    """The part of a pair that a unit reads."""

    left: Array
    right: Array
    mask_left: Array | None
    mask_right: Array | None


class Worker:
    """Computes units of a job on this machine."""

    def __init__(self, job: Job, device: str | None = None, threads: int = 0) -> None:
        self._job, self._manifest, self._rules = job, job.manifest, job.manifest.rules
        self._device, self._threads = device or job.manifest.device, threads
        self._fault: Fault | None = None  # fault of the unit that is being computed

    def run(self, unit: Unit) -> int:
        """Computes a unit unless it is complete. Absent or damaged units that the unit needs are computed first. Returns the number
        of computed units.
        """
        needed = missing(self._job, [unit])
        for one in needed:
            self.make(one)
        return len(needed)

    def make(self, unit: Unit) -> None:
        """Computes a unit whose inputs are complete. Raises Error with the name of the unit."""
        begin, worked = time.time(), time.process_time()
        try:
            for file in (*self._manifest.inputs[unit.pair], *self._manifest.beside.values()):
                file.check()
            files = getattr(self, f"_make_{unit.kind}")(unit)
        except Error as error:
            raise type(error)(f"unit {unit.number} ({unit.name}): {error}") from error
        about = {"number": unit.number, "begin": begin, "seconds": time.time() - begin}
        used = {"cpu_seconds": time.process_time() - worked, "peak_bytes": _peak_bytes(), "device": self._device}
        fault, self._fault = self._fault, None
        said = fault and {"kind": fault.kind, "sentence": fault.said_with(COMMAND_ADVICE)}
        self._job.store.keep(unit.name, files, about | used | ({"fault": said} if said else {}))

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
        assert self._rules.refined is not None
        result = self._refined(self._rules.refined, unit, unit.read_rows, self._maps_before(unit, unit.read_rows))
        files = self._maps(unit, result, unit.read_rows, unit.columns, self._kept)
        if self._rules.takes_edges:
            files[f"maps/{unit.name}.edges.tif"] = self._encoded(edges.edges_of(result.disparity[unit.rows.within(unit.read_rows)]))
        return files

    def _make_edges(self, unit: Unit) -> dict[str, bytes]:
        both = Span(0, 2)
        of_stripes = [self._decoded(stripe, "edges", both, unit.columns) for stripe in self._manifest.of_kind("refine")]
        return {f"maps/{unit.name}.edges.tif": self._encoded(edges.carried(of_stripes))}

    def _make_fill(self, unit: Unit) -> dict[str, bytes]:
        """Fills a stripe from its own rows and as many rows around them as the fill needs."""
        assert self._rules.filled is not None
        fill, height = Pipeline.from_json(self._rules.filled), self._manifest.size[1]
        own = unit.rows.grown(self._rules.filled_rows, self._rules.filled_rows, height)
        more, beside = 0, int(self._rules.takes_edges)
        while True:
            exact = own.grown(more, more, height)
            rows = exact.grown(beside, beside, height)
            maps = self._maps_before(unit, rows)
            disparity, validity = (maps[name][exact.within(rows)] for name in ("disparity", "validity"))
            at_borders = exact.first == 0, exact.end == height
            if fill.rows_suffice(disparity, validity, own.first - exact.first, own.length, *at_borders):
                break
            more = 2 * more + FIRST_LOOK
        if beside:
            self._put_edges(unit, exact, rows, maps)
        return self._maps(unit, self._refined(self._rules.filled, unit, rows, maps), rows, unit.columns, self._final)

    def _make_rate(self, unit: Unit) -> dict[str, bytes]:
        """Computes the confidence of a stripe, and keeps it with the refined maps."""
        assert self._rules.rated is not None
        maps = self._maps_before(unit, unit.read_rows, [])
        matcher = self._matcher(self._rules.rated, unit, refine_only=True, want=["confidence"])
        result = self._match(matcher, unit, {"maps": maps}, unit.read_rows)
        return self._maps(unit, result, unit.read_rows, unit.columns, ["confidence"])

    def _put_edges(self, unit: Unit, exact: Span, rows: Span, maps: dict[str, Array]) -> None:
        """Writes the nearest measured values beyond the rows `exact` into the rows of the maps just above and below `exact`."""
        if rows.first < exact.first:
            edges.put(maps, 0, self._met(unit, exact.first - 1, above=True))
        if rows.end > exact.end:
            edges.put(maps, -1, self._met(unit, exact.end, above=False))

    def _met(self, unit: Unit, row: int, above: bool) -> Array:
        """Returns the nearest measured values from `row` upwards or downwards, in the row's own stripe or in others."""
        stripes = self._manifest.of_kind("refine")
        k = next(k for k, stripe in enumerate(stripes) if stripe.rows.first <= row < stripe.rows.end)
        part = Span(stripes[k].rows.first, row + 1) if above else Span(row, stripes[k].rows.end)
        here = self._edge_of(stripes[k], part, unit.columns, above)
        line = 2 * k if above else 2 * k + 1
        (carried,) = self._manifest.of_kind("edges")
        return edges.last_of(self._decoded(carried, "edges", Span(line, line + 1), unit.columns)[0], here)

    def _edge_of(self, stripe: Unit, part: Span, columns: Span, above: bool) -> Array:
        """Returns the last (`above`) or first measured values in a part of a stripe. A few rows usually contain these values for all
        columns that have a measured value.
        """
        look, has_any = FIRST_LOOK, np.isfinite(self._decoded(stripe, "edges", Span(0, 1), columns)[0])
        while True:
            near = Span(max(part.first, part.end - look), part.end) if above else Span(part.first, min(part.end, part.first + look))
            found: Array = edges.edges_of(read_map(self._job, [stripe], "disparity", near, columns))[1 if above else 0]
            if near == part or np.isfinite(found[has_any]).all():
                return found
            look *= 4

    def _decoded(self, unit: Unit, name: str, rows: Span, columns: Span) -> Array:
        return decoded(self._job.store.path(f"maps/{unit.name}.{name}.tif"), rows, columns)

    def _maps_before(self, unit: Unit, rows: Span, more: Sequence[str] | None = None) -> dict[str, Array]:
        """Returns the maps that a stage of refinements reads: the maps of the previous stage, and the matched map of the right view.
        """
        kinds = {"fill": "refine", "rate": self._manifest.refined_kind}
        before = self._manifest.of_kind(kinds[unit.kind]) if unit.kind in kinds else self._raw
        maps = {}
        for name in ("disparity", "validity", *(self._wanted if more is None else more)):
            made = self._raw if name == "right" else before
            for other in made:
                if other.rows.meets(rows) and other.number not in unit.after:
                    self.run(other)
            maps[name] = read_map(self._job, made, name, rows, unit.columns)
        return maps

    def _refined(self, pipeline: str, unit: Unit, rows: Span, maps: dict[str, Array]) -> Any:
        matcher = self._matcher(pipeline, unit, refine_only=True, want=self._kept)
        if self._rules.reads_images or self._manifest.beside:
            return self._match(matcher, unit, {"maps": maps}, rows)
        return matcher(None, None, maps=maps)

    def _make_audit(self, unit: Unit) -> dict[str, bytes]:
        """Matches a seam again with twice the collar, and counts the pixels that differ from the tiles."""
        result = self._match(self._matcher(self._rules.raw, unit), unit)
        again = result.disparity[unit.rows.within(unit.read_rows), unit.columns.within(unit.read_columns)]
        before = read_map(self._job, self._raw, "disparity", unit.rows, unit.columns)
        differ = again.view(np.uint32) != before.view(np.uint32)
        differ &= ~(np.isnan(again) & np.isnan(before))
        far = ~(abs(again - before) <= 1) & differ
        counts = {"pixels": int(differ.size), "differ": int(differ.sum()), "by_more_than_a_pixel": int(far.sum())}
        return {f"audit/{unit.name}.json": json.dumps(counts).encode()}

    # Parts that several kinds of units share

    @property
    def _raw(self) -> list[Unit]:
        return self._manifest.of_kind(self._manifest.raw_kind)

    @property
    def _wanted(self) -> list[str]:
        return self._rules.wanted("confidence" in self._manifest.want)

    @property
    def _final(self) -> Sequence[str]:
        """The maps that the last refinement makes, in addition to disparity and validity."""
        return () if self._rules.rated else self._manifest.want

    @property
    def _kept(self) -> list[str]:
        """The maps that pass from stage to stage of refinements, in addition to disparity and validity."""
        return ["confidence"] if self._rules.reads_confidence else []

    def _stripe(self, unit: Unit, rows: Span, above: Paths | None, below: Paths | None, follow: str = "none") -> BoundaryStripe:
        return BoundaryStripe(rows.first - unit.read_rows.first, rows.length, above is not None, below is not None, follow)

    def _matcher(self, pipeline: str, unit: Unit, **how: Any) -> Matcher:
        bit_depth = self._manifest.bit_depth or self._manifest.inputs[unit.pair][0].picture.bit_depth
        here = {"device": self._device, "threads": self._threads, "bit_depth": bit_depth, "black": None}
        here["align_rows"] = self._manifest.align_rows if unit.kind == "pair" else "off"
        here["measure_constant"] = None if marks_in_matcher(self._manifest) else True
        return MATCHERS.get(pipeline, unit, **here, **how)

    def _match(self, matcher: Matcher, unit: Unit, given: Mapping[str, Any] | None = None, rows: Span | None = None) -> Any:
        pair = self._manifest.inputs[unit.pair]
        of_part = rows or unit.read_rows, unit.read_columns
        left, mask_left = read(pair[0].path, pair[0].picture, *of_part)
        right, mask_right = read_aligned(self._manifest, pair[1], *of_part) if unit.kind != "pair" else read(pair[1].path, pair[1].picture, *of_part)
        run = Run(matcher=matcher, sequence=False, _judge=judge_of(self._manifest.job))
        part = Part(left, right, mask_left, mask_right)
        seeds = self._seeds(unit, *of_part)
        if unit.kind in CHECKED and seeds and (said := outside_of(seeds["seeds"], unit.disparities)):
            print(f"stereopsis: warning: unit {unit.number} ({unit.name}): {said}", file=sys.stderr)
        given = {**(given or {}), **seeds}
        done = run.one(part, judge=unit.kind in CHECKED, before=lambda: self._read_before(unit, rows or unit.read_rows), **given)
        self._note(unit, done)
        return done.result

    def _seeds(self, unit: Unit, rows: Span, columns: Span) -> dict[str, Array]:
        """Returns the seeds and their trust for a unit that matches, or that makes the last refinement."""
        if unit.kind in ("fill", "refine", "rate") and unit.kind != self._manifest.refined_kind:
            return {}
        read_parts = {name: read(file.path, file.picture, rows, columns) for name, file in self._manifest.beside.items()}
        unknown = {"seeds": np.float32(np.nan), "seed_trust": np.float32(0)}
        return {name: part if mask is None else np.where(mask != 0, part, unknown[name]) for name, (part, mask) in read_parts.items()}

    def _read_before(self, unit: Unit, rows: Span) -> tuple[Array, Array] | None:
        """Returns the same part of the pair before the unit's, if both are alike."""
        inputs = self._manifest.inputs
        before = inputs[unit.pair - 1]
        if unit.pair == 0 or before[0].picture != inputs[unit.pair][0].picture:
            return None
        left, right = (read(file.path, file.picture, rows, unit.read_columns)[0] for file in before)
        return left, right

    def _note(self, unit: Unit, done: RunResult) -> None:
        """Keeps the fault of the unit's pair for its sidecar, and reports each kind of fault once."""
        self._fault = done.fault or self._fault
        if done.fault is not None and done.is_new_fault:
            print(f"stereopsis: warning: unit {unit.number} ({unit.name}): {done.fault.said_with(COMMAND_ADVICE)}", file=sys.stderr)

    def _paths(self, unit: Unit, kind: str, row: int) -> Paths | None:
        """Returns the path costs that continue at `row`, with the width of the unit's input. Columns without influence have the cost 0.
        """
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
        """Returns the unit's own part of a result that covers `rows` and `columns`."""
        own = unit.rows.within(rows), unit.columns.within(columns)
        maps = {name: getattr(result, name)[own] for name in ("disparity", "validity", *more)}
        if unit.kind == self._manifest.refined_kind and not marks_in_matcher(self._manifest):
            self._mark_flat(unit, maps)
        return {f"maps/{unit.name}.{name}.tif": self._encoded(map_) for name, map_ in maps.items()}

    def _mark_flat(self, unit: Unit, maps: dict[str, Array]) -> None:
        """Marks measured pixels without contrast as filled, after the last refinement, as a matcher of the whole image does."""
        left, _ = self._manifest.inputs[unit.pair]
        width, height = self._manifest.size
        rows, columns = unit.rows.grown(flat.REACH, flat.REACH, height), unit.columns.grown(flat.REACH, flat.REACH, width)
        image, _mask = read(left.path, left.picture, rows, columns)
        marked = flat.is_flat(image)[unit.rows.within(rows), unit.columns.within(columns)] & (maps["validity"] == 0)
        maps["validity"] = np.where(marked, np.uint8(filled), maps["validity"])
        if "confidence" in maps:  # the selection rates only measured pixels
            maps["confidence"] = np.where(marked, np.float32(0), maps["confidence"])

    def _encoded(self, map_: Array) -> bytes:
        return encoded(np.ascontiguousarray(map_), self._manifest.compression)


def marks_in_matcher(manifest: Manifest) -> bool:
    """Returns whether the matchers of a job mark pixels without contrast: those of whole images and of tiles with a collar, whose maps are
    complete. Otherwise, the unit of the last refinement marks them.
    """
    return manifest.collar is not None or manifest.raw_kind == "pair"


@lru_cache(maxsize=4)
def judge_of(job: str) -> Judge:
    """Returns the object that judges the pairs of the units in this process, which may have many workers."""
    return Judge()


def paths_of(above: Paths | None, below: Paths | None) -> dict[str, Paths | None]:
    """Returns the path costs as arguments of the matcher."""
    return {"paths_above": above, "paths_below": below}


def _peak_bytes() -> int:
    """Returns the peak memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def read_map(job: Job, units: Iterable[Unit], name: str, rows: Span, columns: Span) -> Array:
    """Returns a part of a map, assembled from the results of units."""
    made = np.empty((rows.length, columns.length), MAP_TYPES[name])
    for unit in units:
        if not (unit.rows.meets(rows) and unit.columns.meets(columns)):
            continue
        r, c = unit.rows.common(rows), unit.columns.common(columns)
        own = [Span(span.first - of.first, span.end - of.first) for span, of in ((r, unit.rows), (c, unit.columns))]
        made[r.within(rows), c.within(columns)] = decoded(job.store.path(f"maps/{unit.name}.{name}.tif"), *own)
    return made


def run_unit(folder: str, number: int, device: str | None = None, threads: int = 0, *_: object) -> int:
    """Computes a unit for an engine. Any process on any machine with access to the folder may call this function. Returns the number of
    computed units. Further arguments, such as the results that a unit waits for, are ignored.
    """
    job = _opened(folder, os.stat(os.path.join(folder, "manifest.json")).st_mtime_ns)
    return Worker(job, device, threads).run(job.units[number])


@lru_cache(maxsize=4)
def _opened(folder: str, modified: int) -> Job:
    return Job.open(folder)


def not_made(job: Job, todo: Sequence[Unit]) -> Error | None:
    """Returns the error to raise if an engine has ended and units are missing, else None."""
    left = missing(job, todo)
    if not left:
        return None
    return Error(f"{len(left)} of {len(todo)} units were not computed, unit {left[0].number} ({left[0].name}) first; run again to continue")
