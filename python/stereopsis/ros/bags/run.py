"""Runs `stereopsis bag`: reads pairs from a bag and writes results to another."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from types import FrameType

from ... import _native
from ..._errors import CallError, FormatError
from ..._method import reads_method
from ..._progress import Line
from ..._rows import as_json
from ..pairs import StampedPair
from ..processor import Matched, Processor
from ..products import Messages
from ..results import TOPICS, Results
from ..stamps import shown
from .arguments import call_of, matching_of, products_of, shape_of, storage_of
from .discovery import namespace_of
from .given_cameras import GivenCameras
from .reading import Bag, Raw
from .recording import Recording, say
from .report import listing, report_of, summary_of, write_report
from .segments import Done, Segments
from .writing import BagWriter

PART_SECONDS = 60.0  # largest amount of work that is lost if a run is killed


class Stop:
    """Ctrl-C and SIGTERM end the run after the pairs in flight. A second signal ends the run at once."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = number

    def __enter__(self) -> Stop:
        self._before = {number: signal.signal(number, self) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)


class Run:
    """One call of the command. The run reads the input in order, skips pairs that an earlier run has matched, and matches and writes the
    others.
    """

    def __init__(self, arguments: argparse.Namespace, recording: Recording, stop: Stop) -> None:
        self._recording, self._stop = recording, stop
        self._bag: Bag = recording.bag
        self._products, storage = products_of(arguments), storage_of(arguments)
        namespace = arguments.namespace or namespace_of(recording.topics)
        self._topics = {name: f"{namespace}/{name}" for product in self._products for name in TOPICS[product]}
        self._passed = self._to_pass(arguments.passed, storage)
        self._processor = Processor(matching_of(arguments), self._products, recording.notes)
        self._shape = shape_of(arguments, recording.raw)
        self._segments = Segments(Path(arguments.output), storage, call_of(arguments, recording), arguments.resume)
        self._before = self._segments.done
        self._processor.estimated = self._before.estimated
        self._progress = Line() if sys.stderr.isatty() and not arguments.quiet else None
        self._writer: BagWriter | None = None
        self._messages = self.pairs = 0
        self._written: set[str] = set()  # products with a message
        self.rows: list[dict[str, object]] = []  # the rows of each pair that this run has matched

    @property
    def missing(self) -> list[str]:
        """The products of which neither this run nor the one that it continues has a message."""
        return [] if self._before.pairs else [product for product in self._products if product not in self._written]

    @property
    def failed(self) -> int:
        return self._processor.failed + self._recording.pairing.broken

    def run(self) -> bool:
        """Returns False if a signal ended the run early."""
        self._recording.begin()
        source = self._source()
        while (first := next(source, None)) is not None:
            for matched in self._processor.over(self._part(first, source)):
                self._note_rows(matched)
                results = Results(Messages(self._open().family), self._shape)
                for product in self._products:
                    for topic, kind, message in results.of(matched, product):
                        kind = kind.replace("/", "/msg/")
                        self._open().write(self._topics[topic], kind, matched.pair.received, message)
                        self._written.add(product)
                if self._progress is not None:
                    self._progress(self.pairs, self._recording.length)
            self._close_part()
            if self._stop.asked:
                return False
        if self._segments.is_empty:
            self._open()  # creates a bag even if the input has no pairs
        self._close_part()
        self._segments.assemble()
        return True

    def _note_rows(self, matched: Matched) -> None:
        if matched.result.rows is not None:
            self.rows.append({"stamp": shown(matched.pair.stamp), **(as_json(matched.result.rows) or {})})

    def end(self) -> None:
        if self._progress is not None:
            self._progress.end()
        self._processor.close()
        self._processor.write_rig()

    def _source(self) -> Iterator[StampedPair]:
        """Yields the remaining pairs, and writes the messages to copy along the way."""
        ours = self._recording.topics.all()
        for raw in self._bag.messages([*ours, *self._passed]):
            self._messages += 1
            if raw.stream.topic in self._passed and self._messages > self._before.messages:
                self._pass_on(raw)
            if raw.stream.topic in ours:
                yield from self._new(self._recording.pairs_of(raw))
        yield from self._new(self._recording.end())

    def _new(self, pairs: list[StampedPair]) -> Iterator[StampedPair]:
        for pair in pairs:
            self.pairs += 1
            if self.pairs > self._before.pairs:
                yield pair
            else:
                self._processor.pass_rows(pair)

    def _part(self, first: StampedPair, source: Iterator[StampedPair]) -> Iterator[StampedPair]:
        end = time.monotonic() + PART_SECONDS
        yield first
        while time.monotonic() < end and not self._stop.asked:
            pair = next(source, None)
            if pair is None:
                return
            yield pair

    def _pass_on(self, raw: Raw) -> None:
        self._open().pass_on(raw.stream, raw.time, raw.data, self._bag.typestore)

    def _open(self) -> BagWriter:
        if self._writer is None:
            self._writer = self._segments.open()
        return self._writer

    def _close_part(self) -> None:
        if self._writer is not None:
            self._segments.finish(self._writer, Done(self._messages, self.pairs, self._processor.estimated))
        self._writer = None

    def _to_pass(self, patterns: list[str], storage: str) -> set[str]:
        there = self._bag.topics
        if patterns and self._bag.is_ros1 != (storage == "ros1"):
            ours, theirs = ("ROS 1", "ROS 2") if storage == "ros1" else ("ROS 2", "ROS 1")
            raise CallError(f"--pass copies messages unchanged, but the input is a bag of {theirs} and the output of {ours}; "
                            f"convert the input first (rosbags-convert), or leave --pass out")  # fmt: skip
        passed = set()
        for pattern in patterns:
            found = [name for name in there if fnmatch(name, pattern)]
            if not found:
                raise CallError(f"--pass {pattern} matches no topic of '{self._bag.path}'; there are: {', '.join(there)}")
            passed.update(found)
        twice = sorted(passed & set(self._topics.values()))
        if twice:
            raise CallError(f"{twice[0]} is both a copied topic and a result; choose another --namespace")
        return passed


