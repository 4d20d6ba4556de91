"""Programs as methods: `--method program:'CMD {left} {right} {out}'`."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native, _options
from ._errors import CallError, Error, FormatError, UnsupportedError
from ._external import grey, one_line

Array = Any
Floats = npt.NDArray[np.float32]
PLACE = re.compile(r"\{(left|right|out)(\.\w+)?\}|\{(first|end|disparities)\}")
SUFFIXES = {"left": ".png", "right": ".png", "out": ".pfm"}
IMAGES = (".png", ".pgm", ".ppm")
OUTPUTS = (".pfm", ".npy", ".png", ".tiff")


_programs: set[subprocess.Popen[str]] = set()  # the programs that run now
_folders: set[str] = set()  # their temporary folders


def end_programs() -> None:
    """Ends all programs that run now, and removes their files, before this process ends."""
    for program in list(_programs):
        _end(program)
    for folder in list(_folders):
        shutil.rmtree(folder, ignore_errors=True)


def _end(program: subprocess.Popen[str]) -> None:
    """Ends a program and all that it has started, if it still runs."""
    _programs.discard(program)
    if program.poll() is None:
        with contextlib.suppress(OSError):
            os.killpg(program.pid, signal.SIGKILL)


@contextlib.contextmanager
def _running_in(folder: str) -> Iterator[None]:
    _folders.add(folder)
    try:
        yield
    finally:
        _folders.discard(folder)


class ProgramMethod:
    """A program as a method: it reads two image files and writes a disparity map.

    command   the program with its arguments, in which the following words are replaced:
              {left}, {right}   image files, PNG; {left.ppm} and {left.pgm} are PPM and grey PGM
              {out}             disparity map that the program writes, PFM; {out.png} is a 16-bit PNG with 256 · disparity, {out.npy} and
                                {out.tiff} are floats
              {first}, {end}, {disparities}   lowest disparity of the search range, its end, and their difference

    No shell is involved. An exit code other than 0, or a signal, raises Error with the last line of the program's stderr.

    >>> import stereopsis as st
    >>> st.ProgramMethod("elas {left.pgm} {right.pgm} {out}").name
    'program:elas'
    """

    def __init__(self, command: str) -> None:
        self._words = shlex.split(_options.text("command", command))
        used = [found for word in self._words for found in PLACE.finditer(word)]
        for name in SUFFIXES:
            if not any(found[1] == name for found in used):
                raise CallError(f"the command '{command}' has no {{{name}}}; write 'CMD {{left}} {{right}} {{out}}'")
        for found in used:
            allowed = OUTPUTS if found[1] == "out" else IMAGES
            if found[2] and found[2] not in allowed:
                raise CallError(f"{found[0]} is not a known format; use {', '.join(f'{{{found[1]}{suffix}}}' for suffix in allowed)}")
        self.text = f"program:{command}"
        self.name = f"program:{Path(self._words[0]).name}"

    def __call__(self, left: Array, right: Array, disparities: tuple[int, int]) -> Floats:
        with tempfile.TemporaryDirectory() as folder, _running_in(folder):
            images, out, words = {"left": left, "right": right}, Path(folder), []
            numbers = {"first": disparities[0], "end": disparities[1], "disparities": disparities[1] - disparities[0]}

            def placed(found: re.Match[str]) -> str:
                nonlocal out
                if found[3]:
                    return str(numbers[found[3]])
                file = Path(folder) / f"{found[1]}{found[2] or SUFFIXES[found[1]]}"
                if found[1] == "out":
                    out = file
                else:
                    write_picture(file, images[found[1]])
                return str(file)

            for word in self._words:
                words.append(PLACE.sub(placed, word))
            self._run(words)
            if not out.is_file():
                raise Error(f"{self.name} ended without an error, but did not write its {{out}}, '{out.name}'; check its arguments")
            return self._read(out)

    def _run(self, words: list[str]) -> None:
        try:
            with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True) as started:
                _programs.add(started)
                try:
                    output, errors = started.communicate()
                finally:
                    _end(started)
        except OSError as error:
            raise UnsupportedError(f"the program '{words[0]}' cannot be run: {error.strerror}; give its path") from error
        if started.returncode != 0:
            last = one_line(errors, -1) or one_line(output, -1) or "no message"
            raise Error(f"{self.name} {ending(started.returncode)}: {last}")

    def _read(self, file: Path) -> Floats:
        try:
            return _native.read_disparity(file)
        except (FormatError, CallError) as error:
            raise FormatError(f"{self.name} wrote a disparity map that cannot be read: {error}") from error

    def on(self, device: str, threads: int) -> ProgramMethod:
        """Returns this method, which chooses device and threads by itself. Raises CallError for a device other than auto and cpu."""
        if device not in ("auto", "cpu"):
            raise CallError(f"--device {device} does not apply to a program, which chooses its device by itself; leave it out")
        return self

    def __reduce__(self) -> tuple[type[ProgramMethod], tuple[str]]:
        return type(self), (self.text.partition(":")[2],)


def ending(code: int) -> str:
    """Returns how a process ended, for a sentence: with an exit code, or by a signal."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by the signal {signal.Signals(-code).name}"
    except ValueError:  # a real-time signal
        return f"was killed by the signal {-code}"


def write_picture(file: Path, image: Array) -> None:
    """Writes an image as PNG, PPM or PGM with 8 bits."""
    pixels = np.asarray(image)
    if pixels.dtype != np.uint8:
        pixels = np.clip(np.rint(np.nan_to_num(pixels)), 0, 255).astype(np.uint8)
    if file.suffix == ".pgm":
        pixels = grey(pixels)
    elif file.suffix == ".ppm" and pixels.ndim == 2:
        pixels = np.repeat(pixels[..., None], 3, axis=2)
    _native.write_image(file, np.ascontiguousarray(pixels))
