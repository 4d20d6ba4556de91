"""The subcommand `bag`: reads and writes bags of ROS 1 and ROS 2."""

import argparse
from typing import Any

from .._arguments import add_device, add_rows, add_settings, add_tracking

help = "Match the pairs of a ROS 1 or ROS 2 bag, and write disparity, depth and points to another bag"
extra = "ros"

EXAMPLES = """Examples:
  stereopsis bag drive.mcap --list                             list the topics
  stereopsis bag drive/ -o results/ --disparity --points       a rosbag2 folder
  stereopsis bag drive.bag -o depth.bag --depth --pass '/tf*'  ROS 1
  stereopsis bag drive.mcap --frames pairs/                    write image files

OUT is FILE.mcap, FILE.db3, FILE.bag (ROS 1), or the name of a folder in the
layout of ros2 bag (see --storage).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.add_argument("bag", nargs="?", metavar="IN", help="Bag to read: .bag, .mcap, .db3, or a folder written by ros2 bag")
    parser.add_argument("-o", "--output", metavar="OUT", help="Bag to write")
    parser.add_argument("--list", action="store_true", help="List the topics and the stereo pair found among the topics, and exit")
    parser.add_argument("--frames", metavar="DIR", help="Write the pairs to DIR/left, DIR/right and DIR/rig.yml instead of matching them")
    parser.add_argument(
        "--for", dest="call", nargs=argparse.REMAINDER, metavar="CALL", help="Run match, check, rectify, calibrate or evaluate with a bag in place of image files"
    )
    _add_pair(parser.add_argument_group("The pair"))
    _add_matching(parser.add_argument_group("Matching"))
    _add_results(parser.add_argument_group("Results"))


def _add_pair(group: Any) -> None:
    add = group.add_argument
    add("--left", metavar="TOPIC", help="Topic of the left images [found by name]")
    add("--right", metavar="TOPIC", help="Topic of the right images [found by name]")
    add("--raw", action=argparse.BooleanOptionalAction,
        help="Rectify the pairs with camera_info [if the names of the image topics do not contain rect]")
    add("--calib", action="append", default=[], metavar="FILE", help="Calibration to use in place of camera_info; repeatable, for one file for each camera")
    add("--calib-scale", type=float, metavar="S", help="Ratio of the image width to the width for which --calib was computed [1]")
    add("--lens", default="", metavar="MODEL", help="Lens model, for a calibration file that does not name one: radtan or equidistant [from the file]")
    add("--focal", type=float, metavar="PX", help="Focal length of the rectified pairs, in pixels; --focal and --baseline together replace --calib")
    add("--baseline", metavar="LENGTH", help="Baseline, such as 12cm, or a number in metres")
    add("--approximate", type=float, default=0.0, metavar="SECONDS", help="Largest difference of the time stamps of a pair, in seconds [0]")
    add("--queue", type=int, default=30, metavar="N", help="Queue length per topic, in messages [30]")


def _add_matching(group: Any) -> None:
    add = group.add_argument
    add("--method", default="sgm", metavar="NAME", help="Name of a method or preset; `stereopsis methods` lists them; onnx:FILE; or program:'CMD {left} {right} {out}' [sgm]")
    add("--pipeline", metavar="FILE", help="JSON file of the pipeline to use instead of --method")
    add_settings(add)
    add_device(add)
    add("--in-flight", type=int, default=3, metavar="N", help="Number of pairs in flight at a time [3]")
    add("--min-disparity", type=int, default=0, metavar="N", help="Lowest disparity of the search range, which may be negative [0]")
    add("--disparities", type=int, metavar="N", help="Number of disparities in the search range [estimated from the first pair]")
    add("--near", metavar="Z", help="Nearest depth, such as 80cm, or a number in metres; --near and --far give the search range in place of --disparities")
    add("--far", metavar="Z", help="Farthest depth, such as 5m, or a number in metres; required by --near")
    add_rows(add)
    add_tracking(add)
    seeds = group.add_mutually_exclusive_group().add_argument
    seeds("--seed-previous", action="store_true",
        help="The disparities of the pair before guide each pair, which reduces flicker")
    seeds("--seeds", metavar="TOPIC", help="Topic of disparities that are known beforehand (32FC1 Image or DisparityImage), of the rectified left images")
    seeds("--seed-depth", metavar="TOPIC", help="Topic of depth that is known beforehand (Image), as seen in the rectified left images")
    add("--bit-depth", type=int, default=0, metavar="BITS", help="Number of significant low-order bits in 16-bit images, 9 to 16 [16]")


def _add_results(group: Any) -> None:
    add = group.add_argument
    add("--disparity", action="store_true",
        help="Write NS/disparity as stereo_msgs/DisparityImage [written if no other result is selected]")
    add("--depth", action="store_true", help="Write NS/depth/image_rect and NS/depth/camera_info, with the depth of measured pixels")
    add("--points", action="store_true", help="Write NS/points2 as sensor_msgs/PointCloud2, with the points of measured pixels")
    add("--confidence", action="store_true", help="Write NS/confidence as 32FC1 images with values from 0 to 1")
    add("--register-to", metavar="FILE",
        help="Write NS/depth_registered, the depth from another view: FILE with the lens and pose of a camera, or the word raw for the "
        "unrectified left camera")
    add("--register-frame", metavar="FRAME",
        help="frame_id of NS/depth_registered; required if --register-to names a FILE [frame_id of the left images]")
    add("--fill-depth", action="store_true", help="Include filled and repaired pixels in depth and points")
    add("--measured-only", action="store_true", help="Mark filled and repaired pixels as invalid in NS/disparity")
    add("--namespace", metavar="NS", help="Namespace NS of the written topics [common beginning of the names of the image topics]")
    add("--millimetres", action="store_true", help="Write the depth as 16UC1 in millimetres, with 0 for invalid pixels [32FC1 in metres]")
    add("--nan", action="store_true", help="Write invalid disparities as NaN [min_disparity − 1]")
    add("--unorganised", action="store_true", help="Write clouds of the valid points only [one point per pixel]")
    add("--no-color", "--no-colour", action="store_true", help="Write clouds without colours")
    add("--pass", dest="passed", action="append", default=[], metavar="TOPIC",
        help="Copy this topic from IN to OUT; * and ? are wildcards; repeatable")
    add("--storage", choices=("mcap", "sqlite3"), default="mcap", help="Format of OUT if it is a folder: mcap or sqlite3 [mcap]")
    add("--resume", action="store_true", help="Continue a run that was interrupted")
    add("--report", metavar="FILE.json", help="Write the numbers of messages, pairs, dropped messages and gaps, and the rows of each pair, as JSON")
    add("--quiet", action="store_true", help="Suppress the summary and progress")


def run(arguments: argparse.Namespace) -> int:
    from ..ros.bags.run import run as run_bag

    return run_bag(arguments)
