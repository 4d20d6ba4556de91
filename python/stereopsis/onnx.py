"""Stereo networks as ONNX files: whole networks as methods, and features or cost volumes as costs.

`OnnxMatcher` is also `--method onnx:FILE` of the command. The package onnxruntime is required (the extra `onnx`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import importlib
import io
import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import _options
from ._errors import CallError, Error, FileError, FormatError, UnsupportedError
from ._external import Array, device_of, grey, one_line
from ._json import parsed
from ._stage import StageCall

__all__ = ["Description", "OnnxCost", "OnnxMatcher"]

PROVIDERS = {
    "cpu": "CPUExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "tensorrt": "TensorrtExecutionProvider",
    "openvino": "OpenVINOExecutionProvider",
}
AUTOMATIC = ("cuda", "cpu")  # TensorRT compiles a network for minutes, so that it is used by name only
BESIDE = {"tensorrt": ("cuda",)}  # providers that run what another provider cannot; the CPU runs the rest
COLOURS = {1: "grey", 3: "rgb"}
TYPES = {"tensor(float)": "float32", "tensor(float16)": "float16", "tensor(uint8)": "uint8"}
OUTPUT_TYPES = {**TYPES, "tensor(double)": "float64", "tensor(int8)": "int8", "tensor(uint16)": "uint16", "tensor(int16)": "int16",
    "tensor(int32)": "int32", "tensor(int64)": "int64"}  # fmt: skip
WARNING, FATAL = 2, 4  # severities of onnxruntime's messages; WARNING is the default
ON_GPU = ("cuda", "tensorrt")  # providers whose name may have the number of a GPU: "cuda:1"
CHANNELS = (1, 3, 2, 6)  # numbers of channels that an input may have
MOST_PIXELS = 1 << 28  # limit of the size of a network with a fixed size
GPU_KINDS = (2, 13)  # DLPack's numbers of CUDA's memory


@dataclass(frozen=True)
class Description:
    """Describes the inputs and the output of a stereo network. None stands for what is detected from the file, or for the default.

    left, right  names of the inputs [the first and the second input; or one input with both images in its channels]
    output       name of the output [the last output that has the size of the input, else the last one]
    layout       "NCHW" or "NHWC" [the axis with 1, 3, 2 or 6 channels]
    color        "rgb", "bgr" or "grey" [grey for one channel, else rgb]
    white        value of white: 1 for intensities from 0 to 1 [255]
    mean, std    the network gets (intensity − mean) / std, with one value or one for each channel, in the order of `color` [0 and 1]
    multiple     the padded width and height are multiples of it [32, or the fixed size of the network]
    padding      "end" pads the right and the lower border, "centre" all four, with the pixels at the border [end]
    factor       disparity in pixels = factor · output; -1 for a flow to the right view [width of the input / width of the output]
    halo         margin of a tile in `stereopsis scale`, in pixels; results in tiles are not exact [256]
    """

    left: str | None = None
    right: str | None = None
    output: str | None = None
    layout: str | None = None
    color: str | None = None
    white: float = 255.0
    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)
    multiple: int = 32
    padding: str = "end"
    factor: float | None = None
    halo: int = 256

    @classmethod
    def read(cls, file: str | os.PathLike[str]) -> Description:
        """Reads a description from a JSON file. The key "about" may contain a remark. Raises FileError, FormatError and CallError."""
        try:
            text = Path(file).read_bytes()
        except OSError as error:
            raise FileError(f"'{os.fspath(file)}' cannot be read: {error.strerror}") from error
        keys = parsed(text, f"'{os.fspath(file)}'")
        if not isinstance(keys, dict):
            raise FormatError(f"'{os.fspath(file)}' is not a JSON object; write {{\"white\": 1, …}}")
        keys.pop("about", None)
        return cls().changed(keys, f"'{os.fspath(file)}'")

    def changed(self, keys: dict[str, Any], where: str) -> Description:
        """Returns a description with other values. Raises CallError for a key or a value that is not allowed; the message begins with
        `where`.
        """
        known = {field.name for field in dataclasses.fields(self)}
        if "colour" in keys and "color" not in keys:  # the earlier spelling
            keys = {**keys, "color": keys["colour"]}
            del keys["colour"]
        for name in keys:
            if name not in known:
                raise CallError(f"{where} has no key '{name}'; the keys are {', '.join(sorted(known))}")
        values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in keys.items()}
        for name in ("mean", "std"):
            if isinstance(values.get(name), (int, float)):
                values[name] = (values[name],)
        made = dataclasses.replace(self, **values)
        made._check(where)
        return made

    def _check(self, where: str) -> None:
        def refuse(name: str, allowed: str) -> None:
            raise CallError(f"{where}: {name}={getattr(self, name)!r} is not allowed; it must be {allowed}")

        choices = {"layout": ("NCHW", "NHWC", None), "color": ("rgb", "bgr", "grey", None), "padding": ("end", "centre")}
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                refuse(name, " or ".join(repr(one) for one in allowed if one))
        for name in ("left", "right", "output"):
            if not isinstance(getattr(self, name), (str, type(None))):
                refuse(name, "a name")
        for name, low in (("multiple", 1), ("halo", 0)):
            value = getattr(self, name)
            if type(value) is not int or not low <= value <= 4096:
                refuse(name, f"an integer from {low} to 4096")
        for name in ("mean", "std"):
            value = getattr(self, name)
            if not isinstance(value, tuple) or len(value) not in (1, 3) or not all(_is_float32(one) for one in value):
                refuse(name, "a number or a list of 3 numbers, finite in float32")
        if not _is_float32(self.white) or np.float32(self.white) <= 0:
            refuse("white", "a finite number above 0")
        if not all(np.float32(one) for one in self.std):
            refuse("std", "other than 0")
        if self.factor is not None and (not _is_float32(self.factor) or not np.float32(self.factor)):
            refuse("factor", "a finite number other than 0")


def _is_float32(value: Any) -> bool:
    """Returns whether a value is a number that float32 represents as a finite number."""
    return type(value) in (int, float) and abs(value) <= float(np.finfo(np.float32).max)


class _Session:
    """An ONNX file that is loaded on a provider. Inputs and outputs are bound, so that arrays on the session's device stay there.

    The provider may name a GPU, as "cuda:1". Without a number, arrays on a GPU are processed on that GPU.
    """

    def __init__(self, file: Path, provider: str, threads: int) -> None:
        self._file, self._threads = file, threads
        name, self._named, number = provider.partition(":")
        self.number = _options.integer("the number of the GPU", int(number), 0, 1023) if number.isdecimal() else 0
        if self._named and (name not in ON_GPU or not number.isdecimal()):
            raise CallError(f"provider={provider!r} is not allowed; a number is allowed only for a GPU, as in 'cuda:1'")
        self._elsewhere: dict[int, _Session] = {}  # by the number of the GPU
        onnxruntime = importlib.import_module("onnxruntime")  # optional, and slow to import
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = FATAL  # errors are raised
        candidates = _providers_of(name, onnxruntime.get_available_providers())
        if candidates[0] != "cpu":
            _load_libraries(onnxruntime)
        for self.provider in candidates:
            wanted = [PROVIDERS[one] for one in (self.provider, *BESIDE.get(self.provider, ()))]
            settings = [{"device_id": self.number} if self.number else {} for _ in wanted]
            try:
                with _without_messages(onnxruntime):
                    self._session = onnxruntime.InferenceSession(str(file), options, providers=wanted, provider_options=settings)
            except Exception as error:  # noqa: BLE001 - onnxruntime has many exceptions without a common base
                raise FormatError(f"'{file}' cannot be loaded as a network: {_reason(error)}") from error
            if wanted[0] in self._session.get_providers():
                break
        else:
            raise UnsupportedError(
                f"the provider {self.name} of onnxruntime does not start on this machine; check its driver and libraries, or use provider='cpu'"
            )
        self.inputs = {one.name: one for one in self._session.get_inputs()}
        self.outputs = {one.name: one for one in self._session.get_outputs()}

    @property
    def name(self) -> str:
        """The provider, with the number of its GPU unless it is the first one: "cuda", "cuda:1"."""
        return f"{self.provider}:{self.number}" if self.number else self.provider

    def at(self, number: int) -> _Session:
        """Returns the network on the GPU of this number."""
        if number == self.number:
            return self
        if self._named:
            raise CallError(f"the images are on cuda:{number}, and the network runs on cuda:{self.number}; use the same GPU for both")
        if number not in self._elsewhere:
            self._elsewhere[number] = _Session(self._file, f"{self.provider}:{number}", self._threads)
        return self._elsewhere[number]

    @property
    def device(self) -> str:
        """The device of bound arrays. OpenVINO reads arrays of the host."""
        return "cuda" if self.provider in ("cuda", "tensorrt") else "cpu"

    def run(self, inputs: dict[str, Array], output: str) -> Array:
        """Returns an output, on the device of the inputs."""
        on_device = not isinstance(next(iter(inputs.values())), np.ndarray)
        if on_device and self.device != "cuda":
            raise CallError(f"the images are on a GPU, and the network runs by the provider {self.provider}; use provider='cuda', or copy the images to the host")
        if on_device and (there := self.at(next(iter(inputs.values())).device.id)) is not self:
            return there.run(inputs, output)
        binding = self._session.io_binding()
        place, number = ("cuda", self.number) if on_device else ("cpu", 0)
        for name, array in inputs.items():
            binding.bind_input(name, place, number, array.dtype.type, array.shape, _address(array))
        binding.bind_output(output, place, number)
        if on_device:
            _cupy().cuda.get_current_stream().synchronize()  # the network runs in a stream of its own
        try:
            self._session.run_with_iobinding(binding)
        except Exception as error:  # noqa: BLE001 - as above
            raise Error(f"the network cannot be run on images of {_sizes(inputs)}: {_reason(error)}") from error
        found = binding.get_outputs()[0]
        return _on_device(found, number) if on_device else found.numpy()


def _address(array: Array) -> int:
    return int(array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr)


def _sizes(inputs: dict[str, Array]) -> str:
    return ", ".join("×".join(map(str, array.shape)) for array in inputs.values())


def _reason(error: Exception) -> str:
    return one_line(str(error), 0) or type(error).__name__


def _on_device(found: Any, number: int) -> Array:
    """Returns an output in the memory of a GPU as an array of CuPy, without a copy. The array keeps the output."""
    cupy, shape, dtype = _cupy(), tuple(found.shape()), np.dtype(OUTPUT_TYPES[found.data_type()])
    memory = cupy.cuda.UnownedMemory(found.data_ptr(), math.prod(shape) * dtype.itemsize, found, number)
    return cupy.ndarray(shape, dtype, cupy.cuda.MemoryPointer(memory, 0))


def _load_libraries(onnxruntime: Any) -> None:
    """Loads the libraries of CUDA and cuDNN that pip has installed, which the dynamic loader does not find by itself."""
    if hasattr(onnxruntime, "preload_dlls"):
        with contextlib.redirect_stdout(io.StringIO()):  # it prints which libraries are missing; a provider that does not start is reported later
            onnxruntime.preload_dlls()


@contextlib.contextmanager
def _without_messages(onnxruntime: Any) -> Iterator[None]:
    """Keeps the standard output and the standard error free of onnxruntime's text about what fails; failures are raised."""
    onnxruntime.set_default_logger_severity(FATAL)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        onnxruntime.set_default_logger_severity(WARNING)


