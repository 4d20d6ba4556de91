"""The compiled functions and classes; use those of stereopsis."""

from collections.abc import Mapping, Sequence
import os
from typing import Any, overload

import numpy
import numpy.typing


version: str = '0.1.0'

class Rig:
    """
    A calibrated, rectified rig: Z = focal · baseline / (d − (cx_left − cx_right)).

    `focal`, `cx_left`, `cx_right` and `cy` are in pixels; the centre of a pixel has integer coordinates. `baseline`
    is in `unit`: "mm", "m", or "" if the unit is not known. `size` is (width, height), or (0, 0) if it is not known.
    If `cx_right` is None, it equals `cx_left`.
    """

    def __init__(self, *, focal: float, baseline: float, cx_left: float = 0.0, cy: float = 0.0, cx_right: float | None = None, unit: str = '', size: tuple[int, int] = (0, 0)) -> None: ...

    @property
    def focal(self) -> float:
        """Focal length, in pixels; > 0."""

    @property
    def baseline(self) -> float:
        """Distance between the cameras, in `unit`; > 0."""

    @property
    def cx_left(self) -> float:
        """Column of the left principal point, in pixels."""

    @property
    def cx_right(self) -> float:
        """Column of the right principal point, in pixels."""

    @property
    def cy(self) -> float:
        """Row of both principal points, in pixels."""

    @property
    def unit(self) -> str:
        """Unit of the baseline and of depths: "mm", "m" or ""."""

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) of the rectified images, or (0, 0) if it is not known."""

    def depth(self, disparity: float) -> float:
        """Returns the depth Z, in `unit`, of a disparity in pixels."""

    def disparity(self, depth: float) -> float:
        """Returns the disparity, in pixels, of a depth in `unit`."""

    def range(self, near: float, far: float) -> tuple[int, int]:
        """
        Returns the search range (first, end) of all depths from `near` to `far`, in `unit`. Raises CallError.
        """

    @staticmethod
    def read(file: str | os.PathLike, right: str | os.PathLike | None = None, cameras: str = 'any', size: tuple[int, int] = (0, 0), lens: str = '', scale: float = 1.0) -> Rig:
        """
        Reads the rig of rectified pairs from a calibration file or folder, or from one file per camera.

        The formats and the arguments are those of read_calibration(). `size` is that of the images if the file
        lacks it. Warns with CalibrationWarning. Raises FileError, FormatError and CallError.
        """

    def write(self, file: str | os.PathLike) -> None:
        """Writes OpenCV's YAML or XML, with P1, P2 and Q. Raises FileError."""

    def __repr__(self) -> str: ...

    def __getstate__(self) -> tuple[float, float, float, float, float, str, tuple[int, int]]: ...

    def __setstate__(self, arg: tuple[float, float, float, float, float, str, tuple[int, int]], /) -> None: ...

class Camera:
    """
    A raw camera: its lens, and the rotation that rectifies it.

    `distortion` has OpenCV's coefficients of the model 'polynomial' (k1 k2 p1 p2 k3 k4 k5 k6 s1 s2 s3 s4)
    or 'fisheye' (k1 k2 k3 k4). `rectification` is the rotation from the camera's frame to the rectified
    frame, row by row.
    """

    def __init__(self, *, fx: float, fy: float, cx: float, cy: float, model: str = 'polynomial', distortion: Sequence[float] = [], rectification: Sequence[float] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]) -> None: ...

    @property
    def fx(self) -> float:
        """Horizontal focal length, in pixels."""

    @property
    def fy(self) -> float:
        """Vertical focal length, in pixels."""

    @property
    def cx(self) -> float:
        """Column of the principal point, in pixels."""

    @property
    def cy(self) -> float:
        """Row of the principal point, in pixels."""

    @property
    def model(self) -> str:
        """'polynomial' or 'fisheye'."""

    @property
    def distortion(self) -> list[float]:
        """12 coefficients of the lens."""

    @property
    def rectification(self) -> list[float]:
        """9 elements of the rotation, row by row."""

    def __getstate__(self) -> tuple[float, float, float, float, str, list[float], list[float]]: ...

    def __setstate__(self, arg: tuple[float, float, float, float, str, Sequence[float], Sequence[float]], /) -> None: ...

