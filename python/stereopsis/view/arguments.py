"""The command-line options of `stereopsis view SOURCE …`."""

from __future__ import annotations

import argparse
from typing import Any

from .. import _native
from .._errors import CallError

EXAMPLES = """sources:
  LEFT RIGHT             two images, folders, patterns ('left*.png', left%03d.png), videos or cameras (/dev/video0)
  FOLDER                 a folder with left.* and right.*, or with left/ and right/; or a folder of such folders
  FILE or /dev/videoN    one video or camera that has both views side by side
  BAG                    a bag of ROS 1 or 2: .bag, .mcap, .db3, or a folder of ros2 bag
  synth[:SCENE][,WxHxD][,moving]   a generated scene with its exact ground truth
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EXAMPLES
    add = parser.add_argument
    add("source", nargs="*", metavar="SOURCE", help="Source of the pairs (see below) [generated scenes]")
    add("--calib", metavar="FILE", help="Calibration, from which depth is computed; with --raw, the pairs are rectified, too")
    add("--calib-scale", type=float, default=1.0, metavar="S", help="Scale of the images after calibration: their width / the width that --calib is for [1]")
    add("--lens", default="", metavar="MODEL", help="Lens model of a calibration file that does not name it: radtan or equidistant [the file's]")
    add("--raw", action="store_true", help="Rectify the pairs with --calib")
    add("--fill-depth", action="store_true", help="Show depth and points of filled and repaired pixels, too [of measured pixels only]")
    add("--truth", metavar="FILE", help="Ground truth of the disparity: a file, a folder or a pattern")
    add("--truth-scale", type=float, default=0.0, metavar="S", help="Factor of an 8- or 16-bit ground truth: disparity = stored value / S")
    add("--pair", choices=["number", "stamp"], metavar="BY", help="Pair the images of both views by number or by time stamp: number or stamp [number; stamp for bags]")
    add("--strict", action=argparse.BooleanOptionalAction, help="Fail if an image has no partner, or if the times of a pair differ noticeably [for files and bags]")
    add("--left", metavar="TOPIC", help="Topic of the left images in a bag [found by name]")
    add("--right", metavar="TOPIC", help="Topic of the right images in a bag [found by name]")
    add("--bit-depth", type=int, metavar="BITS", help="Number of significant low-order bits in 16-bit images, 9 to 16 [from the file]")
    add("--method", default="sgm", metavar="NAME", help="Method to start with [sgm]")
    add("--pipeline", metavar="FILE", help="JSON file of a pipeline to start with; replaces --method")
    add("--set", action="append", default=[], metavar="NAME.PARAMETER=VALUE", help="Set a parameter of the method, such as sgm.p1=10; repeatable")
    add("--device", default="auto", metavar="NAME", help="Device: auto, cpu, cuda[:N] or opencl[:N] [auto]")
    add("--threads", type=int, default=0, metavar="N", help="Number of CPU threads [all]")
    add("--min-disparity", type=int, default=0, metavar="N", help="Lowest disparity of the search range; may be negative [0]")
    add("--disparities", type=int, metavar="N", help="Number of disparities in the search range [estimated]")
    add("--fps", type=float, default=0.0, metavar="F", help="Largest number of pairs per second [no limit]")
    add("--host", default="127.0.0.1", metavar="ADDRESS", help="Address on which the server listens [127.0.0.1]")
    add("--port", type=int, default=0, metavar="N", help="Port on which the server listens [any free port]")
    add("--paused", action="store_true", help="Start paused at the first pair")


def range_of(arguments: argparse.Namespace) -> tuple[int, int] | None:
    if arguments.disparities is None:
        if arguments.min_disparity:
            raise CallError("--min-disparity requires --disparities; give both, or neither")
        return None
    if arguments.disparities < 1:
        raise CallError(f"--disparities {arguments.disparities} is not allowed; it must be at least 1")
    return arguments.min_disparity, arguments.min_disparity + arguments.disparities


def geometry_of(arguments: argparse.Namespace) -> tuple[Any, Any]:
    """Returns the rig and, for raw pairs, the calibration that rectifies them."""
    if arguments.raw and not arguments.calib:
        raise CallError("--raw requires the calibration of the cameras; give --calib FILE")
    if not arguments.calib:
        return None, None
    how = {"lens": arguments.lens, "scale": arguments.calib_scale}
    if not arguments.raw:
        return _native.Rig.read(arguments.calib, **how), None
    calibration = _native.read_calibration(arguments.calib, **how)
    return calibration.rig, calibration
