"""Reads images and writes maps in blocks with rasterio: GeoTIFF, BigTIFF, COG, VRT, Zarr, PNG and other formats of GDAL."""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _native
from .._errors import CallError, FileError, FormatError
from .spans import Span
from .store import sha256_of

Array = npt.NDArray[Any]
SAMPLE = 65536  # bytes
SAMPLES = 256  # approximate number of sampled files in a folder
CACHE = 64 << 20  # size of GDAL's cache, in bytes
BLOCK = 512  # side of a block of merged files, in pixels
# Options of GeoTIFFs with maps that units pass to each other.
FAST = {"zstd": {"compress": "zstd", "zstd_level": 1}, "none": {}}  # a predictor saves a sixth, in 50 % more time
TYPES = ("uint8", "uint16", "float32")


@contextmanager
def library() -> Iterator[Any]:
    """Returns rasterio with a small cache and without its warning about images without coordinates."""
    rasterio = importlib.import_module("rasterio")
    with warnings.catch_warnings(), rasterio.Env(GDAL_CACHEMAX=CACHE, GDAL_NUM_THREADS="ALL_CPUS", GDAL_PAM_ENABLED="NO"):
        warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
        yield rasterio


@contextmanager
def opened(path: str) -> Iterator[Any]:
    with library() as rasterio:
        try:
            dataset = rasterio.open(path)
        except rasterio.errors.RasterioError as error:
            raise FileError(f"{path} cannot be opened as an image: {error}") from error
        with dataset:
            yield dataset


@dataclass(frozen=True)
class Picture:
    """Size and type of an image, from the header of its file."""

    width: int
    height: int
    channels: int
    dtype: str
    masked: bool  # True if the file has a no-data value, a mask or an alpha channel
    bit_depth: int = 0  # significant bits if the file declares fewer than its type has, otherwise 0

    @classmethod
    def of(cls, path: str) -> Picture:
        with opened(path) as dataset:
            colours = [i for i, colour in enumerate(dataset.colorinterp) if colour.name != "alpha"]
            types = sorted({dataset.dtypes[i] for i in colours})
            if any(colour.name == "palette" for colour in dataset.colorinterp):
                raise CallError(f"{path} has a palette, whose indices are not intensities; convert it, for instance with gdal_translate -expand rgb")
            if len(types) != 1 or types[0] not in TYPES:
                raise CallError(f"{path} has pixels of the type {' and '.join(types)}; it must be one of {', '.join(TYPES)}")
            if len(colours) not in (1, 3):
                raise CallError(f"{path} has {len(colours)} channels; it must have 1 or 3")
            masked = any(flag.name != "all_valid" for flag in dataset.mask_flag_enums[0])
            bit_depth = _bit_depth_of_pnm(path) if dataset.driver == "PNM" else 0
            return cls(dataset.width, dataset.height, len(colours), types[0], masked, bit_depth)


def _bit_depth_of_pnm(path: str) -> int:
    """Returns the bit depth that follows from the largest value in the file's header, which GDAL does not report."""
    with open(path, "rb") as file:
        maxval = int(re.sub(rb"#[^\n]*", b"", file.read(4096)).split(maxsplit=4)[3])
    bits = maxval.bit_length()
    if maxval != (1 << bits) - 1 or bits < 8:
        raise CallError(f"{path} has values up to {maxval}; the largest value must be 255, 511, 1023 and so on up to 65535, so convert it")
    return bits if 8 < bits < 16 else 0


