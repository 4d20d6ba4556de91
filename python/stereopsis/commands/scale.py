"""The subcommand `scale`: matches large images and many pairs in units of work for many machines."""

import argparse

from ..scale.arguments import add_arguments

__all__ = ["add_arguments", "extra", "help", "run"]

help = "Match large images or many pairs on many machines, in units of work; the result equals that of the whole image"
extra = "scale"


def run(arguments: argparse.Namespace) -> int | None:
    from ..scale import cli

    return cli.run(arguments)
