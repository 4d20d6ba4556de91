"""Bags of ROS 1 and ROS 2 in and out."""

from __future__ import annotations

import argparse
from typing import Any

help = "Matches the pairs of a ROS 1 or ROS 2 bag, and writes disparity, depth and points into another"
extra = "ros"

EXAMPLES = """examples:
  stereopsis bag drive.mcap --list                                what is in it, and which topics are the pair
  stereopsis bag drive/ -o results/ --disparity --points          a rosbag2 folder in, one out
  stereopsis bag drive.bag -o depth.bag --depth --pass '/tf*'     ROS 1, with some of what is in the input
  stereopsis bag drive.mcap --frames pairs/                       the pairs as pictures, and rig.yml

OUT: FILE.mcap, FILE.db3, FILE.bag (ROS 1), else a folder as ros2 bag writes it (--storage).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EXAMPLES
    parser.add_argument("bag", nargs="?", metavar="IN", help=".bag, .mcap, .db3, or a folder that ros2 bag has written")
    parser.add_argument("-o", "--output", metavar="OUT", help="the bag to write")
    parser.add_argument("--list", action="store_true", help="list the topics and the pair that is found, and end")
    parser.add_argument("--frames", metavar="DIR", help="write the pairs as DIR/left, DIR/right and DIR/rig.yml instead")
    parser.add_argument(
        "--for", dest="call", nargs=argparse.REMAINDER, metavar="CALL", help="match, calibrate or evaluate, with IN for pictures"
    )
    _add_pair(parser.add_argument_group("the pair"))
    _add_matching(parser.add_argument_group("matching"))
    _add_results(parser.add_argument_group("results"))


def _add_pair(group: Any) -> None:
    add = group.add_argument
    add("--left", metavar="TOPIC", help="the left images [found by name]")
    add("--right", metavar="TOPIC", help="the right images [found by name]")
    add("--raw", action=argparse.BooleanOptionalAction, help="rectify by camera_info [unless the topic's name has rect]")
    add("--approximate", type=float, default=0.0, metavar="S", help="stamps of a pair differ by up to S seconds [0]")
    add("--queue", type=int, default=30, metavar="N", help="messages of a topic that wait for the others' [30]")


def _add_matching(group: Any) -> None:
    add = group.add_argument
    add("--method", default="sgm", metavar="NAME", help="see stereopsis methods [sgm]")
    add("--pipeline", metavar="FILE", help="pipeline JSON in place of a method")
    add("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter; repeatable")
    add("--device", default="auto", metavar="NAME", help="auto, cpu, cuda[:N] or opencl[:N] [auto]")
    add("--threads", type=int, default=0, metavar="N", help="threads of the CPU [all]")
    add("--in-flight", type=int, default=3, metavar="N", help="number of pairs in flight [3]")
    add("--min-disparity", type=int, default=0, metavar="I", help="lowest disparity of the search range [0]")
    add("--disparities", type=int, metavar="N", help="size of the search range [estimated from the first pair]")
    add("--near", type=float, metavar="Z", help="the nearest depth in metres, in place of --disparities; with --far")
    add("--far", type=float, metavar="Z", help="the furthest depth in metres")
    add("--bit-depth", type=int, default=0, metavar="N", help="significant bits of 16-bit images, 9 to 16 [16]")


def _add_results(group: Any) -> None:
    add = group.add_argument
    add("--disparity", action="store_true", help="NS/disparity, stereo_msgs/DisparityImage [if none is named]")
    add("--depth", action="store_true", help="NS/depth/image_rect and NS/depth/camera_info")
    add("--points", action="store_true", help="NS/points2, sensor_msgs/PointCloud2")
    add("--confidence", action="store_true", help="NS/confidence, 32FC1 from 0 to 1")
    add("--namespace", metavar="NS", help="namespace NS of the topics above [common beginning of the images' topics]")
    add("--millimetres", action="store_true", help="depth as 16UC1, 0 where there is none")
    add("--nan", action="store_true", help="invalid disparities are NaN [min_disparity − 1]")
    add("--unorganised", action="store_true", help="clouds of the valid points alone")
    add("--no-colour", action="store_true", help="clouds without colours")
    add("--pass", dest="passed", action="append", default=[], metavar="TOPIC", help="copy these too, * and ? allowed; repeatable")
    add("--storage", choices=("mcap", "sqlite3"), default="mcap", help="format of OUT if it is a folder [mcap]")
    add("--resume", action="store_true", help="go on with a run that was interrupted")
    add("--report", metavar="FILE", help="counts of messages, pairs, drops and gaps as JSON")
    add("--quiet", action="store_true", help="no progress and no summary")


def run(arguments: argparse.Namespace) -> int:
    from ..ros.bags.run import run as run_bag

    return run_bag(arguments)
