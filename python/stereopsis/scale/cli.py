"""Runs the actions of `stereopsis scale`."""

import argparse
import glob
import re
import sys
from pathlib import Path

from .._errors import CallError, FileError
from .._method import pipeline_of
from .._pair_source import PairSource
from . import emit
from .manifest import Job
from .merging import Status, merge
from .options import Options, only_device
from .planning import plan
from .running import run_all, run_shard, run_units
from .settings import Settings

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


OF_ENGINES = {"scheduler": "dask", "ssh": "dask", "sbatch": "slurm", "wait": "slurm"}  # options that only one engine supports


def run(arguments: argparse.Namespace) -> int:
    return {"plan": _plan, "run": _run, "status": _status, "merge": _merge}[arguments.action](arguments)


def given_in(arguments: argparse.Namespace) -> list[str]:
    """Returns the names of the options whose values differ from their defaults."""
    default = arguments.action_parser.get_default
    return [name for name, value in vars(arguments).items() if name not in ("action", "action_parser", "job") and value != default(name)]


def option_of(name: str) -> str:
    return name.upper() if name in ("left", "right") else "--" + name.replace("_", "-")


def check_plan(arguments: argparse.Namespace) -> None:
    given = given_in(arguments)
    unused = [name for name in given if name not in ("emit", "quiet")]
    if unused and arguments.left is None and arguments.pairs is None:
        raise CallError(f"{option_of(unused[0])} applies to a new job, which needs images; give LEFT and RIGHT, or --pairs FILE")
    if arguments.min_disparity is not None and arguments.disparities is None:
        raise CallError("--min-disparity applies to the range of --disparities; give both, or neither")


def check_run(arguments: argparse.Namespace) -> None:
    for name in given_in(arguments):
        if name in OF_ENGINES and arguments.engine != OF_ENGINES[name]:
            raise CallError(f"{option_of(name)} applies to --engine {OF_ENGINES[name]}, and the engine is {arguments.engine}; leave it out")


def _plan(arguments: argparse.Namespace) -> int:
    check_plan(arguments)
    pairs = pairs_of(arguments)
    job = plan(arguments.job, settings_of(arguments, pairs), arguments.replace) if pairs else Job.open(arguments.job)
    if arguments.emit:
        print(emit.emitted(job, arguments.emit))
    elif not arguments.quiet:
        largest = max(unit.memory for unit in job.units)
        kinds = {unit.kind: 0 for unit in job.units}
        for unit in job.units:
            kinds[unit.kind] += 1
        listed = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        levels = len(job.manifest.levels())
        print(f"{len(job.units)} units ({listed}) in {levels} levels, of {largest / 2**30:.2f} GiB at most", file=sys.stderr)
        print(job.manifest.rows, file=sys.stderr)
    return 0


def pairs_of(arguments: argparse.Namespace) -> list[tuple[str, str]]:
    """Returns the files of the left and the right images, from two names, two patterns, or a list."""
    if arguments.pairs is not None:
        return _listed(Path(arguments.pairs))
    if arguments.left is None:
        return []
    if arguments.right is None:
        raise CallError("the right image is missing; give LEFT and RIGHT")
    if not any(map(glob.has_magic, (arguments.left, arguments.right))):
        return [(arguments.left, arguments.right)]
    source = PairSource(arguments.left, arguments.right)
    return [(str(left), str(right)) for left, right in map(source.files, range(len(source)))]


def _listed(file: Path) -> list[tuple[str, str]]:
    """Reads a list of pairs. Names are relative to the folder of the list."""
    try:
        lines = [line.strip() for line in file.read_text().splitlines()]
    except OSError as error:
        raise FileError(f"{file} cannot be read: {error.strerror}") from error
    pairs = []
    for number, line in enumerate(lines, 1):
        if not line or line.startswith("#"):
            continue
        names = [name.strip() for name in re.split(r"[\t,]", line)]
        if len(names) != 2:
            raise CallError(f"{file}, line {number}: '{line}' is not a left and a right image, separated by a tab or a comma")
        pairs.append((str(file.parent / names[0]), str(file.parent / names[1])))
    if not pairs:
        raise CallError(f"{file} has no pairs; each line must have a left and a right image, separated by a tab or a comma")
    return pairs