def _providers_of(name: str, available: list[str]) -> list[str]:
    """Returns the providers to try, in this order; for "auto" those of AUTOMATIC that are there."""
    there = [known for known, full in PROVIDERS.items() if full in available]
    if name == "auto":
        return [one for one in AUTOMATIC if one in there]
    _options.one_of("provider", name, "auto", *PROVIDERS)
    if name not in there:
        raise UnsupportedError(f"this onnxruntime has no provider {name}; it has {', '.join(there)}; install another build of onnxruntime")
    return [name]


def _cupy() -> Any:
    try:
        return importlib.import_module("cupy")
    except ModuleNotFoundError:
        raise UnsupportedError("images on a GPU require the package cupy, which is not installed; install it, or copy the images to the host") from None


def _cupy_stream(address: int) -> Any:
    """Returns a CUDA stream of the library as a stream of CuPy."""
    cuda = _cupy().cuda
    if not hasattr(cuda.Stream, "from_external"):  # CuPy before version 14
        return cuda.ExternalStream(address)
    return cuda.Stream.from_external(_Stream(address))


@dataclass(frozen=True)
class _Stream:
    """A CUDA stream in the protocol of Python's libraries."""

    address: int

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.address


def _as_array(image: Array) -> Array:
    """Returns the image as an array of NumPy or, on a GPU, of CuPy, without a copy."""
    if isinstance(image, np.ndarray):
        return image
    if hasattr(image, "__dlpack__") and image.__dlpack_device__()[0] in GPU_KINDS:
        return _cupy().from_dlpack(image)
    return _cupy().asarray(image) if hasattr(image, "__cuda_array_interface__") else np.asarray(image)


