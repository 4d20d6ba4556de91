"""The subcommand `tune`: searches the method and the parameters that suit pairs of the user."""

import argparse

from .._arguments import add_device

__all__ = ["add_arguments", "extra", "help", "meant", "run"]

help = "Search the method and parameters that suit your pairs, within a time limit per pair"
extra = "tune"
meant = {**dict.fromkeys(["--budget", "--time", "--duration", "--timeout", "--seconds", "--hours"], "--minutes"), "--time-limit": "--limit"}

EXAMPLES = """Examples:
  stereopsis tune --dataset scenes/ -o tuned/               scenes with truth
  stereopsis tune left/ right/ -o tuned/ --limit 50         50 ms a pair
  stereopsis tune --dataset scenes/ -o tuned/ --trials 400  continue the first
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    add = parser.add_argument
    add("source", nargs="*", metavar="SOURCE", help="Pairs without ground truth: LEFT RIGHT (images, folders or patterns), or a folder with both views")
    add("--dataset", metavar="DIR", help="Folder of scenes with ground truth: all subfolders with a dataset.json, at any depth")
    add("-o", "--output", metavar="DIR", required=True, help="Folder for the trials and the results; a search in it is continued")
    add("--limit", type=float, metavar="MS", help="Largest time per pair on this device, in milliseconds [no limit]")
    add("--trials", type=int, default=100, metavar="N", help="Number of trials, those of earlier calls included [100]")
    add("--minutes", type=float, metavar="T", help="Largest duration of this call; a trial that was begun is finished [no limit]")
    add("--methods", action="append", metavar="NAMES",
        help="Methods to try, with commas, or all; also FILE.json of a pipeline, onnx:FILE, and program:CMD (in an option of its own), whose "
        "refinements are searched; opencv or opencv:3WAY is scored beside the result; repeatable "
        "[sgm,sgm-learned,sgm-learned-fast; without ground truth: sgm]")
    add("--proxy", choices=["reference", "views", "photometric", "mean"], default="reference", metavar="NAME",
        help="Score of pairs without ground truth: reference (agreement with sgm-learned), views (agreement of both views), photometric, or mean "
        "(of reference and views) [reference]")
    add("--pairs", type=int, default=12, metavar="N", help="Largest number of pairs without ground truth, spread over the sequence [12]")
    add("--min-disparity", type=int, default=0, metavar="N", help="Lowest disparity of the search range of pairs, which may be negative [0]")
    add("--disparities", type=int, metavar="N", help="Number of disparities in the search range of pairs [estimated]")
    add("--bit-depth", type=int, metavar="BITS", help="Number of significant low-order bits in 16-bit images [from the file]")
    add_device(add)
    add("--quiet", action="store_true", help="Suppress progress")


def run(arguments: argparse.Namespace) -> int:
    from ..tune.run import run as run_search

    return run_search(arguments)
