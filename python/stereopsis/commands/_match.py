"""`match --method onnx:FILE`, or another method from outside the library: matches a pair or a sequence, and writes maps."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

from .. import _native
from .._errors import CallError
from .._external import seen
from .._matching import Matcher
from .._options import is_external
from .._pipeline import Pipeline
from .._progress import Line
from .._result import Result
from ..view.arguments import geometry_of, range_of
from ..view.keep import ply
from ..view.pairing import Pairing
from ..view.sources import Files, Source, open_sources
from ._external import METHOD_HELP, SET_HELP, Once, add_matching, note, settings_of

__all__ = ["add_arguments", "extra", "help", "run"]

help = "Match a rectified pair, or a sequence of pairs, with a network or a program"
extra = "onnx"
# Results by option: the output of the library that each requires, the formats, and the format in a folder.
FLOATS = (".pfm", ".npy", ".tiff", ".tif")
RESULTS = {
    "output": (None, (*FLOATS, ".png")),
    "right": ("right", (*FLOATS, ".png")),
    "confidence": ("confidence", FLOATS),
    "depth": ("depth", FLOATS),
    "validity": (None, (".png", ".npy")),
    "color": (None, (".png",)),
    "cloud": ("points", (".ply",)),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("source", nargs="+", metavar="LEFT RIGHT", help="Left and right image; for a sequence patterns, folders or videos; or one folder with both views")
    add("--method", action=Once, metavar="METHOD", help=METHOD_HELP)
    add("--pipeline", metavar="FILE", help="JSON file of the pipeline to use instead of --method, as Pipeline.to_json() returns it")
    add("--set", action="append", default=[], metavar="NAME=VALUE", help=SET_HELP)
    add_matching(add)
    add("-o", "--output", metavar="OUT", help="Disparity map to write: .pfm, .npy, .tiff, or 16-bit .png (×256); for a sequence a pattern (d%%03d.pfm) or a folder")
    add("--no-create", action="store_true", help="Fail if the folder of a result does not exist [create it]")
    add("--right", metavar="FILE", help="Write the disparity map of the right view: the method on the mirrored pair")
    add("--confidence", metavar="FILE", help="Write the confidence map: .pfm, .npy or .tiff")
    add("--depth", metavar="FILE", help="Write the depth map of the measured pixels, in the unit of the calibration: .pfm, .npy or .tiff")
    add("--validity", metavar="FILE", help="Write the validity map: .png or .npy")
    add("--color", metavar="FILE", help="Write a colour picture of the disparity map with a legend: .png")
    add("--cloud", metavar="FILE", help="Write a coloured point cloud of the measured pixels, in the unit of the calibration: .ply")
    add("--mask-left", metavar="FILE", help="Mask of the left input image: 255 = usable pixel; 0 and 128 = unusable [all pixels]")
    add("--mask-right", metavar="FILE", help="Mask of the right input image: 255 = usable pixel; 0 and 128 = unusable [all pixels]")
    add("--roi", metavar="X,Y,W,H", help="Keep only this region of the left image: left column, top row, width and height, in pixels")
    add("--min-disparity", type=int, default=0, metavar="N", help="Lowest disparity of the search range [0]")
    add("--disparities", type=int, metavar="N", help="Number of disparities in the search range [estimated from the first pair]")
    add("--bit-depth", type=int, metavar="BITS", help="Number of significant low-order bits in 16-bit images [from the file]")
    add("--pair", choices=["number", "stamp"], metavar="BY", help="Pairing of two sequences: number or stamp [number]")
    add("--calib", metavar="FILE", help="Calibration for --depth and --cloud, and for rectifying the pairs with --raw")
    add("--calib-scale", type=float, default=1.0, metavar="S", help="Ratio of the image width to the width for which --calib was computed [1]")
    add("--lens", default="", metavar="MODEL", help="Lens model, for a calibration file that does not name one: radtan or equidistant [from the file]")
    add("--raw", action="store_true", help="Rectify the raw pair with the calibration of --calib before matching")
    add("--fill-depth", action="store_true", help="Include filled and repaired pixels in the depth and the cloud [measured pixels only]")
    add("--measured-only", action="store_true", help="Mark filled and repaired pixels as invalid in the disparity map")
    add("--quiet", action="store_true", help="Suppress the summary and progress")


def run(arguments: argparse.Namespace) -> int:
    pipeline, source = pipeline_of(arguments), source_of(arguments)
    files = {name: getattr(arguments, name) for name in RESULTS if getattr(arguments, name)}
    check(files, source, arguments)
    rig, calibration = geometry_of(arguments)
    bit_depth = source.read(0).bit_depth or arguments.bit_depth or 0
    count = source.length or 1
    names = names_of(source, count)
    masks = [masks_of(source, option, getattr(arguments, f"mask_{option}")) for option in ("left", "right")]
    want = [output for output in (RESULTS[name][0] for name in files) if output]
    if arguments.raw and "cloud" in files:
        want.append("rectified")
    line = Line() if count > 1 and sys.stderr.isatty() and not arguments.quiet else None
    with Matcher(
        pipeline=pipeline, disparities=range_of(arguments), device=arguments.device, threads=arguments.threads, want=want,
        region=region_of(arguments.roi), rig=None if calibration is not None else rig, calibration=calibration,
        bit_depth=bit_depth, fill_depth=arguments.fill_depth,
    ) as matcher:  # fmt: skip
        for index in range(count):
            frame = source.read(index)
            mask_left, mask_right = (usable(own, files[index]) for own, files in zip(frame.masks, masks, strict=True))
            result = matcher(frame.left, frame.right, mask_left=mask_left, mask_right=mask_right)
            for name, file in files.items():
                write(name, target(file, names, index, RESULTS[name][1][0]), result, arguments.measured_only, seen(result.rectified if arguments.raw else frame.left, "rgb", bit_depth))
            if line is not None:
                line(index + 1, count)
    if line is not None:
        line.end()
    if not arguments.quiet:
        note(f"{count} pair{'s' if count > 1 else ''} by {result.method} on {matcher_name(matcher)}, {result.ms:.1f} ms for the last")
    return 0


def matcher_name(matcher: Matcher) -> str:
    provider = getattr(matcher.pipeline.external, "provider", None)
    return "its own device" if provider is None else str(provider)


def pipeline_of(arguments: argparse.Namespace) -> Pipeline:
    if arguments.method and arguments.pipeline:
        raise CallError("--method and --pipeline exclude each other; give one of them")
    if arguments.method and not is_external(arguments.method):
        raise CallError(f"--method {arguments.method} is not a network or a program; see `stereopsis methods`")
    pipeline = Pipeline.read(arguments.pipeline) if arguments.pipeline else Pipeline(arguments.method)
    return pipeline.update(settings_of(arguments.set))


def region_of(given: str | None) -> tuple[int, int, int, int] | None:
    if given is None:
        return None
    try:
        x, y, width, height = map(int, given.split(","))
    except ValueError:
        raise CallError(f"--roi {given} is not allowed; it must be X,Y,WIDTH,HEIGHT") from None
    return x, y, width, height


def masks_of(source: Source, view: str, given: str | None) -> list[Path | None]:
    """Returns the file of the mask of each pair: one file for all pairs, or one for each pair of a sequence."""
    count = source.length or 1
    if given is None or Path(given).is_file():
        return [Path(given) if given else None] * count
    if not isinstance(source, Files):
        raise CallError(f"--mask-{view} {given} is not a file that exists; check its name")
    return source.pairs.files_beside(given)


def usable(mask: Any, file: Path | None) -> Any:
    """Returns a mask of the pixels that are usable in the mask of the image and in that of the file."""
    if file is None:
        return mask
    given = _native.read_masked_image(file)[0]
    if mask is not None and given.shape == mask.shape:
        given = np.where(mask == 255, given, np.uint8(0))
    return given


def source_of(arguments: argparse.Namespace) -> Source:
    sources = open_sources(arguments.source, None, 0.0, Pairing(arguments.pair, None), (None, None))
    source = sources[0]
    several = [one.name for one in sources if isinstance(one, Files)]
    if len(several) > 1:
        raise CallError(f"{arguments.source[0]} has {len(several)} folders with pairs, such as {several[0]}; give one of them")
    if isinstance(source, Files):
        source.bit_depth = arguments.bit_depth
    return source


def check(files: dict[str, str], source: Source, arguments: argparse.Namespace) -> None:
    """Rejects outputs that cannot be written, before the first pair is matched."""
    if not files:
        raise CallError("the call has no output; give -o OUT, or another result such as --depth FILE")
    for name in ("depth", "cloud"):
        if name in files and not arguments.calib:
            raise CallError(f"--{name} requires the calibration of the cameras; give --calib FILE")
    for name, file in files.items():
        option, allowed = "-o" if name == "output" else f"--{name}", RESULTS[name][1]
        several = (source.length or 1) > 1
        if several and "%" not in file and not Path(file).is_dir():
            raise CallError(f"{option} {file} is one file, and there are {source.length} pairs; give a pattern such as d%03d{allowed[0]}, or a folder")
        if not (several and Path(file).is_dir()) and Path(file).suffix not in allowed:
            raise CallError(f"{option} {file} has another format; it must end in {', '.join(allowed)}")
        if arguments.no_create and not Path(file).absolute().parent.is_dir():
            raise CallError(f"{option} {file} is in a folder that does not exist; create it first, or leave --no-create out")


def names_of(source: Source, count: int) -> list[str]:
    """Returns the names of the results in a folder: those of the source, else the numbers of the pairs."""
    return [source.pairs.result_name(index) if isinstance(source, Files) else f"{index:06d}" for index in range(count)]


def target(file: str, names: list[str], index: int, suffix: str) -> Path:
    if len(names) == 1:
        return Path(file)
    return Path(file % index) if "%" in file else Path(file) / f"{names[index]}{suffix}"


def write(name: str, file: Path, result: Result, measured_only: bool, colours: Any) -> None:
    file.absolute().parent.mkdir(parents=True, exist_ok=True)
    if name in ("output", "right", "confidence", "depth"):
        disparity = result.measured_disparity if measured_only else result.disparity
        _native.write_disparity(file, np.ascontiguousarray(disparity if name == "output" else getattr(result, name)))
    elif name == "cloud":
        _native.write_bytes(file, ply(result.points, colours))
    elif name == "validity":
        _native.write_image(file, np.ascontiguousarray(result.validity))
    else:
        _native.write_image(file, result.colour(legend=True))