def settings_of(arguments: argparse.Namespace, pairs: list[tuple[str, str]]) -> Settings:
    pipeline = pipeline_of(arguments)
    if arguments.seed_trust is not None and arguments.seeds is None:
        raise CallError("--seed-trust requires --seeds; add it")
    if arguments.seeds is not None and pipeline.get("seeds.stage") == "none":
        pipeline = pipeline.set("seeds.stage", "seeds")
    disparities = None
    if arguments.disparities is not None:
        low = arguments.min_disparity or 0
        disparities = low, low + at_least(1, "--disparities", arguments.disparities)
    collar = None if arguments.collar is None else at_least(0, "--collar", arguments.collar)
    if pipeline.external is not None and collar is None:
        collar = int(getattr(pipeline.external, "halo", 0))
        print(f"stereopsis: {pipeline.method} in tiles with a halo of {collar} pixels is not exact (--collar, --audit)", file=sys.stderr)
    if arguments.audit and collar is None:
        raise CallError("--audit applies to --collar, and without --collar the result is exact; leave it out")
    return Settings(
        pairs=pairs,
        pipeline=pipeline,
        disparities=disparities,
        coarse=arguments.coarse,
        seeds=arguments.seeds,
        seed_trust=arguments.seed_trust,
        device=only_device(arguments.device or "auto", "units of the plan are computed on one; give the list to scale run"),
        align_rows=arguments.align_rows,
        bit_depth=arguments.bit_depth,
        confidence=arguments.confidence,
        memory=size_of(arguments.mem),
        stripes=arguments.stripes,
        tile=tile_of(arguments.tile),
        collar=collar,
        audit=at_least(0, "--audit", arguments.audit),
        full_hash=arguments.hash == "full",
        compression=arguments.compress,
    )


def at_least(least: int, name: str, value: int) -> int:
    if value < least:
        raise CallError(f"{name} {value} is not allowed; it must be at least {least}")
    return value


def size_of(text: str) -> int:
    """
    >>> size_of("4G"), size_of("1.5M")
    (4294967296, 1572864)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT]?)(?:i?B)?", text, re.IGNORECASE)
    if not found:
        raise CallError(f"--mem {text} is not allowed; it must be a size such as 4G or 900M")
    return int(float(found[1]) * UNITS[found[2].upper()])


def tile_of(text: str | None) -> tuple[int | None, int | None]:
    """Returns the width and the height of a tile."""
    if text is None:
        return None, None
    found = re.fullmatch(r"(\d+)(?:x(\d+))?", text)
    if not found or 0 in (int(found[1]), int(found[2] or 1)):
        raise CallError(f"--tile {text} is not allowed; it must be a size in pixels such as 2048 or 2048x1024")
    return int(found[1]), int(found[2] or found[1])


def _run(arguments: argparse.Namespace) -> int:
    check_run(arguments)
    job = Job.open(arguments.job)
    options = Options(
        engine=arguments.engine,
        workers=at_least(0, "--workers", arguments.workers),
        threads=at_least(0, "--threads", arguments.threads),
        device=arguments.device,
        retries=at_least(0, "--retries", arguments.retries),
        scheduler=arguments.scheduler,
        ssh=tuple(arguments.ssh.split(",")) if arguments.ssh else (),
        sbatch=tuple(arguments.sbatch),
        wait=arguments.wait,
    )
    if arguments.unit:
        made = run_units(job, arguments.unit, options)
    elif arguments.shard is not None:
        made = run_shard(job, *shard_of(arguments.shard), options, arguments.patience, arguments.quiet)
    else:
        made = run_all(job, options, arguments.quiet)
    if not made and not arguments.quiet:
        print("all is there, and whole", file=sys.stderr)
    return 0


def shard_of(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if not found:
        raise CallError(f"--shard {text} is not allowed; it must be I/N, such as 1/8")
    return int(found[1]), int(found[2])


def _status(arguments: argparse.Namespace) -> int:
    status = Status.of(Job.open(arguments.job), arguments.check)
    print(status.as_json() if arguments.json else status)
    return 0


def _merge(arguments: argparse.Namespace) -> int:
    job = Job.open(arguments.job)
    for path in merge(job, Path(arguments.output), arguments.cog, arguments.measured_only):
        print(path)
    return 0