class Calibration:
    """
    Two raw cameras, with which pairs are rectified: X_right = rotation · X_left + translation.

    calibrate() computes it and read_calibration() reads it, for `calibration=` of match() and Matcher.
    """

    def __init__(self, *, size: tuple[int, int], left: Camera, right: Camera, rotation: Sequence[float], translation: Sequence[float], rig: Rig) -> None: ...

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) of the raw images."""

    @property
    def left(self) -> Camera:
        """Left camera."""

    @property
    def right(self) -> Camera:
        """Right camera."""

    @property
    def rotation(self) -> list[float]:
        """9 elements of the rotation, row by row."""

    @property
    def translation(self) -> list[float]:
        """Translation, in the unit of the rig."""

    @property
    def rig(self) -> Rig:
        """Rig of the rectified pair."""

    def write(self, file: str | os.PathLike) -> None:
        """
        Writes OpenCV's YAML or XML, which read_calibration() and the command's --calib read. Raises FileError.
        """

    def write_camera_info(self, left: str | os.PathLike, right: str | os.PathLike) -> None:
        """
        Writes two ROS camera_info files, with lengths in metres. Raises FileError, and CallError if the unit is not known.
        """

    def __repr__(self) -> str: ...

    def __getstate__(self) -> tuple[tuple[int, int], Camera, Camera, list[float], list[float], Rig]: ...

    def __setstate__(self, arg: tuple[tuple[int, int], Camera, Camera, Sequence[float], Sequence[float], Rig], /) -> None: ...

class Rectification:
    """Rectifies pairs of the cameras of a calibration."""

    def __init__(self, calibration: Calibration) -> None: ...

    @property
    def complete(self) -> bool:
        """True if every rectified pixel has a source in the raw images."""

    def __call__(self, left: object, right: object) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray | None, numpy.ndarray | None]:
        """
        Returns both rectified images and their masks, with 0 for pixels without a source; a mask is None if every
        pixel has one. `calibration=` of Matcher gives the same pixels.
        """

def read_calibration(file: str | os.PathLike, second: str | os.PathLike | None = None, cameras: str = 'any', size: tuple[int, int] = (0, 0), lens: str = '', scale: float = 1.0) -> Calibration:
    """
    Reads the calibration of raw cameras, for `calibration=` of match() and Matcher.

    The formats are those of the guide "Calibration and input formats": OpenCV, ROS, Kalibr, EuRoC, KITTI, ZED and
    others. `second` is the right camera's file, or the other one of OpenCV's extrinsics and intrinsics. `cameras`
    selects those of a KITTI file: 'grey', 'colour' or 'any'. `size` is the (width, height) of the images if the file
    lacks it or has several. `lens` is 'radtan' or 'equidistant' for a file that does not name its lens model.
    `scale` is the width of the images / the width that was calibrated. Warns with CalibrationWarning if the file
    contradicts itself or its images. Raises FileError, FormatError and CallError. For a rectified pair, use
    Rig.read().
    """

class PosedCamera:
    """
    A camera to which depth is registered: X = rotation · X_left + translation.

    X_left is a point in the frame of the raw left camera, or of the rectified one if the raw cameras are not
    known. The translation is in the unit of the rig. `size` is the (width, height) of the camera's images.
    """

    def __init__(self, camera: Camera, *, size: tuple[int, int], rotation: Sequence[float] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], translation: Sequence[float] = [0.0, 0.0, 0.0]) -> None: ...

    @staticmethod
    def raw_left(calibration: Calibration) -> PosedCamera:
        """Returns the raw left camera of a calibration."""

    @staticmethod
    def read(file: str | os.PathLike, unit: str = '') -> PosedCamera:
        """
        Reads a camera with K, D, image_width, image_height, R and T in the notation of OpenCV or ROS, or cam2 of a
        Kalibr camchain. The translation is converted to `unit` if the file states its own. Raises FileError and
        FormatError.
        """

    @property
    def camera(self) -> Camera:
        """Lens of the camera."""

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) of the camera's images."""

    @property
    def rotation(self) -> list[float]:
        """9 elements of the rotation, row by row."""

    @property
    def translation(self) -> list[float]:
        """Translation, in the unit of the rig."""

    def __getstate__(self) -> tuple[Camera, tuple[int, int], list[float], list[float]]: ...

    def __setstate__(self, arg: tuple[Camera, tuple[int, int], Sequence[float], Sequence[float]], /) -> None: ...