def read(path: str, picture: Picture, rows: Span, columns: Span, reduced: int = 1) -> tuple[Array, Array | None]:
    """Returns the pixels, (h, w) or (h, w, 3), and the mask if the file has one. `reduced` is the factor by which averaging
    reduces the image.
    """
    with opened(path) as dataset, library() as rasterio:
        window = rasterio.windows.Window(columns.first, rows.first, columns.length, rows.length)
        size = max(1, rows.length // reduced), max(1, columns.length // reduced)
        how = {"window": window, "resampling": rasterio.enums.Resampling.average} if reduced > 1 else {"window": window}
        try:
            if picture.channels == 1:
                pixels = dataset.read(1, out_shape=size, **how)
            else:
                pixels = np.ascontiguousarray(dataset.read([1, 2, 3], out_shape=(3, *size), **how).transpose(1, 2, 0))
            mask = dataset.dataset_mask(window=window, out_shape=size) if picture.masked else None
            if mask is not None:  # an alpha channel also has values between 0 and 255
                mask = np.where(mask != 0, np.uint8(255), np.uint8(0))
        except rasterio.errors.RasterioError as error:
            raise FileError(f"{path} cannot be read in rows {rows.first} to {rows.end}: {error}") from error
    return pixels, mask


def fingerprint(path: str, full: bool) -> dict[str, Any]:
    """Returns values that identify a file or, for Zarr, a folder of files: size, time, and a hash of all bytes or of three samples. """
    try:
        if os.path.isdir(path):
            return _fingerprint_of_folder(Path(path), full)
        own, others = _fingerprint_of_file(path, full), _files_behind(path)
        if not others:
            return own
        sums = hashlib.sha256(repr([(file, _fingerprint_of_file(file, full)) for file in others]).encode())
        return {**own, "behind": sums.hexdigest()}
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}") from error


def _files_behind(path: str) -> list[str]:
    """Returns the other files to which an image refers: the sources of a mosaic, recursively, and a mask next to the file."""
    found: set[str] = set()
    left = [path]
    while left:
        file = left.pop()
        if file != path and Path(file).suffix.lower() != ".vrt":
            continue
        with opened(file) as dataset:
            new = {name for name in dataset.files if os.path.isfile(name)} - found - {path}
        found |= new
        left += new
    return sorted(found)


