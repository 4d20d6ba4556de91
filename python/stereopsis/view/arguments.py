"""The command-line options of `stereopsis view SOURCE …`."""

import argparse
from typing import Any

from .._arguments import add_device, add_rows, add_settings, add_tracking
from .. import _native
from .._errors import CallError

EXAMPLES = """Sources:
  LEFT RIGHT              Two images, folders, patterns ('left*.png',
                          left%03d.png), videos or cameras (/dev/video0)
  FOLDER                  A folder with left.* and right.*, or with left/ and
                          right/; or a folder of such folders
  LIST                    A list of pairs (.csv), as for `match`
  IMAGES                  With --side-by-side or --top-bottom: pictures that
                          hold both views; without them, a file with two
                          pictures (MPO, TIFF) or a JPS
  FILE or /dev/videoN     One video or camera that has both views side by side
  BAG                     A bag of ROS 1 or 2: .bag, .mcap, .db3, or a folder of
                          ros2 bag
  synth[:SCENE][,WxHxD][,moving]
                          A generated scene with its exact ground truth
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    add = parser.add_argument
    add("source", nargs="*", metavar="SOURCE", help="Source of the pairs (see below) [generated scenes]")
    add("--calib", metavar="FILE", help="Calibration for computing depth, and for rectifying the pairs with --raw")
    add("--calib-scale", type=float, default=1.0, metavar="S",
        help="Ratio of the image width to the width for which --calib was computed, if the images were scaled [1]")
    add("--lens", default="", metavar="MODEL",
        help="Lens model, for a calibration file that does not name one: radtan or equidistant [from the file]")
    add("--raw", action="store_true", help="Rectify raw pairs with the calibration of --calib")
    add("--fill-depth", action="store_true", help="Include filled and repaired pixels in depth and points [measured pixels only]")
    add("--truth", metavar="FILE", help="Ground truth of the disparity: a file, a folder or a pattern")
    add("--truth-scale", type=float, default=0.0, metavar="S", help="Scale of an 8- or 16-bit ground truth: disparity = stored value / S")
    add("--seeds", metavar="FILE", help="Disparities of the left image that are known beforehand: a file, a folder or a pattern, as for `match`")
    add("--pair", choices=["number", "stamp"], metavar="BY",
        help="Pairing of the two views: number (by frame number) or stamp (by nearest time stamp) [number; stamp for bags]")
    add("--strict", action=argparse.BooleanOptionalAction,
        help="Fail if an image has no partner, or if the times of a pair differ noticeably [default for files and bags]")
    add("--side-by-side", action="store_true", help="Read both views from one source: the left half of each picture is the left view")
    add("--top-bottom", action="store_true", help="Read both views from one source: the upper half of each picture is the left view")
    add("--right-first", action="store_true", help="Exchange the views of files that hold both: halves of a picture, MPO, JPS, TIFF")
    add("--left", metavar="TOPIC", help="Topic of the left images in a bag [found by name]")
    add("--right", metavar="TOPIC", help="Topic of the right images in a bag [found by name]")
    add("--bit-depth", type=int, metavar="BITS", help="Number of significant low-order bits in 16-bit images, 9 to 16 [from the file]")
    add("--method", metavar="NAME", help="Method to start with; onnx:FILE or program:'CMD {left} {right} {out}' joins the list of methods [sgm]")
    add("--pipeline", metavar="FILE", help="JSON file of the pipeline to start with, instead of --method")
    add_settings(add)
    add("--budget", metavar="TIME", help="Start with the method and the size of the images that match a pair within this time, such as 30ms, with the fewest errors, as for `match`")
    add_device(add)
    add_rows(add)
    add_tracking(add)
    add("--min-disparity", type=int, default=0, metavar="N", help="Lowest disparity of the search range, which may be negative [0]")
    add("--disparities", type=int, metavar="N", help="Number of disparities in the search range [estimated]")
    add("--fps", type=float, default=0.0, metavar="F", help="Largest number of pairs per second [no limit]")
    add("--host", default="127.0.0.1", metavar="ADDRESS", help="Address on which the server listens [127.0.0.1]")
    add("--port", type=int, default=0, metavar="N", help="Port on which the server listens [any free port]")
    add("--open", action="store_true", help="Open the page in the browser")
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