def run(arguments: argparse.Namespace) -> int:
    if arguments.call is not None:
        from .sources import run_for

        return run_for(arguments.call)
    if arguments.bag is None:
        raise CallError("the bag to read is missing; write `stereopsis bag IN -o OUT`, and see `stereopsis bag --help`")
    if arguments.list:
        print(listing(Path(arguments.bag), arguments.left, arguments.right))
        return 0
    if (arguments.output is None) == (arguments.frames is None):
        raise CallError("the call has no output; give -o OUT (a bag of results), --frames DIR (the pairs as image files), or --list")
    if arguments.frames is not None and arguments.report:
        raise CallError("--report applies to a bag of results (-o OUT), and --frames writes none; leave one of them out")
    if arguments.frames is not None and (arguments.seeds or arguments.seed_depth):
        raise CallError("--seeds and --seed-depth apply to a bag of results (-o OUT), and --frames matches no pair; leave one of them out")
    if arguments.frames is not None and arguments.track_rig:
        raise CallError("--track-rig applies to a bag of results (-o OUT), and --frames matches no pair; leave one of them out")
    if arguments.report and not Path(arguments.report).absolute().parent.is_dir():
        raise CallError(f"--report {arguments.report} is in a folder that does not exist; create it first")
    if arguments.queue < 1:
        raise CallError(f"--queue {arguments.queue} is not allowed; it must be at least 1")
    if not arguments.approximate >= 0:
        raise CallError(f"--approximate {arguments.approximate} is not allowed; it must be at least 0")
    check_files(arguments)
    cameras = GivenCameras.of(arguments)
    recording = Recording(
        arguments.bag, arguments.left, arguments.right, arguments.raw, arguments.approximate, arguments.queue,
        cameras=None if cameras is None else cameras.of_size, seeds=arguments.seeds, seed_depth=arguments.seed_depth,
    )  # fmt: skip
    if arguments.frames is not None:
        from .frames import write_frames

        write_frames(recording, Path(arguments.frames))
        return 0
    with Stop() as stop:
        work = Run(arguments, recording, stop)
        try:
            done = work.run()
        finally:
            work.end()
    report = report_of(recording, work.pairs, work.failed, work.rows)
    if arguments.report:
        write_report(Path(arguments.report), report)
    if not arguments.quiet:
        for line in summary_of(report):
            say(line)
    if not done:
        say(f"{work.pairs} pairs are done; continue with --resume")
        return 128 + stop.asked
    if work.missing:
        raise FormatError(why_missing(recording, work.pairs, arguments.output, " and no ".join(work.missing)))
    return 0


def check_files(arguments: argparse.Namespace) -> None:
    """Raises CallError if a result is an input or another result."""
    files, bag = _native.CallFiles(), Path(arguments.bag)
    for file in sorted(bag.iterdir()) if bag.is_dir() else [bag]:
        files.reads(file, "the bag")
    for file in arguments.calib:
        files.reads(file, "--calib")
    if arguments.register_to not in (None, "raw"):
        files.reads(arguments.register_to, "--register-to")
    reads_method(files, arguments)
    files.writes(arguments.output or arguments.frames, "-o" if arguments.output else "--frames")
    for file, option in ((arguments.report, "--report"), (arguments.track_rig, "--track-rig")):
        if file:
            files.writes(file, option)


def why_missing(recording: Recording, pairs: int, output: str, missing: str) -> str:
    """Returns the sentence for a run without a result."""
    left, right = recording.topics.images
    because = f"'{output}' has no {missing}, because"
    if pairs:
        return f"{because} none of the {pairs} pairs of '{recording.bag.path}' has it; the messages above say why"
    nearest = recording.pairing.images.nearest
    if nearest:
        return (
            f"{because} '{recording.bag.path}' has no pair of {left} and {right} with equal time stamps; the nearest ones differ by {nearest / 1e6:g} ms; "
            f"give --approximate {1.25 * nearest / 1e9:.3g}"
        )
    return f"{because} '{recording.bag.path}' has no usable pair of {left} and {right}; see the messages above, and list its topics with --list"