def _fingerprint_of_file(path: str, full: bool) -> dict[str, Any]:
    about = Path(path).stat()
    with open(path, "rb") as file:
        if full:
            return {"bytes": about.st_size, "sha256": sha256_of(file)}
        samples = hashlib.sha256()
        for start in (0, about.st_size // 2, about.st_size - SAMPLE):
            file.seek(max(0, start))
            samples.update(file.read(SAMPLE))
    return {"bytes": about.st_size, "modified": about.st_mtime_ns, "samples": samples.hexdigest()}


def _fingerprint_of_folder(folder: Path, full: bool) -> dict[str, Any]:
    """Returns a hash of the names of the files. If `full`, the hash covers the bytes of all files. Otherwise, the hash covers the sizes and
    times of some files, because every unit checks the folder, which may have 100,000 files.
    """
    files = sorted(os.path.join(place, name) for place, _, names in os.walk(folder) for name in names)
    sums = hashlib.sha256("\n".join(os.path.relpath(file, folder) for file in files).encode())
    for file in files if full else files[:: max(1, len(files) // SAMPLES)]:
        about = os.stat(file)
        sums.update(f"{about.st_size} {0 if full else about.st_mtime_ns}\n".encode())
        if full:
            sums.update(Path(file).read_bytes())
    return {"files": len(files), "sha256" if full else "samples": sums.hexdigest()}


def _profile(dtype: np.dtype[Any]) -> dict[str, Any]:
    return {"driver": "GTiff", "count": 1, "dtype": dtype.name, "nodata": float("nan") if dtype.kind == "f" else None}


def encoded(map_: Array, compression: str = "zstd") -> bytes:
    """Returns a map as a GeoTIFF in memory. The caller writes the bytes to disk, so that the caller detects a full disk."""
    how = FAST["zstd" if map_.dtype.kind == "u" else compression]  # zstd reduces the bytes to a hundredth in the same time
    with library() as rasterio, rasterio.MemoryFile() as memory:
        height, width = map_.shape
        with memory.open(width=width, height=height, blockysize=16, **how, **_profile(map_.dtype)) as dataset:
            dataset.write(map_, 1)
        return bytes(memory.getbuffer())


def decoded(path: Path, rows: Span, columns: Span) -> Array:
    """Reads a part of a map that encoded() wrote."""
    with opened(str(path)) as dataset, library() as rasterio:
        part: Array = dataset.read(1, window=rasterio.windows.Window(columns.first, rows.first, columns.length, rows.length))
        return part


def write_tiled(path: Path, like: str, size: tuple[int, int], dtype: str, rows_of: Callable[[Span], Array], cog: bool) -> None:
    """Writes a map. `rows_of(rows)` returns a block of rows of the map. The file is read back, compared and then renamed. The map has the
    geographic coordinates of the file `like`.
    """
    width, height = size
    temporary = _native.unfinished_file(path)
    shape = {"tiled": True, "blockxsize": BLOCK, "blockysize": BLOCK} if min(size) >= 16 else {}
    try:
        with opened(like) as source, library() as rasterio:
            place = {} if source.crs is None and source.transform.is_identity else {"crs": source.crs, "transform": source.transform}
            how = {**_profile(np.dtype(dtype)), **shape, **place, **_deflate(np.dtype(dtype)), "bigtiff": "if_safer", "num_threads": "all_cpus"}
            try:
                file = rasterio.open(temporary, "w", width=width, height=height, **how)
            except rasterio.errors.RasterioError as error:
                raise FileError(f"{path} cannot be written: {error}") from error
            with file as made:
                sums = [_write_rows(rasterio, made, rows, pixels) for rows, pixels in _read_ahead(_block_rows(height), rows_of)]
        _check(temporary, width, height, sums)
        if cog:
            _as_cog(temporary)
        _native.finish_file(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _deflate(dtype: np.dtype[Any]) -> dict[str, Any]:
    """Returns the options of compression. Level 3 takes twice the time of level 1 and saves 1 % of the bytes."""
    return {"compress": "deflate", "zlevel": 1, "predictor": 3 if dtype.kind == "f" else 2}


def _read_ahead(spans: Sequence[Span], rows_of: Callable[[Span], Array]) -> Iterator[tuple[Span, Array]]:
    """Yields blocks of rows, and reads the next block while the caller uses the present one."""
    with ThreadPoolExecutor(1) as reader:
        ahead = reader.submit(rows_of, spans[0])
        for k, rows in enumerate(spans):
            pixels = ahead.result()
            if k + 1 < len(spans):
                ahead = reader.submit(rows_of, spans[k + 1])
            yield rows, pixels


def _block_rows(height: int) -> list[Span]:
    return [Span(y, min(height, y + BLOCK)) for y in range(0, height, BLOCK)]


def _write_rows(rasterio: Any, dataset: Any, rows: Span, pixels: Array) -> int:
    try:
        dataset.write(pixels, 1, window=rasterio.windows.Window(0, rows.first, dataset.width, rows.length))
    except rasterio.errors.RasterioError as error:
        raise FileError(f"{dataset.name} cannot be written: {error}; free space, and merge again") from error
    return zlib.crc32(np.ascontiguousarray(pixels).data)


def _check(path: Path, width: int, height: int, sums: Sequence[int]) -> None:
    """Compares the file with the checksums of its rows, because GDAL reports a full disk late or never."""
    for rows, expected in zip(_block_rows(height), sums, strict=True):
        try:
            found = zlib.crc32(np.ascontiguousarray(decoded(path, rows, Span(0, width))).data)
        except Exception as error:
            raise FileError(f"{path} was not written completely: {error}; free space, and merge again") from error
        if found != expected:
            raise FormatError(f"{path} was not written completely: rows {rows.first} to {rows.end} differ; free space, and merge again")


def _as_cog(path: Path) -> None:
    made = _native.unfinished_file(path)
    try:
        with library():
            importlib.import_module("rasterio.shutil").copy(
                path, made, driver="COG", compress="deflate", predictor="yes", blocksize=BLOCK, bigtiff="if_safer", num_threads="all_cpus"
            )
        _native.finish_file(made, path)
    finally:
        made.unlink(missing_ok=True)
