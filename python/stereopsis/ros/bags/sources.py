"""Runs `match`, `check`, `rectify`, `calibrate` and `evaluate` on bags: writes the pairs to a temporary folder and calls the
compiled command with it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from ... import _native
from ..._errors import CallError, FormatError
from ...commands import PROGRAMS
from ..images import array_of
from .discovery import DISPARITY
from .frames import write_frames
from .reading import Bag, is_bag
from .recording import Recording

COMMANDS = ("match", "check", "rectify", "calibrate", "evaluate")


def run_for(words: list[str]) -> int:
    """Runs a command that has a bag among its arguments. Returns its exit code."""
    command, *arguments = words or [""]
    at = next((i for i, word in enumerate(arguments) if not word.startswith("-") and is_bag(Path(word))), None)
    if command not in COMMANDS or at is None:
        raise CallError(f"--for requires a call of {', '.join(COMMANDS)}, with a bag in place of the image files")
    if "--resume" in arguments:
        raise CallError(
            f"--resume cannot be used with the images of a bag, which are temporary; use stereopsis bag {arguments[at]} -o OUT --resume, "
            f"or match the image files that stereopsis bag {arguments[at]} --frames DIR writes"
        )
    with tempfile.TemporaryDirectory(prefix="stereopsis-") as folder:
        before, bag, behind = arguments[:at], Path(arguments[at]), arguments[at + 1 :]
        if command == "evaluate":
            return _evaluated(before, _disparities(bag, Path(folder)), behind)
        recording = _recording(bag)
        count = write_frames(recording, Path(folder))
        if not count:
            raise FormatError(f"'{bag}' has no pair of {recording.topics.left} and {recording.topics.right}")
        return _run([command, *before, *_pictures(command, Path(folder), count, arguments, recording.raw), *behind])


def _recording(bag: Path) -> Recording:
    try:
        return Recording(bag)
    except CallError as error:  # `match` has no options --left and --right for topics
        raise CallError(f"{error}; stereopsis bag {bag} --frames DIR writes them as image files") from error


def _pictures(command: str, folder: Path, count: int, given: list[str], raw: bool) -> list[str]:
    """Returns the arguments that replace the bag."""
    left, right = (str(folder / side) if count > 1 else str(*(folder / side).iterdir()) for side in ("left", "right"))
    if command == "calibrate":
        return ["--left", left, "--right", right]
    if command == "check" or not (folder / "rig.yml").exists() or any(word.startswith(("--calib", "--focal")) for word in given):
        return [left, right]
    if command == "rectify":
        return [left, right, "--calib", str(folder / "rig.yml")]
    has_maps = raw and "M1:" in (folder / "rig.yml").read_text()
    return [left, right, "--calib", str(folder / "rig.yml"), *(["--raw"] if has_maps and "--raw" not in given else [])]


def _disparities(path: Path, folder: Path) -> list[Path]:
    """Writes the disparities of the messages to .npy files. As in the messages, the difference of the principal points is not part of the
    disparity.
    """
    made: list[Path] = []
    with Bag(path) as bag:
        topics = [topic.name for topic in bag.topics.values() if topic.type == DISPARITY]
        if len(topics) != 1:
            raise CallError(f"'{path}' has {len(topics)} topics of disparity images ({', '.join(topics)}); it must have exactly one")
        for raw in bag.messages(topics):
            message = bag.decoded(raw)
            disparity = np.array(array_of(message.image), np.float32)
            disparity[disparity < message.min_disparity] = np.nan
            made.append(folder / f"{len(made):06d}.npy")
            np.save(made[-1], disparity)
    return made


def _evaluated(before: list[str], disparities: list[Path], behind: list[str]) -> int:
    """Pairs each map with its ground truth. `--truth` is a file for one map, or a folder or a pattern with one file for each map.
    """
    words = [*before, *behind]
    at = words.index("--truth") + 1 if "--truth" in words else len(words)
    truths = _native.find_images(words[at]) if at < len(words) else []
    if len(truths) != len(disparities):
        raise CallError(f"the bag has {len(disparities)} disparity images, but --truth names {len(truths)} files; give one file for each")
    for disparity, truth in zip(disparities, truths, strict=True):
        code = _run(["evaluate", str(disparity), *words[:at], str(truth), *words[at + 1 :]])
        if code:
            return code
    return 0


def _run(words: list[str]) -> int:
    package = {**os.environ, "STEREOPSIS_PYTHON": sys.executable}  # it runs networks, programs and cv2
    code = subprocess.run([str(PROGRAMS / "stereopsis"), *words], env=package).returncode
    return code if code >= 0 else 128 - code
