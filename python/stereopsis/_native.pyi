"""
The compiled functions and classes. Programs use the names of the package stereopsis instead.
"""

from collections.abc import Mapping, Sequence
import os
import pathlib
from typing import Any, overload

import numpy
import numpy.typing


version: str = '0.1.0'

class Rig:
    """
    A calibrated, rectified rig: Z = focal · baseline / (d − (cx_left − cx_right)).

    `focal`, `cx_left`, `cx_right` and `cy` are in pixels; the centre of a pixel has integer coordinates. `baseline`
    is in `unit`: "mm", "m", or "" if the unit is not known. `size` is (width, height), or (0, 0) if it is not known.
    If `cx_right` is None, it equals `cx_left`. `baseline` may be a text such as "120mm" or "12cm", which gives
    the unit.
    """

    def __init__(self, *, focal: float, baseline: float | str, cx_left: float = 0.0, cy: float = 0.0, cx_right: float | None = None, unit: str = '', size: tuple[int, int] = (0, 0)) -> None: ...

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

    def range(self, near: float | str, far: float | str) -> tuple[int, int]:
        """
        Returns the search range (first, end) of all depths from `near` to `far`: numbers in `unit`, or texts such
        as "1.5m". Raises CallError.
        """

    @staticmethod
    def read(file: str | os.PathLike, right: str | os.PathLike | None = None, cameras: str = 'any', size: tuple[int, int] = (0, 0), lens: str = '', scale: float = 1.0) -> Rig:
        """
        Reads the rig of rectified pairs from a calibration file or folder, or from one file per camera.

        The formats and the arguments are the same as for read_calibration(). `size` is the (width, height) of the
        images, for a file without an image size. Warns with CalibrationWarning. Raises FileError, FormatError and
        CallError.
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
    The calibration of two raw cameras, with which pairs are rectified: X_right = rotation · X_left + translation.

    calibrate() and read_calibration() return a calibration, for `calibration=` of match() and Matcher.
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
    """Rectifies raw pairs with a calibration."""

    def __init__(self, calibration: Calibration) -> None: ...

    @property
    def complete(self) -> bool:
        """True if every rectified pixel has a source in the raw images."""

    def __call__(self, left: object, right: object, mask_left: object | None = None, mask_right: object | None = None) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray | None, numpy.ndarray | None]:
        """
        Returns both rectified images and their masks. A mask is 0 at pixels without a source that the given mask
        leaves, and None if every pixel has one. A Matcher with `calibration=` computes the same pixels.
        """

def parse_length(text: str) -> tuple[float, str]:
    """
    Returns a length such as "12cm" as a number in a unit that a rig can have: mm, m or none.
    """

def length_in(text: str, unit: str) -> float:
    """
    Returns a length such as "12cm" in mm or m. A number without a unit is in this unit.
    """

def read_calibration(file: str | os.PathLike, second: str | os.PathLike | None = None, cameras: str = 'any', size: tuple[int, int] = (0, 0), lens: str = '', scale: float = 1.0) -> Calibration:
    """
    Reads the calibration of raw cameras, for `calibration=` of match() and Matcher.

    The formats are those of the guide "Calibration and input formats": OpenCV, ROS, Kalibr, EuRoC, KITTI, ZED and
    others. `second` is the file of the right camera, or the second of OpenCV's two files, extrinsics and
    intrinsics. `cameras` selects the cameras of a KITTI file: 'grey', 'color' or 'any'. `size` is the (width,
    height) of the images, for a file that has no image size or several. `lens` is 'radtan' or 'equidistant' for a
    file that does not name its lens model. `scale` is the width of the images divided by the width of the
    calibrated images. Warns with CalibrationWarning if the file contradicts itself or its images. Raises FileError,
    FormatError and CallError. For a rectified pair, use Rig.read().
    """

class PosedCamera:
    """
    A camera to which depth is registered: X = rotation · X_left + translation.

    X_left is a point in the frame of the raw left camera, or of the rectified left camera if the raw cameras are
    not known. The translation is in the unit of the rig. `size` is the (width, height) of the camera's images.
    """

    def __init__(self, camera: Camera, *, size: tuple[int, int], rotation: Sequence[float] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], translation: Sequence[float] = [0.0, 0.0, 0.0]) -> None: ...

    @staticmethod
    def raw_left(calibration: Calibration) -> PosedCamera:
        """Returns the raw left camera of a calibration."""

    @staticmethod
    def read(file: str | os.PathLike, unit: str | None = None, left: str | os.PathLike | None = None) -> PosedCamera:
        """
        Reads a camera with K, D, image_width, image_height, R and T in the notation of OpenCV or ROS, cam2 of a
        Kalibr camchain, EuRoC's sensor.yaml, or the camera named color or rgb of RealSense parameters (JSON).
        `left` is the calibration of the left camera, which only EuRoC requires. The translation is converted to
        `unit`, the unit of the rig ("" if the rig has none). With None, the translation stays in the unit of the
        file. Raises FileError, FormatError, and CallError if only one of the file and the rig has a unit.
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
    Depth in the view of another camera. Pixels are NaN if the left camera does not see their surface.
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

    `cameras` is the calibration of the pair, or the rig of a rectified pair. With a rig, the pose of `to` is
    relative to the rectified left camera. Surfaces behind nearer ones are hidden. Pixels without a surface that the
    left camera sees are NaN. With `threads` = 0, all CPU threads are used. Raises CallError.
    """

class MethodInfo:
    """A named method or preset."""

    @property
    def name(self) -> str:
        """Name of the method, as Pipeline() and `method=` accept it."""

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
        Distance between allowed numbers, counted from the minimum; 0 means that all numbers in between are allowed.
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
        """
        Name of the slot, such as "optimisation". The names of all parameters in the slot begin with this name.
        """

    @property
    def stage(self) -> str:
        """Name of the stage in the slot, such as "sgm"."""

    @property
    def parameters(self) -> list[ParameterInfo]:
        """Parameters of the stage."""

    @property
    def is_refinement(self) -> bool:
        """
        True if the slot is a refinement. A pipeline may have any number of refinements.
        """

    def __repr__(self) -> str: ...

class PartitionPlan:
    """
    A plan for matching stripes of rows with the same result as the whole image. `raw` runs on every stripe, and
    `refined` then runs on the maps of all stripes. Both pipelines read a margin of rows above and below the stripe.
    """

    @property
    def follows_paths(self) -> bool:
        """
        True if path costs pass between stripes, as in semi-global matching. Otherwise, each stripe is matched as a
        region of the image.
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
        Margin of the refinements of `raw`, in rows. Path costs are also computed in this margin.
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
    def rated(self) -> Pipeline | None:
        """Pipeline that computes the confidence from the refined maps, or None."""

    @property
    def rated_rows(self) -> int:
        """Margin of `rated`, in rows."""

    @property
    def block(self) -> int:
        """The rows that are read for `rated` start at a multiple of this number."""

    @property
    def fills(self) -> bool:
        """
        True if `refined` has a fill, which searches columns for measured pixels at any distance. The rows that a stripe
        reads must then contain, above and below each pixel to fill, a measured pixel in the same column. The measured
        pixel must be at least `before_fill` rows inside the rows that are read, unless the border of the image is
        reached. Pixels to fill are all filled pixels, and invalid pixels that no mask excludes.
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
        """Returns all parameters, in the order of the slots."""

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

    torch.from_dlpack, cupy.from_dlpack, jax.numpy.from_dlpack and numba.cuda.as_cuda_array import the array without
    a copy. Later work in the stream of the importing library waits until the array is written.
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
        """Name of the device, for `device=`, such as "cpu" or "cuda:0"."""

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

def simd_targets() -> list[str]:
    """
    Returns the SIMD targets that this CPU and this build of the package support, the best one first.
    """

def use_simd(target: str) -> None:
    """
    Makes all matchers of the process use a SIMD target of the CPU. Results do not depend on the target. Call this function before matchers are made. Raises CallError for an unknown name, and UnsupportedError for a target that this CPU or this build lacks.

    `target`: one of simd_targets(), or "auto" for the best one.
    """

class Step:
    """A step of a plan."""

    @property
    def name(self) -> str:
        """Name of the operation."""

    @property
    def stage(self) -> str:
        """Name of the implementation, such as "rank" or "sgm_wta_cuda"."""

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
        """
        Number of bytes that the step reads and writes by definition, without scratch memory.
        """

    @property
    def note(self) -> str:
        """
        Reason why no fused or faster implementation is used; empty if there is none.
        """

    def __repr__(self) -> str: ...

class Pair:
    def __init__(self, left: object | None, right: object | None, mask_left: object | None, mask_right: object | None, volume: object | None, bit_depth: int, color: str, stream: object | None, beside: dict) -> None: ...

    @property
    def kind(self) -> tuple:
        """
        (height, width, channels, dtype) of the images, the same tuple for the costs, and the device.
        """

    @property
    def stream(self) -> int: ...

    def float_limits(self) -> tuple[float, float] | None:
        """
        Least and greatest value of a left float32 image in host memory; None for other images.
        """

    def fault(self, before: Pair | None, rectification: Rectification | None, expects_negative: bool) -> PairFault | None:
        """
        Returns the gravest fault of a pair on the host, after the pair `before`; None if it fits, or is too small to be judged.
        """

class Pending:
    def wait(self) -> dict: ...

    def overlaps(self, pair: Pair) -> bool: ...

    @property
    def pair(self) -> Pair: ...

class Matcher:
    def __init__(self, pipeline: Pipeline, shape: tuple[int, int, int], dtype: str, bit_depth: int, disparities: tuple[int, int], volume_dtype: str | None, without_images: bool, region: tuple[int, int, int, int] | None, stripe: tuple[int, int, bool, bool, str] | None, refine_only: bool, want: Sequence[str], probes: Sequence[tuple[int, int]], rig: Rig | None, calibration: Calibration | None, frame: str, disparity_error: float, fill_depth: bool, black: int | None, mark_flat: bool, device: str, threads: int, implementation: str, memory_limit: int, batch: int, color: str) -> None: ...

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
    def reads_confidence(self) -> bool: ...

    @property
    def reads_right(self) -> bool: ...

    @property
    def steps(self) -> list[Step]: ...

class DatasetScene:
    """A scene of a dataset: a pair with its ground truth, in files."""

    @property
    def name(self) -> str:
        """Name of the scene."""

    @property
    def dataset(self) -> str:
        """Name of the dataset; scenes of one dataset are averaged."""

    @property
    def folder(self) -> pathlib.Path:
        """Folder with the dataset.json."""

    @property
    def disparities(self) -> int:
        """Number of disparities of the search range, from 0 upwards."""

    def load(self) -> dict[str, Any]:
        """
        Reads the files. Returns `left`, `right`, `bit_depth`, `truth` (NaN where unknown), and `regions`: masks of
        counted pixels by name (nonocc, all, disc). Raises FileError and FormatError.
        """

def find_scenes(folder: str | os.PathLike[str]) -> tuple[list[DatasetScene], list[tuple[pathlib.Path, str]]]:
    """
    Returns the scenes in a folder, at any depth, and the files that describe no scene with the error of each.
    """

def read_masked_image(file: str | os.PathLike[str]) -> tuple[numpy.typing.NDArray[Any], numpy.typing.NDArray[numpy.uint8] | None, int]: ...

def read_disparity(file: str | os.PathLike[str], scale: float = 0.0) -> numpy.typing.NDArray[numpy.float32]:
    """
    Reads a disparity map, (height, width) float32 in pixels, NaN where invalid, from PFM, NPY, TIFF, PNG or PGM.

    Integer files store disparity × scale. The scale 0 means 256 for files of 16 bits; files of 8 bits require a
    scale. Raises FileError and FormatError, and CallError if the scale is missing.
    """

def add_input_file(file: str | os.PathLike) -> None: ...

def is_input_file(file: str | os.PathLike) -> bool:
    """Returns whether this process has read an image or a map from the file."""

def write_point_cloud(file: str | os.PathLike[str], points: object, color: object | None = None, confidence: object | None = None, organised: bool = False) -> None:
    """
    Writes a point cloud as binary .pcd or, with another extension, as binary PLY.

    `points` is (height, width, 3) float32 in the unit of the rig, NaN where invalid, as Result.points. The points
    get the colours of `color`, the rectified left image, (height, width) or (height, width, 3) RGB of uint8, and the
    `confidence`, (height, width) float32. `organised` keeps the invalid pixels. The bytes are those of the command's
    `cloud`. An existing file is replaced only when the new one is complete. Raises FileError and CallError.
    """

def write_bytes(file: str | os.PathLike[str], contents: bytes) -> None: ...

def name_beside(file: str | os.PathLike[str], ending: str) -> pathlib.Path: ...

def unfinished_file(file: str | os.PathLike[str]) -> pathlib.Path: ...

def finish_file(unfinished: str | os.PathLike[str], file: str | os.PathLike[str]) -> None: ...

def write_image(file: str | os.PathLike[str], image: object) -> None: ...

def write_disparity(file: str | os.PathLike[str], disparity: numpy.typing.NDArray[numpy.float32], scale: float = 0.0) -> None:
    """
    Writes a disparity map, (height, width) float32 in pixels, NaN where invalid.

    The formats are .pfm (invalid = +inf), .npy, .tif, .tiff, 16-bit .png (×256), and 8-bit .png or .pgm with a
    scale. The float formats can also store depth and other float maps. An existing file is replaced only when the
    new one is complete. Raises FileError and CallError.
    """

def read_pfm(file: str | os.PathLike[str]) -> numpy.typing.NDArray[numpy.float32]:
    """
    Reads a disparity map, (height, width) float32 in pixels, from a .pfm file; +inf becomes NaN.
    """

def write_pfm(file: str | os.PathLike[str], disparity: numpy.typing.NDArray[numpy.float32]) -> None:
    """
    Writes a disparity map, or another float map, (height, width) float32, to a .pfm file; NaN becomes +inf.
    """

class PairSource:
    def __init__(self, left: str | os.PathLike, right: str | os.PathLike, pair: str, slop: str, side_by_side: bool, top_bottom: bool, right_first: bool, keep_going: bool, open_video: object) -> None: ...

    def __len__(self) -> int: ...

    @property
    def is_sequence(self) -> bool: ...

    @property
    def rate(self) -> float: ...

    @property
    def dropped(self) -> list[str]: ...

    def left_file(self, index: int) -> pathlib.Path: ...

    def right_file(self, index: int) -> pathlib.Path: ...

    def name(self, index: int) -> str: ...

    def result_name(self, index: int) -> str: ...

    def seconds_apart(self, index: int) -> float | None: ...

    def read(self, index: int) -> tuple[tuple[numpy.typing.NDArray[Any], numpy.typing.NDArray[numpy.uint8] | None, int], tuple[numpy.typing.NDArray[Any], numpy.typing.NDArray[numpy.uint8] | None, int]]: ...

    def files_beside(self, given: str | os.PathLike) -> list[pathlib.Path]: ...

def has_both_views(folder: str | os.PathLike) -> bool: ...

def find_images(given: str | os.PathLike) -> list[pathlib.Path]: ...

def is_video(file: str | os.PathLike) -> bool: ...

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
    def rows_apart(self) -> float:
        """
        Largest |y_left − y_right| of a plane that is fitted to the matches, which is in a corner, in pixels.
        """

    @property
    def row_offset(self) -> float:
        """y_left − y_right in the centre of the image, in pixels."""

    @property
    def row_roll(self) -> float:
        """
        y_left − y_right at the right border minus that at the left border, in pixels.
        """

    @property
    def row_zoom(self) -> float:
        """
        y_left − y_right at the lower border minus that at the upper border, in pixels.
        """

    @property
    def judged(self) -> bool:
        """
        True if the pair is suitable or has a fault; False if the images are too small (below 160×120 pixels) or have
        too little texture.
        """

    @property
    def shared_pattern(self) -> bool:
        """
        True if both images have the same pattern at the same place, such as fixed noise of the sensor.
        """

    @property
    def swapped(self) -> bool:
        """
        True if at least 90 % of the disparities other than 0 are negative, and at most 75 % of all are 0: the images are in the wrong order, or the cameras converge.
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
        True if one camera is above the other. In this case, `swapped` is True if `left` is the image of the lower
        camera.
        """

    @property
    def unrelated(self) -> bool:
        """
        True if the images have texture, but no point of one image was found in the other.
        """

    @property
    def turn(self) -> str:
        """
        Rotation or reflection of one image relative to the other: "none", "half" (by 180°), "rows_reversed" or
        "mirrored".
        """

    @property
    def disparities(self) -> tuple[int, int]:
        """Estimated search range: (first, end)."""

    @property
    def rectified(self) -> bool:
        """
        True if rows correspond: median_dy is at most 1 pixel, and rows_apart at most a thousandth of the diagonal (1 to
        1.5 pixels).
        """

    def __repr__(self) -> str: ...

class PairFault:
    @property
    def kind(self) -> str: ...

    @property
    def sentence(self) -> str: ...

    @property
    def swapped(self) -> bool: ...

class PairJudge:
    """Decides which pairs of a sequence are checked, and counts the faults."""

    def __init__(self) -> None: ...

    def checks(self, number: int, measured: float) -> bool:
        """
        Returns whether a pair is to be checked of which this share, 0 to 1, was measured.
        """

    def record_sound(self, measured: float) -> None: ...

    def record(self, fault: PairFault, number: int) -> bool:
        """Returns whether no earlier pair has a fault of this kind."""

def check(left: object, right: object, color: str = 'rgb', bit_depth: int = 0) -> PairReport: ...

def estimate_disparities(left: object, right: object, color: str = 'rgb', bit_depth: int = 0) -> tuple[int, int]: ...

def evaluate(disparity: object, truth: object, mask: object | None) -> dict[str, Any]: ...

def find_mismatch(disparity: object, truth: object, mask: object | None) -> tuple[float, bool, bool, bool, float]:
    """
    Returns the likely cause if the maps differ nearly everywhere. The cause has the ratio truth / disparity, and
    states whether the truth is upside down, has reversed bytes, or contains 0 for unknown disparities. The last
    value is truth × disparity if one of the maps is a depth map, else 0.
    """

def color_maps() -> list[str]:
    """Returns the names of the colour maps; the first is the default."""

def color_map(name: str) -> numpy.typing.NDArray[numpy.uint8]:
    """
    Returns the colours of the map `name` of color_maps(), (256, 3) uint8, from low values to high ones. The maps
    'difference' and 'error' draw differences around 0 and errors. Raises CallError for another name.
    """

def color_values(values: object, low: float, high: float, legend: bool, map: str = '', unit: str = 'px', near_is_low: bool = False, validity: object | None = None) -> numpy.typing.NDArray[numpy.uint8]: ...

def display_limits(values: object, least: float = 1.0) -> tuple[float, float]: ...

def colour_validity(validity: object, legend: bool) -> numpy.typing.NDArray[numpy.uint8]: ...

def scene_names() -> list[str]:
    """Returns the names of the scenes that synth() generates."""

def synth(scene: str, width: int, height: int, disparities: int, seed: int, options: Mapping[str, float], like: str | None) -> dict: ...
