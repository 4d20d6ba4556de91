"""Result, the outputs of a pair, and Explanation, the steps of a plan."""

from __future__ import annotations

import base64
import html
import importlib
import struct
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native, validity
from ._errors import CallError, UnsupportedError
from ._native import Step

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float32]

ARRAYS = (
    # outputs, written by ./dev outputs
    "disparity",
    "validity",
    "right",
    "confidence",
    "depth",
    "points",
    "uncertainty",
    "rectified",
    "cost",
    "aggregated",
    "optimised",
    # end of the outputs
)


REASONS = (
    validity.no_candidate
    | validity.left_right
    | validity.ambiguous
    | validity.speckle
    | validity.masked
    | validity.outside
)  # colour of invalid pixels


def on_host(array: Any) -> Array:
    """Returns the array itself, or a copy of an array on a GPU."""
    if isinstance(array, np.ndarray):
        return array
    if isinstance(array, _native.DeviceArray):
        return array.to_numpy()
    raise CallError("the array is on a GPU and belongs to another library; copy it to the host first")


class Picture:
    """An image, (h, w) or (h, w, 3) uint8, that notebooks display; `png` has the bytes of a PNG file.

    >>> import stereopsis as st
    >>> st.Picture(st.synth("table", width=64, height=48, disparities=16).left)
    <picture 64×48>
    """

    def __init__(self, pixels: npt.NDArray[np.uint8]) -> None:
        array = np.asarray(pixels)
        if array.dtype != np.uint8 or array.size == 0 or not (array.ndim == 2 or (array.ndim == 3 and array.shape[2] == 3)):
            raise CallError(
                f"pixels has the shape {array.shape} and the type {array.dtype}; a picture must be (height, width) or (height, "
                "width, 3), of uint8"
            )
        self.pixels = array

    @property
    def png(self) -> bytes:
        """The bytes of a PNG file."""
        h, w, channels = (*self.pixels.shape, 1)[:3]
        rows = np.zeros((h, 1 + channels * w), np.uint8)  # each row begins with the byte of its filter: none
        rows[:, 1:] = self.pixels.reshape(h, channels * w)

        def chunk(name: bytes, data: bytes) -> bytes:
            return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

        header = struct.pack(">IIBBBBB", w, h, 8, 2 if channels == 3 else 0, 0, 0, 0)
        image = zlib.compress(rows.tobytes(), 6)
        return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", image) + chunk(b"IEND", b"")

    def _repr_png_(self) -> bytes:
        return self.png

    def __repr__(self) -> str:
        return f"<picture {self.pixels.shape[1]}×{self.pixels.shape[0]}>"


