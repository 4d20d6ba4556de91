"""Plans a job: divides a pair into units, with the input, the memory and the dependencies of each."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import _native
from .._errors import CallError, FormatError
from .._matching import BoundaryStripe, Matcher
from .._pipeline import Pipeline
from .._result import Explanation
from .coarse import Coarse
from .manifest import NAME, Input, Job, Manifest, Rules, Unit
from .rasters import FAST, Picture
from .rows import rows_of_job
from .settings import Settings
from .spans import Span, cut, pieces_of
from .store import Store

PROCESS = 400 << 20  # memory of Python, NumPy, GDAL with its cache, and the worker of an engine, in bytes
NO_LIMIT = 2**62  # no limit of the workspace of a unit, because the plan already keeps units within the memory
SWEEP = 64 << 20  # memory of the matcher of sweeps, which a worker keeps, in bytes
# Smallest number of stripes, even if memory allows fewer: more workers can share them, and less memory is touched for the first
# time.
ENOUGH_STRIPES = 32
LOW_STRIPE = 256  # rows
LARGEST_TILE = 4096
SMALLEST_TILE = 64
# Width of a tile in a sweep, as a multiple of the columns that it reads beside itself.
COLUMNS_PER_COLLAR = 16
OF_NETWORK = 4096  # bytes per pixel that a network is assumed to need, because it does not say how much it needs
ROWS_AROUND = 70  # rows that are read around a part to align its rows
SEAM = 32  # width of an audited seam on each side, in pixels


def plan(folder: str | Path, settings: Settings, replace_other: bool = False) -> Job:
    """Writes the manifest of a job into a folder. Reads the sizes of the images, and samples of the files to detect changes.
    Raises CallError if the folder has another job that must not be replaced, or if the method cannot be computed in parts.
    """
    folder = Path(folder).absolute()
    manifest = Planner(settings).manifest()
    if not replace_other and (folder / NAME).exists() and _job_in(folder) != manifest.job:
        raise CallError(f"{folder} has another job; choose another folder, or use --replace, which computes all units again")
    manifest.write(folder)
    return Job(folder, manifest, Store(folder, manifest.job))


def _job_in(folder: Path) -> str | None:
    """Returns the present job of the folder. Returns None if the job is of another version or cannot be read."""
    try:
        return Manifest.read(folder).job
    except (CallError, FormatError):
        return None


def rules_of(pipeline: Pipeline, confidence: bool) -> Rules:
    found = pipeline.partition_plan(want_confidence=confidence)

    def text_of(pipeline: _native.Pipeline | None) -> str | None:
        return None if pipeline is None else pipeline.to_json()

    return Rules(
        raw=found.raw.to_json(),
        refined=text_of(found.unfilled if found.fills else found.refined),
        filled=text_of(found.filled),
        takes_edges=found.takes_edges,
        rated=text_of(found.rated),
        follows_paths=found.follows_paths,
        kinds=found.path_kinds,
        raw_rows=found.raw_rows,
        feature_rows=found.feature_rows,
        refined_rows=found.before_fill if found.fills else found.refined_rows,
        filled_rows=found.behind_fill,
        rated_rows=found.rated_rows,
        block=found.block,
        reads_images=found.reads_images,
        reads_right=found.reads_right,
        reads_confidence=found.reads_confidence,
    )


class Planner:
    def __init__(self, settings: Settings) -> None:
        if settings.compression not in FAST:
            raise CallError(f"compression={settings.compression!r} is not allowed; it must be {' or '.join(FAST)}")
        self._settings = settings
        self._inputs = [tuple(Input.of(path, settings.full_hash) for path in pair) for pair in settings.pairs]
        for left, right in self._inputs:
            if replace(left.picture, masked=False) != replace(right.picture, masked=False):
                raise CallError(f"{left.path} and {right.path} differ in size or type; both must be equal")
        self._picture: Picture = self._inputs[0][0].picture
        self._beside = self._files_beside()
        self._coarse = [Coarse(left, right, settings) for left, right in self._inputs] if settings.coarse else []
        if not self._coarse and settings.disparities is None:
            raise CallError("the search range is not known; give --disparities, or --coarse to estimate it on reduced images")
        self._rules = Rules(raw=settings.pipeline.to_json())
        self._units: list[Unit] = []

    def _files_beside(self) -> dict[str, Input]:
        """Returns the files of the seeds and of their trust."""
        s = self._settings
        files = {name: Input.of(path, s.full_hash) for name, path in (("seeds", s.seeds), ("seed_trust", s.seed_trust)) if path is not None}
        takes_seeds = s.pipeline.external is None and s.pipeline.get("seeds.stage") != "none"
        if takes_seeds and "seeds" not in files:
            raise CallError("the pipeline takes seeds, and no file has any; give --seeds FILE, or set seeds.stage = none")
        if files and len(self._inputs) > 1:
            raise CallError("--seeds applies to one pair, and a list of pairs is given; plan a job for each pair")
        for file in files.values():
            picture = file.picture
            if (picture.width, picture.height, picture.channels, picture.dtype) != (*self.size, 1, "float32"):
                raise CallError(f"{file.path} has {picture.width}×{picture.height} pixels of the type {picture.dtype} with {picture.channels} channels; "
                                f"it must have {self.size[0]}×{self.size[1]} pixels of the type float32 with one channel")  # fmt: skip
        return files

    def manifest(self) -> Manifest:
        s = self._settings
        if len(self._inputs) > 1:
            self._pairs()
        elif s.collar is not None:
            self._tiles_with_collar(s.collar)
        else:
            self._rules = rules_of(s.pipeline, s.confidence)
            if self._rules.follows_paths:
                Stripes(self).add()
            else:
                self._tiles()
            if self._rules.refined is not None:
                self._refinements(self._rules.refined)
            if self._rules.rated is not None:
                self._ratings(self._rules.rated)
        inputs = [(left, right) for left, right in self._inputs]
        align_rows, rows = rows_of_job(inputs, s)
        return Manifest(
            inputs=inputs,
            beside=self._beside,
            pipeline=s.pipeline.to_json(),
            rules=self._rules,
            device=s.device,
            bit_depth=s.bit_depth,
            align_rows=align_rows,
            rows=rows,
            want=("confidence",) if s.confidence else (),
            collar=s.collar,
            compression=s.compression,
            units=in_levels(self._units),
        )

    # Properties that other classes of this module use

    @property
    def settings(self) -> Settings:
        return self._settings

    @property
    def rules(self) -> Rules:
        return self._rules

    @property
    def size(self) -> tuple[int, int]:
        return self._picture.width, self._picture.height

    def range_of(self, rows: Span, columns: Span, pair: int = 0) -> tuple[int, int]:
        if self._coarse:
            return self._coarse[pair].range_of(rows, columns)
        assert self._settings.disparities is not None
        return self._settings.disparities

    def add(self, **about: Any) -> Unit:
        unit = Unit(number=len(self._units), **about)
        self._units.append(unit)
        return unit

    def memory(self, pipeline: str, rows: int, columns: int, disparities: tuple[int, int], maps: int = 13, **how: Any) -> int:
        """Returns the memory of a worker in bytes: the workspace of the plan, the images with masks, and `maps` bytes per pixel
        for results.
        """
        p, s = self._picture, self._settings
        workspace = self.explained(pipeline, rows, columns, disparities, **how).workspace_bytes
        one = p.channels * np.dtype(p.dtype).itemsize
        around = 0 if s.align_rows == "off" else columns * (rows + 2 * (rows + ROWS_AROUND) * (one + 1))  # the right image and its mask
        pixel = 2 * one + (2 if p.masked else 0) + 4 * len(self._beside)
        return PROCESS + workspace + around + rows * columns * (pixel + maps + (OF_NETWORK if s.pipeline.external is not None else 0))

    def explained(self, pipeline: str, rows: int, columns: int, disparities: tuple[int, int], **how: Any) -> Explanation:
        """Returns the plan for images of this size, without reading images."""
        p, s = self._picture, self._settings
        blank = np.empty((rows, columns, 3) if p.channels == 3 else (rows, columns), p.dtype)  # takes no memory until it is accessed
        matcher = Matcher(
            pipeline=Pipeline.from_json(pipeline), disparities=disparities, device=s.device, bit_depth=s.bit_depth or p.bit_depth,
            memory_limit=NO_LIMIT, black=None, **how,
        )  # fmt: skip
        return matcher.explain(blank, blank)

    def fewest(self, takes: Callable[[int], int], most: int, what: str) -> int:
        """Returns the smallest number of parts that fit in the memory."""
        allowed = self._settings.memory
        if takes(most) > allowed:
            raise CallError(
                f"the smallest {what} needs {takes(most) / 2**30:.2f} GiB, but --mem allows {allowed / 2**30:.2f}; "
                "raise --mem, or use fewer disparities"
            )
        low, high = 1, most
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if takes(middle) <= allowed else (middle + 1, high)
        return low

    # The other kinds of units

    def _pairs(self) -> None:
        if self._settings.collar is not None or self._settings.stripes is not None:
            raise CallError("pairs of a list are matched as whole images, and --collar and --stripes apply to one pair; leave them out")
        for k, (left, _) in enumerate(self._inputs):
            self._picture = left.picture
            width, height = self.size
            rows, columns = Span(0, height), Span(0, width)
            found = self.range_of(rows, columns, k)
            memory = self.memory(self._rules.raw, height, width, found)
            self.add(kind="pair", at=(k,), rows=rows, columns=columns, read_rows=rows, read_columns=columns, disparities=found,
                     memory=memory, pair=k)  # fmt: skip

    def _tiles_with_collar(self, collar: int) -> None:
        """Plans semi-global matching in tiles. The result is not exact, because pixels outside the collar of a tile have no influence on
        the tile.
        """

        def reads(rows: Span, columns: Span, found: tuple[int, int], by: int) -> tuple[Span, Span]:
            width, height = self.size
            return rows.grown(by, by, height), columns.grown(by + max(0, found[1]), by + max(0, -found[0]), width)

        tiles = self._grid(lambda rows, columns, found: reads(rows, columns, found, collar), {})
        for first, second in _chosen(_seams(tiles), self._settings.audit):
            rows, columns = _around_seam(first, second, self.size)
            found = min(first.disparities[0], second.disparities[0]), max(first.disparities[1], second.disparities[1])
            read_rows, read_columns = reads(rows, columns, found, 2 * collar)
            memory = self.memory(self._rules.raw, read_rows.length, read_columns.length, found)
            self.add(kind="audit", at=(first.number, second.number), rows=rows, columns=columns, read_rows=read_rows,
                     read_columns=read_columns, disparities=found, memory=memory, after=(first.number, second.number))  # fmt: skip

    def _tiles(self) -> None:
        """Plans tiles for a method with finite reach. A tile reads exactly the input that it requires."""
        width, height = self.size

        def reads(rows: Span, columns: Span, found: tuple[int, int]) -> tuple[Span, Span]:
            region = (columns.first, rows.first, columns.length, rows.length)
            x, y, w, h = self.explained(self._rules.raw, height, width, found, region=region, want=self.want).required_input
            return Span(y, y + h), Span(x, x + w)

        self._grid(reads, {"want": self.want})

    @property
    def confidence(self) -> list[str]:
        return ["confidence"] if self._settings.confidence and self._rules.rated is None else []

    @property
    def want(self) -> list[str]:
        """Returns the outputs to request when a unit is matched, in addition to disparity and validity."""
        return self._rules.wanted(self._settings.confidence)

    def _grid(self, reads: Callable[[Span, Span, tuple[int, int]], tuple[Span, Span]], how: dict[str, Any]) -> list[Unit]:
        width, height = self.size
        across, down = self._tile_size(reads, how)
        tiles = []
        for i, rows in enumerate(cut(height, pieces_of(height, down))):
            for j, columns in enumerate(cut(width, pieces_of(width, across))):
                found = self.range_of(rows, columns)
                read_rows, read_columns = reads(rows, columns, found)
                memory = self.memory(self._rules.raw, read_rows.length, read_columns.length, found, **how)
                tiles.append(self.add(kind="tile", at=(i, j), rows=rows, columns=columns, read_rows=read_rows,
                                      read_columns=read_columns, disparities=found, memory=memory))  # fmt: skip
        return tiles

    def _tile_size(self, reads: Callable[..., tuple[Span, Span]], how: dict[str, Any]) -> tuple[int, int]:
        width, height = self.size
        found = self.range_of(Span(0, height), Span(0, width))

        def takes(side: int) -> int:
            across, down = min(width, self._settings.tile[0] or side), min(height, self._settings.tile[1] or side)
            x, y = (width - across) // 2, (height - down) // 2
            rows, columns = reads(Span(y, y + down), Span(x, x + across), found)
            return self.memory(self._rules.raw, rows.length, columns.length, found, **how)

        sides = [LARGEST_TILE >> k for k in range(7)]  # to SMALLEST_TILE
        side = sides[self.fewest(lambda n: takes(sides[n - 1]), len(sides), "tile") - 1]
        return self._settings.tile[0] or side, self._settings.tile[1] or side

    def _refinements(self, refined: str) -> None:
        """Adds the units that refine stripes of the maps, with a margin. If the pipeline has a fill, a second set of units refines the maps
        after the fill.
        """
        width, height = self.size
        rules = self._rules
        found = self.range_of(Span(0, height), Span(0, width))
        whole = {"columns": Span(0, width), "read_columns": Span(0, width), "disparities": found}

        def takes(count: int) -> int:
            def of(pipeline: str, reach: int, maps: int) -> int:
                rows = min(height, pieces_of(height, count) + 2 * reach)
                return self.memory(pipeline, rows, width, found, maps=maps, refine_only=True, want=self.confidence)

            return max(of(refined, rules.refined_rows, 27), of(rules.filled, rules.filled_rows + 1, 35) if rules.filled else 0)

        matched = [unit for unit in self._units if unit.kind in ("match", "tile")]
        stripes = len({unit.rows for unit in matched})
        reach = max(rules.refined_rows, rules.filled_rows)
        own = max(height // max(1, 8 * reach), min(ENOUGH_STRIPES, height // max(1, 4 * reach)))  # more rows than the margins
        count = max(self.fewest(takes, height, "stripe of refinements"), min(stripes, own))
        memory = takes(count)
        stage = self._stage("refine", cut(height, count), rules.refined_rows, matched, memory, whole)
        if rules.filled:
            edges = [self._edges(stage, 8 * count * width, whole)] if rules.takes_edges else []
            self._stage("fill", cut(height, count), rules.filled_rows + int(rules.takes_edges), stage, memory, whole, edges)

    def _ratings(self, rated: str) -> None:
        """Adds the units that compute the confidence of stripes of the refined maps, with a margin."""
        width, height = self.size
        rules = self._rules
        found = self.range_of(Span(0, height), Span(0, width))
        reach = rules.rated_rows + rules.block

        def takes(count: int) -> int:
            rows = min(height, pieces_of(height, count) + 2 * reach)
            return self.memory(rated, rows, width, found, maps=18, refine_only=True, want=["confidence"])

        kind = "fill" if rules.filled else "refine" if rules.refined else None
        before = [unit for unit in self._units if unit.kind == kind or (kind is None and unit.kind in ("match", "tile"))]
        own = max(height // (8 * reach), min(ENOUGH_STRIPES, height // (4 * reach)), 1)  # more rows than the margins
        count = max(self.fewest(takes, height, "stripe of ratings"), min(len({unit.rows for unit in before}), own))
        whole = {"columns": Span(0, width), "read_columns": Span(0, width), "disparities": found}
        self._stage("rate", cut(height, count), rules.rated_rows, before, takes(count), whole, block=rules.block)

    def _stage(
        self, kind: str, cores: list[Span], reach: int, before: list[Unit], memory: int, whole: dict[str, Any],
        beside: Iterable[Unit] = (), block: int = 1,
    ) -> list[Unit]:  # fmt: skip
        height = self.size[1]
        made = []
        for i, rows in enumerate(cores):
            read = rows.grown(reach, reach, height)
            read = Span(read.first // block * block, read.end)
            after = tuple(unit.number for unit in (*(unit for unit in before if unit.rows.meets(read)), *beside))
            made.append(self.add(kind=kind, at=(i,), rows=rows, read_rows=read, memory=memory, after=after, **whole))
        return made

    def _edges(self, stage: list[Unit], carried: int, whole: dict[str, Any]) -> Unit:
        rows, after = Span(0, self.size[1]), tuple(unit.number for unit in stage)
        return self.add(kind="edges", at=(0,), rows=rows, read_rows=rows, memory=PROCESS + 2 * carried, after=after, **whole)


class Stripes:
    """Plans semi-global matching with the same result as for the whole image, bit for bit. Sweeps down and up pass path costs from band to
    band, in tiles of columns. Each stripe is then matched independently.
    """

    def __init__(self, planner: Planner) -> None:
        self._planner, self._rules = planner, planner.rules
        self._width, self._height = planner.size
        self._found = planner.range_of(Span(0, self._height), Span(0, self._width))
        count = planner.settings.stripes or max(
            planner.fewest(self._matching, self._height, "stripe"), min(ENOUGH_STRIPES, self._height // LOW_STRIPE)
        )
        if not 1 <= count <= self._height:
            raise CallError(f"--stripes {count} is not allowed; it must be 1 to the image's {self._height} rows")
        self._cores = cut(self._height, count)
        self._paths = [core.grown(self._rules.raw_rows, self._rules.raw_rows, self._height) for core in self._cores]

    def add(self) -> None:
        last = len(self._cores) - 1
        down: list[Unit] = []
        above: list[list[Unit]] = [[]]
        for i in range(last):
            down = self._band("down", i, Span(self._paths[i].first, self._paths[i + 1].first), down)
            above.append(down)
        up: list[Unit] = []
        below: list[list[Unit]] = [[]]
        for i in range(last, 0, -1):
            up = self._band("up", last - i, Span(self._paths[i - 1].end, self._paths[i].end), up)
            below.append(up)
        for i, (core, paths) in enumerate(zip(self._cores, self._paths, strict=True)):
            read, whole = self._read(paths), Span(0, self._width)
            after = tuple(unit.number for unit in (*above[i], *below[last - i]))
            self._planner.add(kind="match", at=(i,), rows=core, columns=whole, read_rows=read, read_columns=whole,
                              disparities=self._found, memory=self._matching(len(self._cores)), after=after)  # fmt: skip

    def _read(self, rows: Span) -> Span:
        """Returns the rows of the images that a stripe reads. The rows include the row after the stripe, because the penalty of the step to
        that row may depend on its pixels.
        """
        around = max(1, self._rules.feature_rows)
        return rows.grown(around, around, self._height)

    def _band(self, kind: str, at: int, rows: Span, before: list[Unit]) -> list[Unit]:
        """Returns the units of a band, or those of the previous band if the band has no rows."""
        if rows.length == 0:
            return before
        lean = rows.length if self._rules.kinds > 1 else 0  # columns that diagonal paths cross in the band
        first, end = self._found
        beside = lean + 2 * self._rules.feature_rows + SEAM
        left, right = beside + max(0, end), beside + max(0, -first)
        read, units = self._read(rows), []
        for j, columns in enumerate(cut(self._width, self._tiles_of(read.length, left, right))):
            read_columns = columns.grown(left, right, self._width)
            come_from = columns.grown(lean, lean, self._width)
            after = tuple(unit.number for unit in before if unit.columns.meets(come_from))
            units.append(
                self._planner.add(kind=kind, at=(at, j), rows=rows, columns=columns, read_rows=read, read_columns=read_columns,
                                  disparities=self._found, memory=self._following(read.length, read_columns.length), after=after)
            )  # fmt: skip
        return units

    def _tiles_of(self, rows: int, left: int, right: int) -> int:
        wanted = self._planner.settings.tile[0]
        if wanted is not None:
            return pieces_of(self._width, wanted)
        count = max(1, self._width // (COLUMNS_PER_COLLAR * (left + right)))
        while count < self._width and self._following(rows, self._width // count + left + right) > self._planner.settings.memory:
            count *= 2
        return count

    def _stripe(self, rows: int, follow: str) -> BoundaryStripe:
        """Returns a stripe in the middle of the image, where matching takes the most memory."""
        around = max(1, self._rules.feature_rows) if rows < self._height else 0
        inner = max(1, rows - 2 * around)
        return BoundaryStripe(around, inner, above=around > 0, below=around > 0 and follow == "none", follow=follow)

    def _matching(self, count: int) -> int:
        rows = self._read(Span(0, pieces_of(self._height, count) + 2 * self._rules.raw_rows)).length
        rows = min(self._height, rows + max(1, self._rules.feature_rows))
        carried = SWEEP + 4 * self._rules.kinds * self._width * (self._found[1] - self._found[0])
        how: dict[str, Any] = {"stripe": self._stripe(rows, "none"), "want": self._planner.want}
        return carried + self._planner.memory(self._rules.raw, rows, self._width, self._found, **how)

    def _following(self, rows: int, columns: int) -> int:
        columns = min(columns, self._width)
        carried = 4 * self._rules.kinds * columns * (self._found[1] - self._found[0])
        how = {"stripe": self._stripe(rows, "down")}
        return carried + self._planner.memory(self._rules.raw, rows, columns, self._found, maps=0, **how)


def in_levels(units: list[Unit]) -> list[Unit]:
    """Numbers the units so that the units of a level, which may run at the same time, are consecutive."""
    level: list[int] = []
    for unit in units:
        level.append(1 + max((level[i] for i in unit.after), default=-1))
    order = sorted(range(len(units)), key=lambda k: (level[k], k))
    number = {old: new for new, old in enumerate(order)}
    return [replace(units[k], number=number[k], after=tuple(sorted(number[i] for i in units[k].after))) for k in order]


def _seams(tiles: list[Unit]) -> list[tuple[Unit, Unit]]:
    place = {unit.at: unit for unit in tiles}
    beside = (((unit, place.get((unit.at[0], unit.at[1] + 1))), (unit, place.get((unit.at[0] + 1, unit.at[1])))) for unit in tiles)
    return [(first, second) for pairs in beside for first, second in pairs if second is not None]


def _chosen(seams: list[tuple[Unit, Unit]], count: int) -> Iterable[tuple[Unit, Unit]]:
    """Chooses seams that are spread over the image."""
    count = min(count, len(seams))
    return [seams[len(seams) * k // count] for k in range(count)]


def _around_seam(first: Unit, second: Unit, size: tuple[int, int]) -> tuple[Span, Span]:
    """Returns the rows and the columns around a seam."""
    if first.rows == second.rows:
        return first.rows, Span(second.columns.first, second.columns.first).grown(SEAM, SEAM, size[0])
    return Span(second.rows.first, second.rows.first).grown(SEAM, SEAM, size[1]), first.columns