class RegisteredDepth:
    """
    Depth as another camera sees it, NaN where the left camera does not see what that camera sees.
    """

    @property
    def depth(self) -> numpy.typing.NDArray[numpy.float32]:
        """(h, w) float32: Z in the frame of the camera, in the unit of the rig."""

    @property
    def points(self) -> numpy.typing.NDArray[numpy.float32]:
        """
        (h, w, 3) float32: x, y and z in the frame of the camera, in the unit of the rig.
        """

    @property
    def source(self) -> numpy.typing.NDArray[numpy.float32]:
        """
        (h, w, 2) float32: column and row in the rectified left image at which the point is visible.
        """

def register_depth(depth: object, cameras: Rig | Calibration, to: PosedCamera, threads: int = 0) -> RegisteredDepth:
    """
    Registers a depth map of the rectified left view, (h, w) float32, to another camera.

    `cameras` is the calibration of the pair, or the rig of a rectified pair; the pose of `to` is then relative to
    the rectified left camera. Surfaces hide what lies behind them, and what the left camera does not see is NaN.
    0 threads are all. Raises CallError.
    """

class MethodInfo:
    """A named method or preset."""

    @property
    def name(self) -> str:
        """Name, for Pipeline() and `method=`."""

    @property
    def summary(self) -> str:
        """Description of the method, in one line."""

    @property
    def paper(self) -> str:
        """Paper that describes the method; for a preset, its settings."""

    def __repr__(self) -> str: ...

class ParameterInfo:
    """
    Description of a parameter, from which an interface can make a slider, a list or a switch.
    """

    @property
    def name(self) -> str:
        """Name of the parameter: "slot.parameter"."""

    @property
    def type(self) -> str:
        """Type of the value: flag, choice, integer, number, numbers or text."""

    @property
    def value(self) -> str:
        """Current value, as text."""

    @property
    def default(self) -> str:
        """Default value in the method, as text."""

    @property
    def allowed(self) -> str:
        """Allowed values in words, such as "an odd integer from 1 to 15"."""

    @property
    def description(self) -> str:
        """Meaning of the parameter."""

    @property
    def minimum(self) -> float | None:
        """Smallest number, or None."""

    @property
    def maximum(self) -> float | None:
        """Largest number, or None."""

    @property
    def step(self) -> float:
        """
        Distance between allowed numbers, from the minimum upwards; 0: any number in between.
        """

    @property
    def choices(self) -> list[str]:
        """Allowed values of a choice."""

    @property
    def unit(self) -> str:
        """Unit, such as "pixels"; empty if there is none."""

    def __repr__(self) -> str: ...

class Slot:
    """A slot of a pipeline with its stage."""

    @property
    def slot(self) -> str:
        """Name of the slot, with which its parameters begin: "optimisation"."""

    @property
    def stage(self) -> str:
        """Name of the stage in the slot: "sgm"."""

    @property
    def parameters(self) -> list[ParameterInfo]:
        """Parameters of the stage."""

    @property
    def is_refinement(self) -> bool:
        """True for refinements, of which there may be any number."""

    def __repr__(self) -> str: ...

class PartitionPlan:
    """
    A plan for matching stripes of rows, with the same result as the whole image: `raw` runs on every stripe, then `refined` runs on the maps of all stripes. Each reads a margin of rows above and below.
    """

    @property
    def follows_paths(self) -> bool:
        """
        True if path costs pass between stripes, as in semi-global matching. Otherwise a stripe is a region.
        """

    @property
    def path_kinds(self) -> int:
        """Number of rows of Result.paths: 1 with 4 paths, 3 with 8 paths."""

    @property
    def raw(self) -> Pipeline:
        """
        Pipeline from the images to the selection, with the refinements that have a small margin.
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
        """Pipeline of the remaining refinements, or None."""

    @property
    def refined_rows(self) -> int:
        """Margin of `refined`, in rows."""

    @property
    def fills(self) -> bool:
        """
        True if `refined` fills along columns, up to the next measured pixel. Rows are then read until the column of each filled pixel, and of each invalid one without a mask, has a measured pixel above and below, at least before_fill rows inside the rows that are read, or these reach the border of the image.
        """

    @property
    def before_fill(self) -> int:
        """Margin of the refinements before the fill, in rows."""

    @property
    def behind_fill(self) -> int:
        """Margin of the refinements after the fill, in rows."""

    @property
    def reads_images(self) -> bool:
        """True if `refined` reads the images."""

    @property
    def reads_right(self) -> bool:
        """True if `refined` reads the disparity of the right view."""

    @property
    def reads_confidence(self) -> bool:
        """True if `refined` reads the confidence."""

class Pipeline:
    @overload
    def __init__(self, method: str) -> None: ...

    @overload
    def __init__(self, other: Pipeline) -> None: ...

    @property
    def method(self) -> str:
        """Name of the method from which the pipeline was created."""

    def set_text(self, name: str, value: str) -> None: ...

    def put_stage(self, slot: str, function: object, name: str, makes: str, largest: float, takes: str | None, required_input: object | None) -> None: ...

    def get_text(self, name: str) -> str: ...

    def parameters(self) -> list[ParameterInfo]:
        """Returns all parameters, in order."""

    def partition_plan(self, want_confidence: bool = False) -> PartitionPlan:
        """
        Returns the plan for matching stripes. Raises CallError with the reason if stripes cannot give the same result as the whole image.
        """

    def in_stripes(self, want_confidence: bool = False) -> PartitionPlan:
        """Deprecated name of partition_plan()."""

    def slots(self) -> list[Slot]:
        """Returns the slots with their stages."""

    def to_json(self) -> str:
        """Returns the JSON that the command's --pipeline reads."""

    @staticmethod
    def parse(json: str) -> Pipeline: ...

