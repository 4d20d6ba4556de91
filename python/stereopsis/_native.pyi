"""The library's functions and classes; use those of stereopsis."""

from collections.abc import Mapping, Sequence
import os
from typing import Any, overload

import numpy
import numpy.typing


version: str = '0.1.0'

class Rig:
    """
    A calibrated, rectified rig: Z = focal · baseline / (d − (cx_left − cx_right)).

    focal, cx_left, cx_right and cy are in pixels (a pixel's centre is at whole coordinates), baseline in `unit`
    ("mm", "m", or "" where it is not known), size is (width, height) or (0, 0).
    """

    def __init__(self, *, focal: float, baseline: float, cx_left: float = 0.0, cy: float = 0.0, cx_right: float | None = None, unit: str = '', size: tuple[int, int] = (0, 0)) -> None: ...

    @property
    def focal(self) -> float:
        """Pixels."""

    @property
    def baseline(self) -> float:
        """Distance between the cameras, in `unit`."""

    @property
    def cx_left(self) -> float:
        """Pixels."""

    @property
    def cx_right(self) -> float:
        """Pixels."""

    @property
    def cy(self) -> float:
        """Pixels."""

    @property
    def unit(self) -> str: ...

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) of the images."""

    def depth(self, disparity: float) -> float:
        """Z in `unit`, of a disparity in pixels."""

    def disparity(self, depth: float) -> float:
        """The disparity in pixels, of a depth in `unit`."""

    def range(self, near: float, far: float) -> tuple[int, int]:
        """
        The disparities (first, end) of all depths from near to far, in `unit`.
        """

    @staticmethod
    def read(file: str | os.PathLike, right: str | os.PathLike | None = None, cameras: str = 'any') -> Rig:
        """
        Middlebury's and KITTI's calib.txt, OpenCV's YAML or XML with P1 and P2 or Q, or two ROS camera_info
        files. Of KITTI's, `cameras` is 'grey', 'colour' or 'any'. Raises FileError and FormatError.
        """

    def write(self, file: str | os.PathLike) -> None:
        """Writes OpenCV's YAML or XML, with P1, P2 and Q."""

    def __repr__(self) -> str: ...

    def __getstate__(self) -> tuple[float, float, float, float, float, str, tuple[int, int]]: ...

    def __setstate__(self, arg: tuple[float, float, float, float, float, str, tuple[int, int]], /) -> None: ...

class Camera:
    """
    A camera of a pair: fx, fy, cx and cy in pixels, `distortion` as OpenCV orders it, of the model 'polynomial' (k1 k2 p1
    p2 k3 k4 k5 k6 s1 s2 s3 s4) or 'fisheye' (k1 to k4), and `rectification`, row after row: from its frame to the rectified
    one's.
    """

    def __init__(self, *, fx: float, fy: float, cx: float, cy: float, model: str = 'polynomial', distortion: Sequence[float] = [], rectification: Sequence[float] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]) -> None: ...

    @property
    def fx(self) -> float: ...

    @property
    def fy(self) -> float: ...

    @property
    def cx(self) -> float: ...

    @property
    def cy(self) -> float: ...

    @property
    def model(self) -> str: ...

    @property
    def distortion(self) -> list[float]: ...

    @property
    def rectification(self) -> list[float]: ...

    def __getstate__(self) -> tuple[float, float, float, float, str, list[float], list[float]]: ...

    def __setstate__(self, arg: tuple[float, float, float, float, str, Sequence[float], Sequence[float]], /) -> None: ...

class Calibration:
    """
    Two cameras as they are, before their images are rectified: X_right = rotation · X_left + translation. calibrate
    finds it and read_calibration reads it, for `calibration=` of match and Matcher.
    """

    def __init__(self, *, size: tuple[int, int], left: Camera, right: Camera, rotation: Sequence[float], translation: Sequence[float], rig: Rig) -> None: ...

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) of the images as the cameras give them."""

    @property
    def left(self) -> Camera: ...

    @property
    def right(self) -> Camera: ...

    @property
    def rotation(self) -> list[float]:
        """Row after row."""

    @property
    def translation(self) -> list[float]:
        """Translation in the rig's unit."""

    @property
    def rig(self) -> Rig:
        """The rig of the rectified pair."""

    def write(self, file: str | os.PathLike) -> None:
        """
        Writes OpenCV's YAML or XML, which read_calibration and the command's --calib read.
        """

    def write_camera_info(self, left: str | os.PathLike, right: str | os.PathLike) -> None:
        """Writes a pair of ROS camera_info files; lengths become metres."""

    def __repr__(self) -> str: ...

    def __getstate__(self) -> tuple[tuple[int, int], Camera, Camera, list[float], list[float], Rig]: ...

    def __setstate__(self, arg: tuple[tuple[int, int], Camera, Camera, Sequence[float], Sequence[float], Rig], /) -> None: ...

