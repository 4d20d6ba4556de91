"""The alignment of rows in jobs: estimated once from the whole pair, and applied to the part that a unit reads."""

from typing import Any

import numpy as np

from .. import _native
from .._native import RowEstimate
from .._rows import row_settings, short_text, text_of
from .manifest import Input, Manifest
from .rasters import Array, read
from .settings import Settings
from .spans import Span

MOST_PIXELS = 1 << 25  # pixels of the image from which rows are estimated; larger images are reduced
OPTION = "--align-rows"


def rows_of_job(inputs: list[tuple[Input, Input]], settings: Settings) -> tuple[str, str]:
    """Returns `align_rows` of the manifest, and a sentence about the rows."""
    how = row_settings(settings.align_rows, OPTION)
    if how.is_off:
        return "off", "rows stay as they are"
    if how.fixed is not None:
        return text_of(how.fixed), short_text(_native.given_rows(how.fixed))
    if len(inputs) > 1:
        return "auto", "rows are estimated for each pair"
    factor, found = _estimated(inputs[0], settings)
    if found.alignment is None:
        return "off", found.sentence
    if factor * found.deviation.rms > RowEstimate.most_deviation:
        return "off", f"rows cannot be aligned: they were estimated from images reduced by {factor}, whose precision does not suffice"
    whole = found.alignment.scaled(factor)
    return text_of(whole), short_text(_native.given_rows(whole))


def _estimated(pair: tuple[Input, Input], settings: Settings) -> tuple[int, RowEstimate]:
    """Returns an estimate from images that are reduced by a factor, and the factor."""
    picture = pair[0].picture
    factor = 1
    while picture.height // factor * (picture.width // factor) > MOST_PIXELS:
        factor += 1
    whole = Span(0, picture.height), Span(0, picture.width)
    left, right = (read(image.path, image.picture, *whole, factor)[0] for image in pair)
    return factor, _native.estimate_row_alignment(left, right, bit_depth=settings.bit_depth or _depth_of(pair[0], left))


def _depth_of(image: Input, pixels: Array) -> int:
    return image.picture.bit_depth if pixels.dtype == np.uint16 else 0


def read_aligned(manifest: Manifest, image: Input, rows: Span, columns: Span) -> tuple[Array, Any]:
    """Reads a part of the right image with aligned rows, and its mask, as they are in the whole aligned image."""
    alignment = row_settings(manifest.align_rows).fixed
    if alignment is None:
        return read(image.path, image.picture, rows, columns)
    part = columns.first, rows.first, columns.length, rows.length
    x, y, width, height = _native.rows_for(part, manifest.size)
    pixels, mask = read(image.path, image.picture, Span(y, y + height), Span(x, x + width))
    depth = manifest.bit_depth or _depth_of(image, pixels)
    return _native.align_rows(pixels, alignment, mask, depth, part, manifest.size)