def methods() -> list[MethodInfo]: ...

def presets() -> list[MethodInfo]: ...

def stages() -> list[tuple[str, list[str]]]: ...

def check_json_depth(json: str) -> None:
    """Raises FormatError if the JSON is nested too deeply."""

def read_pipeline(file: str | os.PathLike) -> Pipeline: ...

class DeviceArray:
    """
    An array of a result on a GPU.

    torch.from_dlpack, cupy.from_dlpack, jax.numpy.from_dlpack and numba.cuda.as_cuda_array import it without a copy,
    ordered with their streams.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""

    @property
    def dtype(self) -> str:
        """Type of the elements, such as "float32"."""

    @property
    def device(self) -> str:
        """Name of the device, such as "cuda:0"."""

    @property
    def stream(self) -> int:
        """
        Address of the CUDA stream that writes the array; 1 is the default stream.
        """

    def to_numpy(self) -> numpy.typing.NDArray[Any]:
        """Waits until the array is written, and returns a copy on the host."""

    def __dlpack__(self, *, stream: object | None = None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> object: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...

    def __array__(self, *args: object, **kwargs: object) -> numpy.typing.NDArray[Any]: ...

    def __repr__(self) -> str: ...

class Device:
    """A device that the library has looked for, usable or not."""

    @property
    def name(self) -> str:
        """Name of the device, for `device=`: "cpu", "cuda:0"."""

    @property
    def description(self) -> str:
        """Hardware, such as "Intel Xeon, 2 cores, AVX-512"."""

    @property
    def usable(self) -> bool:
        """True if matchers can run on the device."""

    @property
    def reason(self) -> str:
        """
        Reason why the device cannot be used, and what to do; empty if it can be used.
        """

    @property
    def properties(self) -> dict[str, str]:
        """Further properties by their names."""

    def __repr__(self) -> str: ...

def devices() -> list[Device]:
    """Returns all devices that the library has looked for, usable or not."""

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
        """True if the step computes several stages at once."""

    @property
    def scratch_bytes(self) -> int:
        """
        Memory that the step needs in addition to its inputs and outputs, in bytes.
        """

    @property
    def bytes(self) -> float:
        """Bytes that the definition of the step reads and writes."""

    @property
    def note(self) -> str:
        """
        Reason why no fused or faster implementation is used; empty if there is none.
        """

    def __repr__(self) -> str: ...

class Pair:
    def __init__(self, left: object | None, right: object | None, mask_left: object | None, mask_right: object | None, volume: object | None, bit_depth: int, colour: str, stream: object | None, beside: dict) -> None: ...

    @property
    def kind(self) -> tuple:
        """
        (height, width, channels, dtype) of the images, the same of the costs, and the device.
        """

    @property
    def stream(self) -> int: ...

    def report(self, rectification: Rectification | None) -> PairReport | None:
        """
        Checks images on the host quickly; None if they are too small to be judged.
        """

class Pending:
    def wait(self) -> dict: ...

    def overlaps(self, pair: Pair) -> bool: ...

    def report(self, rectification: Rectification | None) -> PairReport | None: ...

class Matcher:
    def __init__(self, pipeline: Pipeline, shape: tuple[int, int, int], dtype: str, bit_depth: int, disparities: tuple[int, int], volume_dtype: str | None, without_images: bool, region: tuple[int, int, int, int] | None, stripe: tuple[int, int, bool, bool, str] | None, refine_only: bool, want: Sequence[str], probes: Sequence[tuple[int, int]], rig: Rig | None, calibration: Calibration | None, frame: str, disparity_error: float, fill_depth: bool, device: str, threads: int, implementation: str, memory_limit: int, batch: int, colour: str) -> None: ...

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
    Reads a disparity map, (height, width) float32 in pixels, NaN where invalid, from PFM, NPY, TIFF, PNG or PGM.

    Integer files store disparity × scale; 0 means 256 for 16 bits, and 8 bits require a scale. Raises FileError and
    FormatError, and CallError if the scale is missing.
    """

