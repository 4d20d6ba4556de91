"""Options that several subcommands have."""

from collections.abc import Callable
from typing import Any


def add_settings(add: Callable[..., Any]) -> None:
    """Adds --set. `add` is the method add_argument of a parser or a group."""
    add(
        "--set",
        action="append",
        default=[],
        metavar="NAME.PARAMETER=VALUE",
        help="Set a parameter (optimisation.p1=10), the stage of a slot (cost.stage=rank) or the list of refinements (refinements=left_right,median); repeatable",
    )


def add_rows(add: Callable[..., Any]) -> None:
    """Adds --align-rows."""
    add("--align-rows", default="auto", metavar="HOW",
        help="Align the rows of the right images before matching: auto (estimated for each pair), off, "
        "OFFSET[,ROLL[,ZOOM[,KEYSTONE]]] in pixels, or a file with such numbers [auto]")  # fmt: skip


def add_tracking(add: Callable[..., Any]) -> None:
    """Adds --track-rig."""
    add("--track-rig", metavar="FILE",
        help="Follow the right camera of a rig that moves: correct its rotation from the pairs, and write the corrected calibration to FILE (.yml)")  # fmt: skip


def add_device(add: Callable[..., Any]) -> None:
    """Adds --device and --threads."""
    add("--device", default="auto", metavar="NAME", help="Device: auto, cpu, cuda[:N] or opencl[:N] [auto]")
    add("--threads", type=int, default=0, metavar="N", help="Number of CPU threads [all]")
