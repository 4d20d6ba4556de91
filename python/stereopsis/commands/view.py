"""A page in the browser where pairs are matched while their parameters change."""

from __future__ import annotations

import argparse

from ..view.arguments import add_arguments

__all__ = ["add_arguments", "extra", "help", "run"]

help = "Matches live in the browser: parameters, regions and sources change while images run"
extra = "view"


def run(arguments: argparse.Namespace) -> int:
    from ..view.run import run as run_viewer

    return run_viewer(arguments)
