"""Rigs that move while they run: corrected from the pairs themselves."""

from __future__ import annotations

from pathlib import Path

from . import _native, _options
from ._errors import CallError
from ._native import Calibration, Rig, RigNews, RigTurn, RowMeasurement, cameras_of


def rig_file(given: str | None, name: str) -> str:
    """Returns the file of an option or a parameter with this name, to which a rig that moves is written; "" without one. Raises CallError."""
    if given and Path(given).suffix not in (".yml", ".yaml", ".xml"):
        raise CallError(f"{name} {given} is not allowed; the calibration is written as .yml, .yaml or .xml")
    return given or ""


class RigTracker:
    """Follows the right camera of a rig that moves. Give it to a Matcher as `calibration`, and match the pairs of a sequence in their order, by
    a Run, by stream() or by calls: the matcher rectifies each pair with the rig as the pairs before show it. Left images stay as they are.

    cameras  the Calibration of raw pairs, or the Rig of rectified pairs, which has a size

    >>> import stereopsis as st
    >>> rig = st.Rig(focal=300, baseline=0.1, cx_left=159.5, cx_right=159.5, cy=119.5, unit="m", size=(320, 240))
    >>> tracker = st.RigTracker(rig)
    >>> scenes = [st.synth("table", width=320, height=240, disparities=24, seed=i) for i in range(3)]
    >>> [f"{done.result.measured_share:.1f}" for done in st.Run(scenes, disparities=24, calibration=tracker)]
    ['0.8', '0.8', '0.8']
    >>> tracker.news(), tracker.turn.pitch
    ([], 0.0)
    """

    def __init__(self, cameras: Calibration | Rig) -> None:
        if isinstance(cameras, Rig):
            cameras = cameras_of(cameras)
        if not isinstance(cameras, Calibration):
            raise CallError(f"cameras={_options.shown(cameras)} is not allowed; it must be a Calibration or a Rig")
        self.given = cameras
        """The cameras as they were at the start."""
        self._tracker = _native.RigTracker(self.given)
        self._maps = self._tracker.maps_for(0)

    def news(self) -> list[RigNews]:
        """Returns what the tracker found since the last call: corrections with their sizes and deviations, jumps, and that the rig is lost."""
        return self._tracker.news()

    @property
    def turn(self) -> RigTurn:
        """The rotation of the right camera since the start."""
        return self._tracker.turn

    @property
    def calibration(self) -> Calibration:
        """The corrected cameras. Calibration.write() stores them for the next run, whose pairs are raw."""
        return self._tracker.calibration

    def _follow(self, pair: _native.Pair, measures: bool) -> RowMeasurement | None:
        """Sets the maps of the next pair, and measures its rows if the caller needs them, or else for one of some pairs."""
        if pair.kind[2]:
            raise CallError("a RigTracker requires images in host memory; copy the images to the host")
        number = self._tracker.pairs
        self._maps = self._tracker.maps_for(number)
        pair.rectify_by(self._maps)
        measured = pair.measured_rows(self._maps) if measures or number % _native.RigTracker.one_of == 0 else None
        self._tracker.add(number, measured)
        return measured

    def _followed(self, pair: _native.Pair, measures: bool) -> tuple[_native.Rectification, RowMeasurement | None]:
        """Returns the maps and the rows of the next pair, for a caller who rectifies it."""
        measured = self._follow(pair, measures)
        return self._maps, measured

    def _again(self, pair: _native.Pair) -> None:
        """Sets the maps of another object for the last pair."""
        pair.rectify_by(self._maps)
