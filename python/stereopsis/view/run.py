"""Starts the server for a call of `stereopsis view`."""

import argparse
import asyncio
import os
import signal
import sys
import threading
import webbrowser

from .._budget import Budget
from .._errors import CallError
from .._method import pipeline_of
from .._program import end_programs
from .._rows import row_settings
from .._tracking import rig_file
from .arguments import geometry_of, range_of
from .engine import Engine
from .keep import Keeper
from .pairing import Pairing
from .server import Viewer
from .settings import Settings
from .sources import Files, Halves, open_sources


END_SECONDS = 1.5  # pairs that are matched, requests and connections may take longer; nothing of the viewer is then half written


def viewer_of(arguments: argparse.Namespace) -> Viewer:
    how = Pairing(arguments.pair, arguments.strict)
    topics, halves = (arguments.left, arguments.right), Halves(arguments.side_by_side, arguments.top_bottom, arguments.right_first)
    sources = open_sources(arguments.source, arguments.truth, arguments.truth_scale, how, topics, halves)
    if not 0 <= arguments.port < 65536:
        raise CallError(f"--port {arguments.port} is not allowed; it must be 0 to 65535")
    for source in sources:
        if isinstance(source, Files):
            source.bit_depth = arguments.bit_depth
        elif arguments.bit_depth is not None:
            raise CallError(f"--bit-depth applies to image files, and {source.name} has none; leave it out")
    if arguments.seeds:
        if not isinstance(sources[0], Files):
            raise CallError(f"--seeds applies to image files, and {sources[0].name} has none; leave it out")
        sources[0].seeds = sources[0].pairs.files_beside(arguments.seeds)
    if isinstance(sources[0], Files):
        sources[0].read(0)  # an error of reading is reported before the server starts
    rig, calibration = geometry_of(arguments)
    for source in sources if rig is None else []:
        if isinstance(source, Files) and source.remark:
            print(f"stereopsis: {source.remark}", file=sys.stderr)
    pipeline, rows = pipeline_of(arguments), row_settings(arguments.align_rows, "--align-rows")
    settings = Settings(pipeline, arguments.device, arguments.threads, range_of(arguments), fill_depth=arguments.fill_depth,
                        aligns_rows=not rows.is_off, rows=rows.fixed,
                        external=None if pipeline.external is None else pipeline,
                        budget=arguments.budget and Budget(arguments.budget, f"--budget {arguments.budget}"),
                        sized=pipeline if arguments.method or arguments.pipeline or arguments.set else None)  # fmt: skip
    speed = arguments.fps or sources[0].rate
    engine = Engine(sources, settings, rig, calibration, playing=not arguments.paused, speed=speed, track_rig=rig_file(arguments.track_rig, "--track-rig"))
    if settings.budget is not None:
        print(f"stereopsis: {settings.budget.text}: {engine.chosen_first()}", file=sys.stderr)
    return Viewer(engine, Keeper(engine, arguments.calib, arguments.raw), arguments.host, arguments.port)


def run(arguments: argparse.Namespace) -> int:
    viewer = viewer_of(arguments)
    asyncio.run(serve(viewer, arguments.open))
    return 0


class Stop:
    """A signal ends the viewer in an orderly way if that takes at most END_SECONDS, and a second one ends it at once."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._signals = 0
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), self)

    def __call__(self, number: int, frame: object) -> None:
        self._signals += 1
        if self._signals > 1:
            end_now(128 + number)
        self._loop.call_soon_threadsafe(self.asked.set)
        late = threading.Timer(END_SECONDS, end_now, [0])
        late.daemon = True
        late.start()


def end_now(code: int) -> None:
    end_programs()
    os._exit(code)


async def serve(viewer: Viewer, opens: bool) -> None:
    stop = Stop().asked

    def ready(address: str) -> None:
        print(address, flush=True)
        print(f"stereopsis: {'' if opens else 'open this address in a browser; '}Ctrl-C ends the viewer", file=sys.stderr)
        if opens and not webbrowser.open(address):
            print("stereopsis: no browser could be started; open the address yourself", file=sys.stderr)

    await viewer.serve(ready, stop)
