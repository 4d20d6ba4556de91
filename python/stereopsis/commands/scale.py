"""Large images and many pairs, in units of work for many machines."""

from __future__ import annotations

import argparse
from typing import Any

help = "Cuts large pairs, or many, into units of work for many machines, with the bits of the whole image"
extra = "scale"

EXAMPLES = """examples:
  stereopsis scale plan job/ left.tif right.tif --disparities 128 --mem 4G      what is to be done, into job/manifest.json
  stereopsis scale run job/ --engine dask --workers 8                           makes what is absent or damaged
  stereopsis scale status job/                                                  how far it is
  stereopsis scale merge job/ -o disparity.tif                                  one tiled GeoTIFF
  stereopsis scale plan job/ --emit make > job.mk; make -j 8 -f job.mk          by another engine
  stereopsis scale plan job/ 'left/*.png' 'right/*.png' --disparities 128       many pairs

JOB is a folder that all workers see. LEFT and RIGHT are GeoTIFF, VRT, Zarr, PNG and what else GDAL opens, of 8 or 16 bits or real.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EXAMPLES
    parser.add_argument("action", choices=("plan", "run", "status", "merge"), metavar="ACTION", help="plan, run, status or merge")
    parser.add_argument("job", metavar="JOB", help="the job's folder")
    parser.add_argument("left", nargs="?", metavar="LEFT", help="plan: the left image, or a pattern of many in quotes")
    parser.add_argument("right", nargs="?", metavar="RIGHT", help="plan: the right image, or a pattern of as many")
    _add_planning(parser.add_argument_group("plan: what is matched"))
    _add_cutting(parser.add_argument_group("plan: how it is cut"))
    _add_running(parser.add_argument_group("run"))
    _add_results(parser.add_argument_group("status and merge"))


def _add_planning(group: Any) -> None:
    add = group.add_argument
    add("--pairs", metavar="FILE", help="a line for each pair: its left and its right image, with a tab or a comma between")
    add("--method", default="sgm", metavar="NAME", help="see stereopsis methods [sgm]")
    add("--pipeline", metavar="FILE", help="pipeline JSON in place of a method")
    add("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter; repeatable")
    add("--min-disparity", type=int, default=0, metavar="I", help="of the search range, may be negative [0]")
    add("--disparities", type=int, metavar="N", help="how many are searched")
    add("--coarse", type=int, default=0, metavar="F", help="find the range on images reduced F times; of tiles each its own")
    add("--bit-depth", type=int, default=0, metavar="N", help="of images whose 16 bits hold fewer: 9 to 16")
    add("--confidence", action="store_true", help="a map of confidence too")
    add("--compress", choices=("zstd", "none"), default="zstd",
        help="maps between units; none takes three times the bytes, and less time where the disk is near [zstd]")  # fmt: skip
    add("--hash", choices=("quick", "full"), default="quick", help="how inputs are known again: by samples, or by all bytes [quick]")


def _add_cutting(group: Any) -> None:
    add = group.add_argument
    add("--mem", default="4G", metavar="SIZE", help="memory of a worker, as 4G or 900M; pieces are as large as it allows [4G]")
    add("--stripes", type=int, metavar="N", help="of semi-global matching [as --mem allows, and 32 of large images]")
    add("--tile", metavar="W[xH]", help="pixels of a tile; in sweeps, the columns of one [by --mem]")
    add("--collar", type=int, metavar="N", help="semi-global matching in tiles with N pixels around: faster to spread, and not exact")
    add("--audit", type=int, default=0, metavar="K", help="with --collar: K seams again with twice of it, to tell how many pixels differ [0]")
    add("--emit", choices=("list", "make", "slurm", "parallel"), help="print the units as a list of commands, or for that engine")
    add("--replace", action="store_true", help="of another job in JOB: what it has made is made anew")


def _add_running(group: Any) -> None:
    add = group.add_argument
    add("--unit", type=int, action="append", default=[], metavar="N", help="this one alone, and what it needs; repeatable")
    add("--shard", metavar="I/N", help="every N-th unit, from the I-th on; waits for what other shards make")
    add("--patience", type=float, default=3600.0, metavar="S", help="of a shard: seconds without news before it gives up [3600]")
    add("--engine", choices=("local", "dask", "slurm", "parallel"), default="local", help="who runs the units [local]")
    add("--workers", type=int, default=0, metavar="N", help="units at a time [1; slurm: as many as it has room for]")
    add("--threads", type=int, default=0, metavar="N", help="of each worker [the machine's, shared out]")
    add("--device", metavar="NAME", help="plan and run: auto, cpu, cuda[:N] or opencl[:N] [auto; of the plan]")
    add("--retries", type=int, default=3, metavar="N", help="how often a unit that fails is begun again [3]")
    add("--scheduler", metavar="ADDRESS", help="dask: of a scheduler that is there, or the file that it writes")
    add("--ssh", metavar="HOSTS", help="dask: hosts, with commas: of the scheduler, then those to start --workers on each, by ssh without a password")
    add("--sbatch", action="append", default=[], metavar="OPTION", help="slurm: an option more, as --sbatch=--partition=long; repeatable")
    add("--wait", action="store_true", help="slurm: end when the arrays have")
    add("--quiet", action="store_true", help="no progress")


def _add_results(group: Any) -> None:
    add = group.add_argument
    add("--json", action="store_true", help="status: as JSON")
    add("--check", action="store_true", help="status: read all that was made, to find what is damaged")
    add("-o", "--output", metavar="FILE", help="merge: the GeoTIFF; FILE.validity.tif comes beside it; of many pairs a folder")
    add("--cog", action="store_true", help="merge: cloud-optimised, with overviews")


def run(arguments: argparse.Namespace) -> int | None:
    from ..scale import cli

    return cli.run(arguments)
