"""The subcommand `view`: a page in the browser on which pairs are matched while the user changes parameters."""

import argparse

from ..view.arguments import add_arguments

__all__ = ["add_arguments", "extra", "help", "run"]

help = "Match live in the browser, and change parameters, region and source during playback"
extra = "view"


def run(arguments: argparse.Namespace) -> int:
    from ..view.run import run as run_viewer

    return run_viewer(arguments)