def _module_of(array: Array) -> Any:
    """Returns NumPy or CuPy, which have the same functions."""
    return np if isinstance(array, np.ndarray) else _cupy()


class _Input:
    """One input of a network: its layout, channels, size and type."""

    def __init__(self, about: Any, described: Description, where: str) -> None:
        self.name, shape = about.name, [one if isinstance(one, int) and one > 0 else None for one in about.shape]
        if about.type not in TYPES:
            raise UnsupportedError(f"{where}: the input '{self.name}' has the type {about.type}; it must be float32, float16 or uint8")
        self.dtype = TYPES[about.type]
        if len(shape) != 4:
            raise UnsupportedError(f"{where}: the input '{self.name}' has {len(shape)} axes; an image must have 4, NCHW or NHWC")
        self.layout = described.layout or ("NHWC" if shape[3] in CHANNELS and shape[1] not in CHANNELS else "NCHW")
        first = 2 if self.layout == "NCHW" else 1
        self.channels = shape[1] if self.layout == "NCHW" else shape[3]
        self.size: tuple[int | None, int | None] = (shape[first], shape[first + 1])
        shown = "×".join(str(one or "any") for one in shape)
        if self.channels not in CHANNELS and (self.channels is not None or {shape[1], shape[3]} & {*CHANNELS}):
            raise UnsupportedError(
                f"{where}: the input '{self.name}' has the shape {shown}, which is {self.channels or 'any number of'} channels in the layout "
                f"{self.layout}; an input must have 1, 3, 2 or 6 channels, so change the layout or export the network anew"
            )
        if (self.size[0] or 1) * (self.size[1] or 1) > MOST_PIXELS:
            raise UnsupportedError(f"{where}: the input '{self.name}' has the shape {shown}, and at most {MOST_PIXELS} pixels are supported; export a smaller size")

    def tensor(self, image: Array, described: Description, channels: int, padding: tuple[tuple[int, int], tuple[int, int]]) -> Array:
        """Returns the padded image in the units and the layout of the network."""
        xp = _module_of(image)
        colour = described.color or COLOURS[channels]
        pixels = grey(image)[..., None] if colour == "grey" else image[..., None] if image.ndim == 2 else image
        if colour != "grey" and pixels.shape[2] == 1:
            pixels = xp.repeat(pixels, 3, axis=2)
        if colour == "bgr":
            pixels = pixels[..., ::-1]
        pixels = xp.pad(pixels, (*padding, (0, 0)), mode="edge")
        if self.dtype == "uint8":
            pixels = xp.clip(xp.rint(pixels), 0, 255)
        else:
            pixels = pixels.astype("float32") * np.float32(described.white / 255)
            pixels = (pixels - xp.asarray(described.mean, "float32")) / xp.asarray(described.std, "float32")
        ordered = pixels.transpose(2, 0, 1) if self.layout == "NCHW" else pixels
        return xp.ascontiguousarray(ordered[None], self.dtype)