class Rectification:
    """Maps the pixels of rectified pairs to those of raw pairs."""

    def __init__(self, calibration: Calibration) -> None: ...

    @property
    def complete(self) -> bool:
        """True if every pixel has a source."""

    def __call__(self, left: object, right: object) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray | None, numpy.ndarray | None]:
        """
        Both images rectified, as `calibration=` of Matcher does it, and masks: 0 where there is no source, None where
        every pixel has one.
        """

def read_calibration(file: str | os.PathLike, second: str | os.PathLike | None = None, cameras: str = 'any', size: tuple[int, int] = (0, 0)) -> Calibration:
    """
    The cameras of a pair that is not rectified, for `calibration=` of match and Matcher: OpenCV's YAML or XML (one file, or
    extrinsics and intrinsics), two ROS camera_info files, or KITTI's calib_cam_to_cam.txt. `size` is (width, height) where
    the file does not say. Raises FileError and FormatError. For a rectified pair, use Rig.read.
    """

class MethodInfo:
    """A named method."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str:
        """Description of the method, in one line."""

    @property
    def paper(self) -> str:
        """Source of the method."""

    def __repr__(self) -> str: ...

class ParameterInfo:
    """A parameter of a method: what a slider, a list or a switch is made of."""

    @property
    def name(self) -> str:
        """slot.parameter"""

    @property
    def type(self) -> str:
        """flag, choice, integer, number, numbers or text"""

    @property
    def value(self) -> str:
        """Value as text."""

    @property
    def default(self) -> str:
        """Default of the method, as text."""

    @property
    def allowed(self) -> str:
        """"an odd integer from 1 to 15\""""

    @property
    def description(self) -> str: ...

    @property
    def minimum(self) -> float | None: ...

    @property
    def maximum(self) -> float | None: ...

    @property
    def step(self) -> float:
        """Step from the minimum on; 0: any number between."""

    @property
    def choices(self) -> list[str]:
        """Allowed values of a choice."""

    @property
    def unit(self) -> str:
        """"pixels"; empty if it has none."""

    def __repr__(self) -> str: ...

class Slot:
    """A slot of a pipeline with its stage."""

    @property
    def slot(self) -> str:
        """The prefix of its parameters: "optimisation"."""

    @property
    def stage(self) -> str:
        """"sgm\""""

    @property
    def parameters(self) -> list[ParameterInfo]: ...

    @property
    def is_refinement(self) -> bool: ...

    def __repr__(self) -> str: ...

class PartitionPlan:
    """
    How a pipeline is run on stripes of rows with the bits of the whole image: `raw` runs on every stripe, then `refined` runs on the maps of all stripes. Each reads a margin of rows above and below.
    """

    @property
    def follows_paths(self) -> bool:
        """
        Whether path costs pass between stripes, as in semi-global matching. Otherwise a stripe is a region.
        """

    @property
    def path_kinds(self) -> int:
        """Rows of Result.paths: 1 with 4 paths, 3 with 8 paths."""

    @property
    def raw(self) -> Pipeline:
        """
        From the images to the selection, and the refinements with a small margin.
        """

    @property
    def raw_rows(self) -> int:
        """
        Margin of the refinements of `raw`, in rows; paths pass these rows, too.
        """

    @property
    def feature_rows(self) -> int:
        """
        Margin of the matching cost and the penalties, in rows beyond `raw_rows`.
        """

    @property
    def refined(self) -> Pipeline | None:
        """The remaining refinements, or None."""

    @property
    def refined_rows(self) -> int:
        """Margin of `refined`, in rows."""

    @property
    def fills(self) -> bool:
        """
        Whether `refined` fills along columns, up to the next measured pixel. Rows are then read until the column of each filled pixel, and of each invalid one without a mask, has a measured pixel above and below, at least before_fill rows inside the rows that are read, or these reach the border of the image.
        """

    @property
    def before_fill(self) -> int:
        """Margin of the refinements before the fill, in rows."""

    @property
    def behind_fill(self) -> int:
        """Margin of the refinements behind the fill, in rows."""

    @property
    def reads_images(self) -> bool:
        """Whether `refined` reads the images."""

    @property
    def reads_right(self) -> bool:
        """Whether `refined` reads the disparity of the right view."""

    @property
    def reads_confidence(self) -> bool:
        """Whether `refined` reads the confidence."""

