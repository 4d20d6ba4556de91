"""The options --method, --pipeline and --set, which all subcommands that match pairs share."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import _native
from ._errors import CallError
from ._pipeline import Pipeline


def reads_method(files: _native.CallFiles, arguments: argparse.Namespace) -> None:
    """Adds the file of the pipeline or of the network to the inputs of a call."""
    if arguments.pipeline:
        files.reads(arguments.pipeline, "--pipeline")
        return
    for file in files_of_method(arguments.method):
        files.reads(file, "--method")


def files_of_method(name: str) -> list[Path]:
    """Returns the files of a network: the network, and its description beside it. Other methods have none."""
    kind, _, file = name.partition(":")
    return [Path(file), Path(file).with_suffix(".json")] if kind == "onnx" and Path(file).name else []


def pipeline_of(arguments: argparse.Namespace) -> Pipeline:
    """Returns the pipeline that the options describe. Raises CallError, and FileError and FormatError for a pipeline file."""
    pipeline = Pipeline.read(arguments.pipeline) if arguments.pipeline else Pipeline(arguments.method or "sgm")
    aliases: list[str] = []
    for given in arguments.set:
        name, equals, value = given.partition("=")
        if not equals:
            raise CallError(f"--set {given} is not allowed; it must be NAME=VALUE")
        aliases += [f"{name} is {full}" for full in [pipeline.full_name(name)] if full != name]
        pipeline.set_text(name, value)
    if aliases:
        what = ", ".join(aliases)
        print(f"stereopsis: --set: {what}; lists of parameters and pipeline files have the names SLOT.PARAMETER", file=sys.stderr)
    return pipeline