class Result:
    """The result of matching one pair.

    Arrays are views of the result's own memory, which they keep alive. Outputs that were not requested are None. Maps have the
    shape (h, w), points (h, w, 3), and volumes (h, w, disparities) in the type of the stage.

    probed       {"cost": (n, disparities), "aggregated": …, "optimised": …}: costs of all candidates at the n `probes`
    paths        (kinds, w, disparities) uint16, path costs for the next stripe; the result then has no disparity
    times        {stage: milliseconds}
    method       name of the method, or of that from which the pipeline was created
    ms           milliseconds of the call; for a stream, of its stages; None for arrays on a GPU, where the work continues after the call
    """

    __slots__ = (*ARRAYS, "probed", "paths", "times", "method", "ms")

    # outputs, written by ./dev outputs
    disparity: Floats
    """Disparity of the left view, in pixels; NaN where a pixel is invalid."""
    validity: npt.NDArray[np.uint8]
    """Bits that say why a pixel is invalid, or that it was filled or repaired; 0 where it was measured."""
    right: Floats | None
    """Disparity of the right view, from the same costs, in pixels; neither checked nor filled."""
    confidence: Floats | None
    """Confidence of the disparity, 0 to 1; 0 where a pixel was not measured."""
    depth: Floats | None
    """Depth Z, in the unit of the rig; NaN where there is none."""
    points: Floats | None
    """Points x, y, z, in the unit of the rig and in the chosen frame; NaN where there are none."""
    uncertainty: Floats | None
    """Uncertainty of the depth, in the unit of the rig, for the assumed error of the disparity."""
    rectified: Array | None
    """Rectified left image, in the pixel type of the pair."""
    cost: Array | None
    """Volume of matching costs: one channel for each candidate, the lowest disparity first."""
    aggregated: Array | None
    """Volume of costs after aggregation: one channel for each candidate."""
    optimised: Array | None
    """Volume of costs after optimisation: one channel for each candidate."""
    # end of the outputs
    probed: dict[str, Array] | None
    paths: npt.NDArray[np.uint16] | None
    times: dict[str, float]
    method: str
    ms: float | None

    def __init__(self, arrays: Mapping[str, Any], method: str = "", ms: float | None = None) -> None:
        for name in (*ARRAYS, "probed", "paths"):
            setattr(self, name, arrays.get(name))
        times: dict[str, float] = {}
        for stage, stage_ms in arrays["times"]:
            times[stage] = times.get(stage, 0.0) + stage_ms
        self.times = times
        self.method = method
        self.ms = ms if ms is not None or not times else sum(times.values())

    @property
    def volume(self) -> Array | None:
        """The costs from which the disparity was selected, (h, w, disparities), if want=["volume"] or one of its states requested them: the
        last of cost, aggregated and optimised.
        """
        volumes = (self.optimised, self.aggregated, self.cost)
        return next((volume for volume in volumes if volume is not None), None)

    @property
    def measured(self) -> npt.NDArray[np.bool_]:
        """(h, w) bool: True if the disparity comes from the pixel's own costs, so `validity` is 0."""
        return np.equal(on_host(self.validity), 0)

    @property
    def filled(self) -> npt.NDArray[np.bool_]:
        """(h, w) bool: True if the pixel is valid and a fill took its disparity from other pixels."""
        return self._valid_with(validity.filled)

    @property
    def repaired(self) -> npt.NDArray[np.bool_]:
        """(h, w) bool: True if the pixel is valid, and a repair replaced its disparity after the last fill."""
        return self._valid_with(validity.repaired) & ~self.filled

    def _valid_with(self, bit: int) -> npt.NDArray[np.bool_]:
        bits = on_host(self.validity)
        found: npt.NDArray[np.bool_] = np.logical_and((bits & bit) != 0, (bits & REASONS) == 0)
        return found

    @property
    def measured_share(self) -> float:
        """Share of measured pixels among those inside the region, 0 to 1."""
        return self._share_of(self.measured)

    @property
    def filled_share(self) -> float:
        """Share of filled pixels among those inside the region, 0 to 1."""
        return self._share_of(self.filled)

    def _share_of(self, pixels: npt.NDArray[np.bool_]) -> float:
        inside = np.count_nonzero((on_host(self.validity) & validity.outside) == 0)
        return float(np.count_nonzero(pixels) / inside) if inside else 0.0

    @property
    def density(self) -> float:
        """Share of pixels with a disparity, measured or not, 0 to 1."""
        return float(np.count_nonzero(~np.isnan(on_host(self.disparity)))) / on_host(self.disparity).size

    def colour(
        self, what: str = "disparity", low: float | None = None, high: float | None = None, legend: bool = False
    ) -> npt.NDArray[np.uint8]:
        """A picture, (h, w, 3) uint8: of `disparity`, `right`, `depth`, `confidence` or `uncertainty`, dark to bright from
        `low` to `high` (the 1st and 99th percentile), so that near is bright in disparities and dark in depths; or of
        `validity`, a colour for each reason."""
        if what not in ARRAYS or what == "points" or getattr(self, what) is None:
            raise CallError(f"the result has no image {what!r}; it has {', '.join(self._two_dimensional())}")
        array = on_host(getattr(self, what))
        if what == "validity":
            return _native.colour_validity(array, legend)
        if array.ndim != 2 or array.dtype != np.float32:
            raise CallError(f"the result has no image {what!r}; it has {', '.join(self._two_dimensional())}")
        first, last = _native.display_limits(array)
        return _native.colour_disparity(array, first if low is None else low, last if high is None else high, legend)

    def __getstate__(self) -> dict[str, Any]:
        """Copies arrays on a GPU to the host."""
        state = {name: getattr(self, name) for name in self.__slots__}
        return {name: on_host(of) if name in ARRAYS and of is not None else of for name, of in state.items()}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        for name in self.__slots__:
            setattr(self, name, state[name])

    def _two_dimensional(self) -> list[str]:
        there = [name for name in ARRAYS if name != "rectified" and getattr(self, name) is not None]
        return [name for name in there if len(getattr(self, name).shape) == 2]

    def to_xarray(self) -> Any:
        """The images as an xarray.Dataset over y and x (xyz for points), without a copy where they are on the host."""
        try:
            xarray = importlib.import_module("xarray")
        except ModuleNotFoundError:
            raise UnsupportedError("xarray is not installed; run: python -m pip install xarray") from None
        axes: dict[str, tuple[str, ...]] = {name: ("y", "x") for name in self._two_dimensional()}
        if self.points is not None:
            axes["points"] = ("y", "x", "xyz")
        units = {"disparity": "pixels", "right": "pixels"}
        data = {
            name: (dims, on_host(getattr(self, name)), {"units": units[name]} if name in units else {})
            for name, dims in axes.items()
        }
        return xarray.Dataset(data)

    def _repr_html_(self) -> str:
        picture = base64.b64encode(Picture(self.colour(legend=True)).png).decode()
        return f'<img alt="{html.escape(repr(self))}" src="data:image/png;base64,{picture}"><br>{html.escape(repr(self))}'

    def __repr__(self) -> str:
        if self.paths is not None:
            return f"<path costs of {self.paths.shape[1]} columns>"
        h, w = self.disparity.shape
        parts = [f"result {w}×{h}{' by ' + self.method if self.method else ''}"]
        if self.ms is not None:
            parts.append(f"{self.ms:.1f} ms")
        if isinstance(self.validity, np.ndarray):  # without waiting for an array on a GPU
            parts.append(f"{100 * self.measured_share:.1f} % measured")
        more = [name for name in ARRAYS[2:] if getattr(self, name) is not None]
        return f"<{', '.join(parts)}{', with ' + ', '.join(more) if more else ''}>"


class Explanation:
    """The steps of a plan: `steps`, `workspace_bytes`, `device`, the `size` (width, height) of pairs, and the `required_input`
    (x, y, width, height) of a region. As text, it is a table.
    """

    def __init__(self, planned: _native.Matcher, kind: Any) -> None:
        image, costs, _ = kind
        self.size: tuple[int, int] = (image or costs)[1::-1]
        self.device: str = planned.device
        self.workspace_bytes: int = planned.workspace_bytes
        self.required_input: tuple[int, int, int, int] = planned.required_input
        self.steps: list[Step] = list(planned.steps)

    def __str__(self) -> str:
        rows = [(s.name, s.stage, "fused" if s.fused else "", s.note) for s in self.steps]
        widths = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
        lines = ["  ".join([row[i].ljust(widths[i]) for i in range(3)] + [row[3]]).rstrip() for row in rows]
        size = f"{self.size[0]}×{self.size[1]}"
        return "\n".join([f"{size} on {self.device}: {self.workspace_bytes / 1e6:.1f} MB of workspace", *lines])

    __repr__ = __str__