class Pipeline:
    @overload
    def __init__(self, method: str) -> None: ...

    @overload
    def __init__(self, other: Pipeline) -> None: ...

    @property
    def method(self) -> str:
        """The name of the method that it was made from."""

    def set_text(self, name: str, value: str) -> None: ...

    def put_stage(self, slot: str, function: object, name: str, makes: str, largest: float, takes: str | None, required_input: object | None) -> None: ...

    def get_text(self, name: str) -> str: ...

    def parameters(self) -> list[ParameterInfo]:
        """All that can be set, in order."""

    def partition_plan(self, want_confidence: bool = False) -> PartitionPlan:
        """
        Returns how the pipeline is run on stripes. Raises CallError with the reason if stripes cannot give the bits of the whole image.
        """

    def in_stripes(self, want_confidence: bool = False) -> PartitionPlan:
        """Deprecated name of partition_plan()."""

    def slots(self) -> list[Slot]:
        """The slots, and which stage fills each."""

    def to_json(self) -> str:
        """Returns the JSON that the command's --pipeline reads."""

    @staticmethod
    def parse(json: str) -> Pipeline: ...

def methods() -> list[MethodInfo]: ...

def presets() -> list[MethodInfo]: ...

def stages() -> list[tuple[str, list[str]]]: ...

def check_json_depth(json: str) -> None:
    """Raises FormatError where it is nested too deeply."""

def read_pipeline(file: str | os.PathLike) -> Pipeline: ...

