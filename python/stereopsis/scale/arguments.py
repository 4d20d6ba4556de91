"""The command-line options of `stereopsis scale`: one parser for each action."""

import argparse

from .._arguments import add_rows, add_settings

EXAMPLES = """Examples:
  stereopsis scale plan job/ left.tif right.tif --disparities 128 --mem 4G
  stereopsis scale run job/ --engine dask --workers 8
  stereopsis scale status job/
  stereopsis scale merge job/ -o disparity.tif
  stereopsis scale plan job/ --emit make > job.mk; make -j 8 -f job.mk
  stereopsis scale plan job/ 'left/*.png' 'right/*.png' --disparities 128
"""

PLAN = "Divide pairs into units of work, and write the list to JOB/manifest.json"
RUN = "Compute the units that are missing or damaged"
STATUS = "Show how many units are done"
MERGE = "Write the finished units to one tiled GeoTIFF"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the four actions to `parser`. In the parsed arguments, `action` is the chosen action and `action_parser` is its parser."""
    parser.epilog = EXAMPLES
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, title="Actions")
    for name, summary, add in (
        ("plan", PLAN, _add_plan),
        ("run", RUN, _add_run),
        ("status", STATUS, _add_status),
        ("merge", MERGE, _add_merge),
    ):
        action = actions.add_parser(name, help=summary, description=summary + ".", allow_abbrev=False)
        action.set_defaults(action_parser=action)
        action.add_argument("job", metavar="JOB", help="Folder of the job, which all workers can read and write")
        add(action)
        action.add_argument("--quiet", action="store_true", help="Suppress the summary and progress")


def _add_plan(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("left", nargs="?", metavar="LEFT", help="Left image (GeoTIFF, VRT, Zarr, PNG or another format of GDAL), or a pattern in quotes; large images are read by windows, "
        "and other inputs of `match`, such as videos, are not supported; black regions at the border are matched, because finding them requires the "
        "whole image: set a no-data value")
    parser.add_argument("right", nargs="?", metavar="RIGHT", help="Right image, or a pattern that matches as many files")
    _add_matching(parser)
    _add_division(parser)


def _add_matching(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("Matching").add_argument
    add("--pairs", metavar="FILE", help="List of pairs: a left and a right image in each line, separated by a tab or a comma")
    add("--method", default="sgm", metavar="NAME", help="Name of a method or preset; `stereopsis methods` lists them; or onnx:FILE, whose tiles are not exact [sgm]")
    add("--pipeline", metavar="FILE", help="JSON file of the pipeline to use instead of --method")
    add_settings(add)
    add("--min-disparity", type=int, metavar="N", help="Lowest disparity of the search range, which may be negative [0]")
    add("--disparities", type=int, metavar="N", help="Number of disparities in the search range")
    add("--seeds", metavar="FILE", help="Disparities of the left image that are known beforehand, as a float32 image of the pair's size, NaN or no data where unknown")
    add("--seed-trust", metavar="FILE", help="Trust in each seed, 0 to 1, as a float32 image [1]")
    add("--coarse", type=int, default=0, metavar="F", help="Find a search range for each tile on images reduced by the factor F")
    add("--bit-depth", type=int, default=0, metavar="BITS", help="Number of significant low-order bits in 16-bit images, 9 to 16 [from the file]")
    add_rows(add)
    add("--confidence", action="store_true", help="Write a confidence map")
    add("--device", metavar="NAME", help="Device: auto, cpu, cuda[:N] or opencl[:N] [auto]")
    add("--compress", choices=("zstd", "none"), default="zstd",
        help="Compression of intermediate maps: zstd, or none (three times the bytes, but faster on a fast disk) [zstd]")  # fmt: skip
    add("--hash", choices=("quick", "full"), default="quick",
        help="Detect changed inputs by samples (quick) or by all bytes (full) [quick]")


def _add_division(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("Division into units").add_argument
    add("--mem", default="4G", metavar="SIZE", help="Memory of a worker, such as 4G or 900M, which limits the size of the units [4G]")
    add("--stripes", type=int, metavar="N", help="Number of stripes for semi-global matching [as many as --mem requires, and 32 for tall images]")
    add("--tile", metavar="W[xH]", help="Width and height of a tile in pixels; without --collar, semi-global matching uses only the width [as large as --mem allows]")
    add("--collar", type=int, metavar="N", help="Match in tiles that overlap by N pixels on each side, which is faster but not exact")
    audit = "With --collar: match K borders between tiles again with twice the overlap, and count the pixels that differ [0]"
    add("--audit", type=int, default=0, metavar="K", help=audit)
    add("--emit", choices=("list", "make", "slurm", "parallel"),
        help="Format of the printed units: list (one command per line), make, slurm or parallel")
    add("--replace", action="store_true", help="Replace the existing job in JOB, and discard its results")


def _add_run(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--unit", type=int, action="append", default=[], metavar="N", help="Compute unit N and the units that it requires; repeatable")
    add("--shard", metavar="I/N", help="Compute every N-th unit, starting with the I-th, and wait for units of other shards")
    add("--patience", type=float, default=3600.0, metavar="SECONDS", help="Seconds that a shard waits without progress before it fails [3600]")
    add("--engine", choices=("local", "dask", "slurm", "parallel"), default="local", help="Engine that runs the units [local]")
    add("--workers", type=int, default=0, metavar="N", help="Number of units that run at the same time [1 for each device; slurm: no limit]")
    add("--threads", type=int, default=0, metavar="N", help="Number of threads of each worker [the machine's cores, divided among its workers]")
    device = "Device: auto, cpu, cuda[:N] or opencl[:N]; with the local engine also a list with commas, or cuda:* [the device of the plan]"
    add("--device", metavar="NAME", help=device)
    add("--retries", type=int, default=3, metavar="N", help="Number of retries of a failed unit [3]")
    add("--scheduler", metavar="ADDRESS", help="dask: address or scheduler file of a running scheduler")
    add("--ssh", metavar="HOSTS",
        help="dask: hosts separated by commas: the first host runs the scheduler, each other host runs --workers workers")
    add("--sbatch", action="append", default=[], metavar="OPTION",
        help="slurm: additional option of sbatch, such as --sbatch=--partition=long; repeatable")
    add("--wait", action="store_true", help="slurm: wait until the job arrays have ended")


def _add_status(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="Print JSON")
    parser.add_argument("--check", action="store_true", help="Read all results to find damaged ones")


def _add_merge(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", metavar="FILE", required=True,
                        help="GeoTIFF to write, with the validity in FILE.validity.tif; for many pairs, a folder")  # fmt: skip
    parser.add_argument("--measured-only", action="store_true", help="Mark filled and repaired pixels as invalid in the disparity map")
    parser.add_argument("--cog", action="store_true", help="Write a cloud-optimised GeoTIFF with overviews")