def write_disparity(file: str | os.PathLike[str], disparity: numpy.typing.NDArray[numpy.float32], scale: float = 0.0) -> None:
    """
    Writes a disparity map, (height, width) float32 in pixels, NaN where invalid.

    The formats are .pfm (invalid = +inf), .npy, .tif, .tiff, 16-bit .png (×256), and 8-bit .png or .pgm with a
    scale. The float formats suit depth and other float maps, too. An existing file is replaced only when the new
    one is complete. Raises FileError and CallError.
    """

def read_pfm(file: str | os.PathLike[str]) -> numpy.typing.NDArray[numpy.float32]:
    """
    Reads a disparity map, (height, width) float32 in pixels, from a .pfm file; +inf becomes NaN.
    """

def write_pfm(file: str | os.PathLike[str], disparity: numpy.typing.NDArray[numpy.float32]) -> None:
    """
    Writes a disparity map, or another float map, (height, width) float32, to a .pfm file; NaN becomes +inf.
    """

class PairReport:
    """
    The result of check(): whether a pair is suitable for matching, and why not.
    """

    @property
    def matches(self) -> int:
        """
        Number of sparse matches from which the other values are computed; 0 if there are too few.
        """

    @property
    def median_dy(self) -> float:
        """Median of |y_left − y_right|, in pixels."""

    @property
    def p95_dy(self) -> float:
        """95th percentile of |y_left − y_right|, in pixels."""

    @property
    def median_disparity(self) -> float:
        """Median of the disparities, in pixels."""

    @property
    def swapped(self) -> bool:
        """
        True if nearly all disparities are negative: the images are in the wrong order, or the cameras converge.
        """

    @property
    def same_image(self) -> bool:
        """True if both images have the same pixels."""

    @property
    def same_view(self) -> bool:
        """
        True if nearly all disparities are 0: both images show the scene from one place.
        """

    @property
    def vertical(self) -> bool:
        """
        True if one camera is above the other; `swapped` if `left` is the image of the lower one.
        """

    @property
    def unrelated(self) -> bool:
        """
        True if the images have texture, but no point of one was found in the other.
        """

    @property
    def turn(self) -> str:
        """
        Turn of one image against the other: "none", "half" (by 180°), "rows_reversed" or "mirrored".
        """

    @property
    def disparities(self) -> tuple[int, int]:
        """Estimated search range: (first, end)."""

    @property
    def rectified(self) -> bool:
        """True if rows correspond: median_dy is at most 1 pixel."""

    def __repr__(self) -> str: ...

def check(left: object, right: object, colour: str = 'rgb', bit_depth: int = 0) -> PairReport: ...

def estimate_disparities(left: object, right: object, colour: str = 'rgb', bit_depth: int = 0) -> tuple[int, int]: ...

def evaluate(disparity: object, truth: object, mask: object | None) -> dict[str, Any]: ...

def find_mismatch(disparity: object, truth: object, mask: object | None) -> tuple[float, bool, bool, bool]:
    """
    Returns why the maps differ nearly everywhere: truth / disparity, and whether the rows of the truth are upside
    down, its bytes reversed, and its zeros unknown.
    """

def colour_disparity(disparity: object, low: float, high: float, legend: bool) -> numpy.typing.NDArray[numpy.uint8]: ...

def display_limits(disparity: object) -> tuple[float, float]: ...

def colour_validity(validity: object, legend: bool) -> numpy.typing.NDArray[numpy.uint8]: ...

def scene_names() -> list[str]:
    """Returns the names of the scenes that synth() generates."""

def synth(scene: str, width: int, height: int, disparities: int, seed: int, options: Mapping[str, float]) -> dict: ...