class DeviceArray:
    """
    An array of a result on a GPU. torch.from_dlpack, cupy.from_dlpack, jax.numpy.from_dlpack and numba.cuda.as_cuda_array
    take it where it is, in the order of their streams.
    """

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> str:
        """"float32\""""

    @property
    def device(self) -> str:
        """"cuda:0\""""

    @property
    def stream(self) -> int:
        """Stream in which it was made; 1 is the default stream."""

    def to_numpy(self) -> numpy.typing.NDArray[Any]:
        """Waits until it is there, and copies it to the host."""

    def __dlpack__(self, *, stream: object | None = None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> object: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...

    def __array__(self, *args: object, **kwargs: object) -> numpy.typing.NDArray[Any]: ...

    def __repr__(self) -> str: ...

class Device:
    """A device that was looked for, usable or not."""

    @property
    def name(self) -> str:
        """Name for `device=`."""

    @property
    def description(self) -> str: ...

    @property
    def usable(self) -> bool: ...

    @property
    def reason(self) -> str:
        """The reason if the device can't be used, and a remedy."""

    @property
    def properties(self) -> dict[str, str]: ...

    def __repr__(self) -> str: ...

def devices() -> list[Device]:
    """All devices that were looked for, usable or not."""

class Step:
    """A step of a plan."""

    @property
    def name(self) -> str:
        """Name of the operation."""

    @property
    def stage(self) -> str:
        """Implementation: "rank", "sgm_wta_cuda"."""

    @property
    def fused(self) -> bool:
        """Several stages at once."""

    @property
    def scratch_bytes(self) -> int:
        """Memory that it alone takes."""

    @property
    def bytes(self) -> float:
        """Read and written, by definition."""

    @property
    def note(self) -> str:
        """The reason why no fused or faster implementation is used."""

    def __repr__(self) -> str: ...

class Pair:
    def __init__(self, left: object | None, right: object | None, mask_left: object | None, mask_right: object | None, volume: object | None, bit_depth: int, colour: str, stream: object | None, beside: dict) -> None: ...

    @property
    def kind(self) -> tuple:
        """
        (height, width, channels, dtype) of images and of costs, and the device.
        """

    @property
    def stream(self) -> int: ...

class Pending:
    def wait(self) -> dict: ...

    def overlaps(self, pair: Pair) -> bool: ...

class Matcher:
    def __init__(self, pipeline: Pipeline, shape: tuple[int, int, int], dtype: str, bit_depth: int, disparities: tuple[int, int], volume_dtype: str | None, without_images: bool, region: tuple[int, int, int, int] | None, stripe: tuple[int, int, bool, bool, str] | None, refine_only: bool, want: Sequence[str], probes: Sequence[tuple[int, int]], rig: Rig | None, calibration: Calibration | None, frame: str, disparity_error: float, device: str, threads: int, implementation: str, memory_limit: int, batch: int, colour: str) -> None: ...

    def match(self, pair: Pair, out: dict) -> dict: ...

    def enqueue(self, pair: Pair, copies: bool) -> Pending: ...

    @property
    def device(self) -> str: ...

    @property
    def devices(self) -> list[str]: ...

    @property
    def lost(self) -> list[tuple[str, str]]: ...

    @property
    def workspace_bytes(self) -> int: ...

    @property
    def required_input(self) -> tuple[int, int, int, int]: ...

    @property
    def steps(self) -> list[Step]: ...

def read_image_and_depth(file: str | os.PathLike[str]) -> tuple[numpy.typing.NDArray[Any], int]: ...

def read_disparity(file: str | os.PathLike[str], scale: float = 0.0) -> numpy.typing.NDArray[numpy.float32]:
    """
    A disparity image, (height, width) float32 in pixels, NaN where unknown: float PFM, NPY or TIFF, or PNG or PGM with
    value / scale (0: 256 for 16 bits; 8 bits need one). Raises FileError and FormatError.
    """

def write_disparity(file: str | os.PathLike[str], disparity: numpy.typing.NDArray[numpy.float32], scale: float = 0.0) -> None:
    """
    Writes (height, width) float32 as .pfm (+inf where invalid), .npy, .tif, .tiff, 16-bit .png (×256), or 8-bit .png or .pgm
    with a scale. The file is whole or what it was. Raises FileError and CallError.
    """

def read_pfm(file: str | os.PathLike[str]) -> numpy.typing.NDArray[numpy.float32]:
    """
    A disparity image from a .pfm file: (height, width) float32, NaN where it has +inf.
    """

def write_pfm(file: str | os.PathLike[str], disparity: numpy.typing.NDArray[numpy.float32]) -> None:
    """Writes (height, width) float32 as .pfm, +inf where it is NaN."""

class PairCheck:
    """Tells whether a pair is fit for matching."""

    @property
    def matches(self) -> int:
        """Sparse matches that the figures rest on; 0 where there are too few."""

    @property
    def median_dy(self) -> float:
        """Median of |y_left − y_right|, pixels."""

    @property
    def p95_dy(self) -> float:
        """Its 95th percentile."""

    @property
    def median_disparity(self) -> float:
        """Pixels."""

    @property
    def swapped(self) -> bool:
        """The images are in the wrong order."""

    @property
    def same_image(self) -> bool:
        """Both images have the same pixels."""

    @property
    def disparities(self) -> tuple[int, int]:
        """An estimate: (first, end)."""

    @property
    def rectified(self) -> bool: ...

    def __repr__(self) -> str: ...

def check(left: object, right: object, colour: str = 'rgb', bit_depth: int = 0) -> PairCheck: ...

def same_pixels(pair: Pair) -> bool:
    """Returns whether both images, on the host, have the same bits."""

def estimate_disparities(left: object, right: object, colour: str = 'rgb', bit_depth: int = 0) -> tuple[int, int]: ...

def evaluate(disparity: object, truth: object, mask: object | None) -> dict[str, Any]: ...

def colour_disparity(disparity: object, low: float, high: float, legend: bool) -> numpy.typing.NDArray[numpy.uint8]: ...

def display_limits(disparity: object) -> tuple[float, float]: ...

def colour_validity(validity: object, legend: bool) -> numpy.typing.NDArray[numpy.uint8]: ...

def scene_names() -> list[str]:
    """Names of the scenes that synth makes."""

def synth(scene: str, width: int, height: int, disparities: int, seed: int, options: Mapping[str, float]) -> dict: ...
