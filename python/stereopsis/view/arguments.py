"""The call: `stereopsis view SOURCE …`."""

from __future__ import annotations

import argparse
from typing import Any

from .. import _native
from .._errors import CallError

EXAMPLES = """sources:
  LEFT RIGHT             two pictures, folders, patterns ('left*.png', left%03d.png), videos or cameras (/dev/video0)
  FOLDER                 with left.* and right.*, or left/ and right/; or a folder of such folders
  FILE or /dev/videoN    one video or camera that has both views side by side
  BAG                    of ROS 1 or 2: .bag, .mcap, .db3, or a folder of ros2 bag
  synth[:SCENE][,WxHxD][,moving]   a generated scene with its exact truth
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EXAMPLES
    add = parser.add_argument
    add("source", nargs="*", metavar="SOURCE", help="source of the pairs (see below) [generated scenes]")
    add("--calib", metavar="FILE", help="calibration, for depth, and with --raw for rectification")
    add("--raw", action="store_true", help="the cameras of --calib are not rectified: do it")
    add("--truth", metavar="FILE", help="the disparity's truth: a file, a folder or a pattern")
    add("--truth-scale", type=float, default=0.0, metavar="S", help="scale of an 8- or 16-bit truth: disparity = value / S")
    add("--pair", choices=["number", "stamp"], metavar="BY", help="both views' pictures are paired by their number or their time: number or stamp [number; of bags stamp]")
    add("--strict", action=argparse.BooleanOptionalAction, help="no picture may be without a partner, and times are all but the same [of files and bags]")
    add("--left", metavar="TOPIC", help="topic of the left images in a bag [found by name]")
    add("--right", metavar="TOPIC", help="topic of the right images in a bag [found by name]")
    add("--bit-depth", type=int, metavar="N", help="significant bits of 16-bit pictures, 9 to 16")
    add("--method", default="sgm", metavar="NAME", help="the method to begin with [sgm]")
    add("--pipeline", metavar="FILE", help="a preset to begin with: pipeline JSON")
    add("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter to begin with; repeatable")
    add("--device", default="auto", metavar="NAME", help="auto, cpu, cuda[:N] or opencl[:N] [auto]")
    add("--threads", type=int, default=0, metavar="N", help="threads of the CPU [all]")
    add("--min-disparity", type=int, default=0, metavar="I", help="lowest disparity of the search range [0]")
    add("--disparities", type=int, metavar="N", help="size of the search range [estimated]")
    add("--fps", type=float, default=0.0, metavar="F", help="at most so many pairs a second [as many as can be]")
    add("--host", default="127.0.0.1", metavar="ADDRESS", help="the address to listen at [127.0.0.1]")
    add("--port", type=int, default=0, metavar="N", help="the port to listen at [any that is free]")
    add("--paused", action="store_true", help="begin with the first pair, paused")


def range_of(arguments: argparse.Namespace) -> tuple[int, int] | None:
    if arguments.disparities is None:
        if arguments.min_disparity:
            raise CallError("--min-disparity is of the range that --disparities gives; give both, or neither")
        return None
    if arguments.disparities < 1:
        raise CallError(f"--disparities {arguments.disparities} is not allowed; it must be at least 1")
    return arguments.min_disparity, arguments.min_disparity + arguments.disparities


def geometry_of(arguments: argparse.Namespace) -> tuple[Any, Any]:
    """The rig, and where the pairs are raw the calibration that rectifies them."""
    if arguments.raw and not arguments.calib:
        raise CallError("--raw needs the cameras; give --calib FILE")
    if not arguments.calib:
        return None, None
    if not arguments.raw:
        return _native.Rig.read(arguments.calib), None
    calibration = _native.read_calibration(arguments.calib)
    return calibration.rig, calibration
