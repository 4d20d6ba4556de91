"""Interprets the options of `stereopsis bag`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import _native
from ..._errors import CallError
from ..._method import pipeline_of
from ..._rows import checked_rows
from ..._tracking import rig_file
from ..processor import PRODUCTS, Matching
from ..registration import Registration
from ..results import Shape

if TYPE_CHECKING:
    from .recording import Recording

SUFFIXES = {".mcap": "mcap", ".db3": "sqlite3", ".bag": "ros1"}
# Options that do not change the results, or that are part of the pipeline.
UNIMPORTANT = {"call", "output", "resume", "quiet", "report", "list", "frames", "in_flight", "threads", "device", "method", "set"}


def metres(option: str, text: str) -> float:
    """Returns a depth in metres, the unit of ROS; a number without a unit is in metres."""
    try:
        return _native.length_in(text, "m")
    except CallError as error:
        raise CallError(f"{option} {error}") from None


def matching_of(arguments: argparse.Namespace) -> Matching:
    disparities, near_far = None, None
    if arguments.min_disparity and arguments.disparities is None:
        raise CallError("--min-disparity requires --disparities; give both, or neither")
    if arguments.disparities is not None:
        if arguments.disparities < 1:
            raise CallError(f"--disparities {arguments.disparities} is not allowed; it must be at least 1")
        disparities = arguments.min_disparity, arguments.min_disparity + arguments.disparities
    if (arguments.near is None) != (arguments.far is None):
        raise CallError("--near and --far must be given together; give both, such as --near 0.5m --far 10m")
    if arguments.near is not None:
        if disparities is not None:
            raise CallError("--disparities and --near with --far both give the search range; give one of them")
        near_far = metres("--near", arguments.near), metres("--far", arguments.far)
    if arguments.in_flight < 1:
        raise CallError(f"--in-flight {arguments.in_flight} is not allowed; it must be at least 1")
    if arguments.seed_previous and arguments.resume:
        raise CallError("with --seed-previous, each pair depends on the result of the pair before; leave --resume out")
    if arguments.track_rig and arguments.resume:
        raise CallError("with --track-rig, each pair depends on the pairs before; leave --resume out")
    return Matching(
        pipeline_of(arguments),
        device=arguments.device,
        threads=arguments.threads,
        disparities=disparities,
        near_far=near_far,
        align_rows=checked_rows(arguments.align_rows, "--align-rows"),
        seed_previous=arguments.seed_previous,
        track_rig=rig_file(arguments.track_rig, "--track-rig"),
        bit_depth=arguments.bit_depth,
        in_flight=arguments.in_flight,
        fill_depth=arguments.fill_depth,
    )


def products_of(arguments: argparse.Namespace) -> list[str]:
    chosen = [name for name in PRODUCTS if getattr(arguments, name)]
    if arguments.register_to:
        chosen.append("registered")
    products = chosen or ["disparity"]
    if arguments.fill_depth and not {"depth", "points", "registered"} & {*products}:
        raise CallError("--fill-depth applies to --depth and --points; give one of them")
    if arguments.measured_only and "disparity" not in products:
        raise CallError("--measured-only applies to --disparity; give it, too")
    return products


def shape_of(arguments: argparse.Namespace, raw: bool) -> Shape:
    names = "--register-to", "--register-frame"
    registration = Registration.of(arguments.register_to or "", arguments.register_frame or "", raw, names)
    a = arguments
    return Shape(a.nan, a.millimetres, not a.unorganised, not a.no_color, registration, a.measured_only)


def storage_of(arguments: argparse.Namespace) -> str:
    suffix = Path(arguments.output).suffix
    if suffix and suffix not in SUFFIXES:
        raise CallError(f"'{arguments.output}' ends in {suffix}; give a .mcap, .db3 or .bag file, or a folder's name")
    of_folder: str = arguments.storage
    return SUFFIXES.get(suffix, of_folder)


def call_of(arguments: argparse.Namespace, recording: Recording) -> dict[str, Any]:
    """Returns all settings that affect the output. A run can be resumed only with the same settings."""
    given = {name: getattr(arguments, name) for name in vars(arguments) if name not in UNIMPORTANT}
    at = recording.bag.path.absolute()
    files = sorted(at.iterdir()) if at.is_dir() else [at]
    return {
        **given,
        "bag": {str(file): [file.stat().st_size, file.stat().st_mtime_ns] for file in files},
        "pipeline": json.loads(pipeline_of(arguments).to_json()),
    }