class OnnxMatcher:
    """A stereo network in an ONNX file, as a method for every tool: st.Matcher(st.OnnxMatcher("model.onnx")), `--method onnx:model.onnx`.

    file       the network. A file of the same name with the ending .json is its Description
    provider   "auto" (CUDA if it starts here, else the CPU), "cpu", "cuda", "tensorrt" or "openvino"; "cuda:1" is the second GPU
    threads    number of CPU threads; 0: all
    described  keys of Description, which replace those of the JSON file

    The names of inputs, the layout, the size and the scale of the output are detected; intensities are from 0 to 255 unless described.
    `repr` shows what was detected. Images on a GPU stay there, which requires the provider "cuda" and the package cupy. Raises FileError,
    FormatError, CallError, and UnsupportedError if onnxruntime is not installed.
    """

    def __init__(self, file: str | os.PathLike[str], *, provider: str = "auto", threads: int = 0, **described: Any) -> None:
        self.file = Path(file)
        if not self.file.is_file():
            raise FileError(f"'{self.file}' does not exist; give the ONNX file of a network")
        beside = self.file.with_suffix(".json")
        where = f"'{self.file}'"
        read = Description.read(beside) if beside.is_file() else Description()
        self.description = read.changed(described, where)
        self._provider, self._threads = provider, _options.integer("threads", threads, 0, 65536)
        self._session = _loaded(self.file, provider, self._threads)
        self._inputs, self._channels = self._inputs_of(where)
        self._output = self._output_of(where)
        self.name = f"onnx:{self.file.name}"
        self.text = f"onnx:{self.file.resolve()}"

    @property
    def provider(self) -> str:
        """The provider that runs the network, with the number of the GPU unless that is 0."""
        return self._session.name

    @functools.cached_property
    def digest(self) -> str:
        """Hash of the file and its description, by which results of the same network are known."""
        described = json.dumps(dataclasses.asdict(self.description), sort_keys=True).encode()
        return hashlib.sha256(self.file.read_bytes() + described).hexdigest()

    @property
    def halo(self) -> int:
        """Margin of a tile, in pixels."""
        return self.description.halo

    def on(self, device: str, threads: int) -> OnnxMatcher:
        """Returns the network on a device: auto, cpu, cuda or cuda:N. Raises CallError for others."""
        name, colon, number = device.partition(":")
        if name not in ("auto", "cpu", "cuda") or (colon and (name != "cuda" or not number.isdecimal())):
            raise CallError(f"device={device!r} is not allowed for a network; it must be 'auto', 'cpu', 'cuda' or a GPU such as 'cuda:1'")
        if device in ("auto", self.provider, self._provider) and threads in (0, self._threads):
            return self
        changed = self._provider if name == "auto" else device
        return OnnxMatcher(self.file, provider=changed, threads=threads, **dataclasses.asdict(self.description))

    def _inputs_of(self, where: str) -> tuple[list[_Input], int]:
        """Returns the inputs of the pair, and the number of channels of an image."""
        there, d = self._session.inputs, self.description
        if not there:
            raise UnsupportedError(f"{where} has no inputs; a stereo network must have one or two")
        names = [d.left or next(iter(there)), d.right or next((one for one in there if one != (d.left or next(iter(there)))), None)]
        if len(there) == 1:
            names = names[:1]
        for name in names:
            if name not in there:
                raise CallError(f"{where} has no input '{name}'; its inputs are {', '.join(there)}")
        if len(there) > 2:
            raise UnsupportedError(f"{where} has the inputs {', '.join(there)}; a network must have one or two. Export it without the others")
        inputs = [_Input(there[name], d, where) for name in names if name is not None]
        per_image = 2 // len(inputs)
        channels = (inputs[0].channels or 3 * per_image) // per_image
        if channels not in COLOURS:
            raise UnsupportedError(
                f"{where}: the input '{inputs[0].name}' has {inputs[0].channels} channels; two inputs must have 1 or 3 channels each, and one input 2 or 6"
            )
        return inputs, channels

    def _output_of(self, where: str) -> str:
        """Returns the name of the output. Of several, the last one is the finest, and an output with the fixed size of the input is preferred."""
        there, wanted = self._session.outputs, self.description.output
        if wanted is not None:
            if wanted not in there:
                raise CallError(f"{where} has no output '{wanted}'; its outputs are {', '.join(there)}")
            return wanted
        size = self._inputs[0].size
        full = [str(name) for name, one in there.items() if None not in size and tuple(one.shape[-2:]) == size]
        return (full or [*map(str, there)])[-1]

    def __call__(self, left: Array, right: Array, disparities: tuple[int, int]) -> Array:
        """Returns the disparity of a pair. The search range is not used, because networks have their own."""
        pair = [_as_array(image) for image in (left, right)]
        with device_of(pair[0]):
            return self._matched(pair)

    def _matched(self, pair: list[Array]) -> Array:
        padding = self._padding(*pair[0].shape[:2])
        if len(self._inputs) == 2:
            tensors = {
                one.name: one.tensor(image, self.description, self._channels, padding)
                for one, image in zip(self._inputs, pair, strict=True)
            }
        else:
            (one,) = self._inputs
            both = [one.tensor(image, self.description, self._channels, padding) for image in pair]
            tensors = {one.name: _module_of(both[0]).concatenate(both, axis=1 if one.layout == "NCHW" else 3)}
        rows, columns = (size + sum(more) for size, more in zip(pair[0].shape[:2], padding, strict=True))
        found = self._map(self._session.run(tensors, self._output), rows, columns)
        (top, _), (before, _) = padding
        return found[top : top + pair[0].shape[0], before : before + pair[0].shape[1]]

    def _padding(self, height: int, width: int) -> tuple[tuple[int, int], tuple[int, int]]:
        sides = []
        for size, fixed in zip((height, width), self._inputs[0].size, strict=True):
            padded = fixed or -(-size // self.description.multiple) * self.description.multiple
            if padded < size:
                h, w = (one or "any" for one in self._inputs[0].size)
                raise CallError(
                    f"{self.name} reads images of at most {w}×{h} pixels, and the pair has {width}×{height}; export the network with dynamic axes"
                )
            before = (padded - size) // 2 if self.description.padding == "centre" else 0
            sides.append((before, padded - size - before))
        return sides[0], sides[1]

    def _map(self, output: Array, rows: int, columns: int) -> Array:
        """Returns the output as a map of the padded size, in pixels."""
        planes = output.reshape(output.shape[1:]) if output.ndim == 4 and output.shape[0] == 1 else output
        if planes.ndim == 3 and planes.shape[2] <= 2 < planes.shape[0]:
            planes = planes[..., 0]
        elif planes.ndim == 3 and planes.shape[0] <= 2:
            planes = planes[0]  # of a flow, the first plane is the horizontal one
        if planes.ndim != 2:
            raise CallError(f"the output '{self._output}' has the shape {tuple(output.shape)}, which is no disparity map; name another output in the JSON")
        height, width = planes.shape
        if rows % height or columns % width or rows // height != columns // width:
            raise CallError(
                f"the output '{self._output}' has {width}×{height} pixels for an input of {columns}×{rows}; the ratio must be a whole number"
            )
        ratio = columns // width
        factor = self.description.factor if self.description.factor is not None else ratio
        return enlarged(planes.astype("float32") * np.float32(factor), ratio)

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (str(self.file.resolve()), self._provider, self._threads, dataclasses.asdict(self.description))

    def __repr__(self) -> str:
        one = self._inputs[0]
        size = "any size" if one.size == (None, None) else f"{one.size[1] or 'any'}×{one.size[0] or 'any'}"
        colour = self.description.color or COLOURS[self._channels]
        return f"<{self.name} on {self.provider}: {', '.join(i.name for i in self._inputs)} ({one.layout}, {colour}, {one.dtype}, {size}) → {self._output}>"


def _remade(file: str, provider: str, threads: int, described: dict[str, Any]) -> OnnxMatcher:
    return OnnxMatcher(file, provider=provider, threads=threads, **described)


def _loaded(file: Path, provider: str, threads: int) -> _Session:
    try:
        return _Session(file, provider, threads)
    except ModuleNotFoundError as missing:
        raise UnsupportedError(f"networks require the package {missing.name}, which is not installed; run: python -m pip install onnxruntime") from missing


def enlarged(image: Array, ratio: int) -> Array:
    """Returns a map that is enlarged by a whole number, by linear interpolation between the centres of pixels."""
    for axis in (0, 1) if ratio > 1 else ():
        image = _enlarged_along(image, axis, ratio)
    return image


def _enlarged_along(image: Array, axis: int, ratio: int) -> Array:
    xp, size = _module_of(image), image.shape[axis]
    at = xp.clip((xp.arange(size * ratio) + 0.5) / ratio - 0.5, 0, size - 1)
    below = xp.floor(at).astype("int64")
    above = xp.minimum(below + 1, size - 1)
    shape = [1, 1]
    shape[axis] = -1
    part = (at - below).astype("float32").reshape(shape)
    low, high = xp.take(image, below, axis=axis), xp.take(image, above, axis=axis)
    return low + part * (high - low)


class OnnxCost:
    """A network's features, or its cost volume, as the cost of a pipeline: `pipeline.set_stage("cost", cost, largest=cost.largest)`.

    file      the network. One input: the output is features, NCHW, of that image. Two inputs: the output is a volume, (1, disparities,
              height, width), in which low costs are good, and its disparities begin at 0
    offset, scale  the cost of a candidate is floor(scale · (offset − dot) + 0.5), with the dot product of the features; in a volume,
              floor(scale · (output + offset) + 0.5)
    largest   largest cost, up to 255; costs are limited to 0 and `largest`
    provider, threads, described   as in OnnxMatcher; `multiple` is 1 unless described, so that features have the size of the image

    The features of a candidate outside the other view are those of the nearest pixel of its row. Raises the errors of OnnxMatcher.
    """

    def __init__(
        self,
        file: str | os.PathLike[str],
        *,
        offset: float = 1.0,
        scale: float = 63.5,
        largest: int = 127,
        provider: str = "auto",
        threads: int = 0,
        **described: Any,
    ) -> None:
        self.file = Path(file)
        if not self.file.is_file():
            raise FileError(f"'{self.file}' does not exist; give the ONNX file of a network")
        self.largest = _options.integer("largest", largest, 1, 255)
        for name, value in (("offset", offset), ("scale", scale)):
            if not _is_float32(value):
                raise CallError(f"{name}={value!r} is not allowed; it must be a finite number")
        self._offset, self._scale = float(offset), float(scale)
        where = f"'{self.file}'"
        self._description = Description(multiple=1).changed(described, where)
        self._session = _loaded(self.file, provider, _options.integer("threads", threads, 0, 65536))
        self._inputs = [_Input(one, self._description, where) for one in self._session.inputs.values()]
        if len(self._inputs) not in (1, 2):
            raise UnsupportedError(f"{where} has {len(self._inputs)} inputs; a network of features has one, and one of a cost volume two")
        self._output = self._description.output or list(self._session.outputs)[-1]
        self.__name__ = f"onnx:{self.file.name}"

    def __call__(self, call: StageCall) -> None:
        with contextlib.ExitStack() as there:
            if call.stream is not None:
                there.enter_context(_cupy().cuda.Device(call.reference.__dlpack_device__()[1]))
                there.enter_context(_cupy_stream(call.stream))
            self._compute(call)

    def _compute(self, call: StageCall) -> None:
        pair = [_as_array(image) for image in (call.reference, call.other)]
        made = _as_array(call.made)
        if len(self._inputs) == 2:
            made[...] = self._limited(self._volume(pair, call.first, call.count) + np.float32(self._offset))
            return
        left, right = (self._run({self._inputs[0].name: self._tensor(0, image)}, image) for image in pair)
        xp = _module_of(left)
        columns = xp.arange(left.shape[2])
        for k in range(call.count):
            at = xp.clip(columns - call.first - k, 0, left.shape[2] - 1)
            made[:, :, k] = self._limited(self._offset - (left * right[:, :, at]).sum(axis=0, dtype="float64"))

    def _tensor(self, k: int, image: Array) -> Array:
        return self._inputs[k].tensor(image, self._description, self._inputs[k].channels or 3, self._padding(image))

    def _padding(self, image: Array) -> tuple[tuple[int, int], tuple[int, int]]:
        rows, columns = (-size % self._description.multiple for size in image.shape[:2])
        return (0, rows), (0, columns)

    def _run(self, tensors: dict[str, Array], image: Array) -> Array:
        found = self._session.run(tensors, self._output)
        height, width = image.shape[:2]
        if found.ndim != 4 or found.shape[2] < height or found.shape[3] < width:
            raise CallError(f"the output '{self._output}' has the shape {tuple(found.shape)}; it must be (1, channels, {height}, {width}) or larger")
        return found[0, :, :height, :width].astype("float32")

    def _volume(self, pair: list[Array], first: int, count: int) -> Array:
        tensors = {self._inputs[k].name: self._tensor(k, image) for k, image in enumerate(pair)}
        volume = self._run(tensors, pair[0])
        if first < 0 or first + count > volume.shape[0]:
            raise CallError(f"the network has costs of the disparities 0 to {volume.shape[0] - 1}, and the range is {first} to {first + count - 1}; change the range")
        return volume[first : first + count].transpose(1, 2, 0)

    def _limited(self, value: Array) -> Array:
        xp = _module_of(value)
        return xp.clip(xp.floor(self._scale * value + 0.5), 0, self.largest).astype("uint8")
