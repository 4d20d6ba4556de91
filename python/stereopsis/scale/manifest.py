"""The description of a job, `manifest.json` in its folder. The manifest contains all that a worker of any engine needs."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from .._errors import CallError, FileError, FormatError
from .._json import parsed
from .._native import version
from .._pipeline import Pipeline
from .rasters import Picture, fingerprint
from .spans import Span
from .store import Store, write_whole

NAME = "manifest.json"
FORMAT = 4
KINDS = ("down", "up", "match", "tile", "pair", "refine", "edges", "fill", "rate", "audit")  # kinds of units, in the order of their phases


@dataclass(frozen=True)
class Input:
    """An input file, with a fingerprint that detects changes."""

    path: str
    picture: Picture
    fingerprint: dict[str, Any]

    @classmethod
    def of(cls, path: str, full: bool) -> Input:
        path = str(Path(path).absolute())
        return cls(path, Picture.of(path), fingerprint(path, full))

    def check(self) -> None:
        """Raises FileError if the file has changed."""
        if fingerprint(self.path, "sha256" in self.fingerprint) != self.fingerprint:
            raise FileError(f"{self.path} has changed since the job was planned; plan it again, in another folder")


@dataclass(frozen=True)
class Unit:
    """A unit of work, which one worker computes without interruption.

    kind     down, up: continues path costs over a band of rows
             match, tile, pair: matches a stripe, a tile, or a pair of a list
             refine: refines a stripe of the maps, up to a fill
             edges: finds the measured disparities at the edges of the stripes
             fill: fills a stripe, and refines it after that
             audit: matches a seam between two tiles again, with twice the collar
    rows, columns            of the result
    read_rows, read_columns  of the images that the unit reads
    """

    number: int
    kind: str
    at: tuple[int, ...]
    rows: Span
    columns: Span
    read_rows: Span
    read_columns: Span
    disparities: tuple[int, int]
    memory: int  # approximate memory of the worker, in bytes
    after: tuple[int, ...] = ()
    pair: int = 0

    @property
    def name(self) -> str:
        return "-".join([self.kind, *(f"{i:04}" for i in self.at)])

    @property
    def pixels(self) -> int:
        return self.read_rows.length * self.read_columns.length


@dataclass(frozen=True)
class Rules:
    """The division of a pipeline into parts. The pipelines are JSON. See Pipeline.partition_plan()."""

    raw: str  # the pipeline with which units are matched, before the remaining refinements
    refined: str | None = None  # the remaining refinements, or the refinements before a fill that searches at any distance
    filled: str | None = None  # the fill and the refinements after it
    takes_edges: bool = False  # the fill takes the nearest measured disparities of columns; see edges.py
    rated: str | None = None  # the confidence of the refined maps
    follows_paths: bool = False
    kinds: int = 0  # number of kinds of paths that lead from stripe to stripe
    raw_rows: int = 0
    feature_rows: int = 0
    refined_rows: int = 0
    filled_rows: int = 0
    rated_rows: int = 0
    block: int = 1  # the rows that are read for `rated` start at a multiple of it
    reads_images: bool = False
    reads_right: bool = False
    reads_confidence: bool = False

    def wanted(self, confidence: bool) -> list[str]:
        """Returns the outputs to request when a unit is matched with `raw`, in addition to disparity and validity."""
        confidence = self.reads_confidence or (confidence and self.refined is None and self.rated is None)
        return (["right"] if self.reads_right else []) + (["confidence"] if confidence else [])


@dataclass(frozen=True)
class Manifest:
    """The description of a job. `raw_kind` is the kind of the units that match images. `final_kind` is the kind of the units whose maps are
    merged into the result.
    """

    inputs: list[tuple[Input, Input]]
    beside: dict[str, Input]  # the files of seeds and of their trust, by the names of the matcher's arguments
    pipeline: str
    rules: Rules
    device: str
    bit_depth: int
    align_rows: str  # numbers or off for one pair; for a list also auto: the unit of each pair estimates its rows
    rows: str  # a sentence about the rows
    want: tuple[str, ...]
    collar: int | None
    compression: str  # compression of maps between units
    units: list[Unit] = field(repr=False)
    made_by: str = version

    @cached_property
    def job(self) -> str:
        """Returns a hash of everything that determines the results of the units."""
        decides = {name: value for name, value in asdict(self).items() if name not in ("device", "units", "rows")}
        decides["units"] = [(u.name, u.rows, u.columns, u.read_rows, u.read_columns, u.disparities) for u in self.units]
        return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()

    @property
    def size(self) -> tuple[int, int]:
        """(width, height)"""
        picture = self.inputs[0][0].picture
        return picture.width, picture.height

    @property
    def raw_kind(self) -> str:
        return next(unit.kind for unit in self.units if unit.kind in ("match", "tile", "pair"))

    @property
    def refined_kind(self) -> str:
        """The kind of the units with the last disparity and validity."""
        return "fill" if self.rules.filled else "refine" if self.rules.refined else self.raw_kind

    @property
    def final_kind(self) -> str:
        return "rate" if self.rules.rated else self.refined_kind

    def of_kind(self, *kinds: str) -> list[Unit]:
        """Returns the units of the given kinds from the top of the image to the bottom, and from left to right within the same rows."""
        return sorted((unit for unit in self.units if unit.kind in kinds), key=lambda unit: (unit.rows, unit.columns))

    def levels(self) -> list[list[Unit]]:
        """Returns the units in levels. A unit needs only units of earlier levels."""
        level: list[int] = []
        for unit in self.units:
            level.append(1 + max((level[i] for i in unit.after), default=-1))
        return [[unit for unit in self.units if level[unit.number] == k] for k in range(max(level, default=-1) + 1)]

    def write(self, folder: Path) -> None:
        content = {"format": "stereopsis scale", "version": FORMAT, "job": self.job, **asdict(self)}
        content["pipeline"] = json.loads(self.pipeline)
        write_whole(folder / NAME, json.dumps(content, indent=1).encode())

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Reads a manifest. Raises FileError and FormatError."""
        try:
            content = parsed((folder / NAME).read_bytes(), f"{folder / NAME}")
        except OSError as error:
            raise FileError(f"{folder / NAME} cannot be read: {error.strerror}; create it with stereopsis scale plan {folder} …") from error
        if not isinstance(content, dict) or (content.get("format"), content.get("version")) != ("stereopsis scale", FORMAT):
            raise FormatError(f"{folder / NAME} is not a manifest of version {FORMAT}; plan the job again")
        return cls._of(content)

    @classmethod
    def _of(cls, content: dict[str, Any]) -> Manifest:
        made = cls(
            inputs=[(_input(left), _input(right)) for left, right in content["inputs"]],
            beside={name: _input(file) for name, file in content["beside"].items()},
            pipeline=Pipeline.from_json(json.dumps(content["pipeline"])).to_json(),
            rules=Rules(**content["rules"]),
            device=content["device"],
            bit_depth=content["bit_depth"],
            align_rows=content["align_rows"],
            rows=content["rows"],
            want=tuple(content["want"]),
            collar=content["collar"],
            compression=content["compression"],
            units=[_unit(unit) for unit in content["units"]],
            made_by=content["made_by"],
        )
        if made.made_by != version:
            raise CallError(f"the job was planned by stereopsis {made.made_by}, and this is {version}; plan it again, or use that version")
        return made


def _input(content: dict[str, Any]) -> Input:
    return Input(content["path"], Picture(**content["picture"]), content["fingerprint"])


def _unit(content: dict[str, Any]) -> Unit:
    spans = {name: Span(*content[name]) for name in ("rows", "columns", "read_rows", "read_columns")}
    lists = {name: tuple(content[name]) for name in ("at", "disparities", "after")}
    return Unit(**(content | spans | lists))


@dataclass(frozen=True)
class Job:
    """A folder with a manifest and the results of its units."""

    folder: Path
    manifest: Manifest
    store: Store

    @classmethod
    def open(cls, folder: str | Path) -> Job:
        folder = Path(folder).absolute()
        manifest = Manifest.read(folder)
        return cls(folder, manifest, Store(folder, manifest.job))

    @property
    def units(self) -> list[Unit]:
        return self.manifest.units
