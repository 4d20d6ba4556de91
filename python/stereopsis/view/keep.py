"""Saves files of the present pair: preset, maps, cloud, and everything that is needed to repeat the result; and a calibration from pairs."""

import io
import shlex
import zipfile
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _native
from .._calibration import estimate_calibration, refine_calibration
from .._errors import CallError
from .._native import RowEstimate
from .._pipeline import Pipeline
from .._result import Result, contents_of
from .._rows import text_of
from .engine import Engine, Shown, matcher_of

Array = Any


PAIRS = 20  # number of pairs that a calibration uses
MASKS = {"--mask-left": "mask_left.pgm", "--mask-right": "mask_right.pgm"}
SEEDS = "seeds.pfm"


@dataclass(frozen=True)
class Kept:
    name: str
    type: str
    content: bytes
    remark: str = ""  # a sentence that the page shows


class Keeper:
    def __init__(self, engine: Engine, calib: str | None = None, raw: bool = False) -> None:
        self._engine, self._calib, self._raw = engine, calib, raw

    def make(self, what: str) -> Kept:
        """Returns the contents of a file: preset, disparity, depth, cloud or all. Raises Error."""
        match what:
            case "preset":
                return Kept("preset.json", "application/json", self._preset().encode())
            case "disparity":
                return Kept("disparity.pfm", "application/octet-stream", pfm(self._shown().result.disparity))
            case "depth":
                return Kept("depth.pfm", "application/octet-stream", pfm(self._with_rig("depth").depth))
            case "cloud":
                return Kept("cloud.ply", "application/octet-stream", self._cloud())
            case "calibration":
                return self._calibration()
            case "all":
                return Kept("frame.zip", "application/zip", self._all())
        raise CallError(f"'{what}' cannot be saved; it must be preset, disparity, depth, cloud, calibration or all")

    def command(self) -> str:
        """Returns the command that computes the present disparity. If the images do not come from files, the command names the files in the
        download `all`.
        """
        shown = self._shown()
        settings, prepared = shown.settings, shown.prepared
        files = prepared.frame.files if settings.resolution == "full" else None
        left, right = (files[::-1] if settings.swapped else files) if files else ("left.ppm", "right.ppm")
        first, end = shown.disparities
        words = ["stereopsis", "match", left, right, "-o", "disparity.pfm"]
        words += ["--min-disparity", str(first), "--disparities", str(end - first), *self._changes(shown)]
        for option, mask in zip(MASKS, prepared.masks, strict=True):
            words += [] if files or mask is None else [option, MASKS[option]]
        if prepared.seeds is not None:
            words += ["--seeds", prepared.frame.seed_file if files and prepared.frame.seed_file else SEEDS]
        region = prepared.region_of(settings.region)
        words += ["--roi", ",".join(map(str, region))] if region else []
        words += ["--bit-depth", str(prepared.frame.bit_depth)] if prepared.frame.bit_depth else []
        words += rows_option(prepared.rows if files else prepared.to_align)
        words += ["--device", settings.device] if settings.device != "auto" else []
        if files and self._calib:
            words += ["--calib", self._calib]
            words += ["--raw"] if self._raw and settings.rectified else []
        return shlex.join(words)

    def _changes(self, shown: Shown) -> list[str]:
        pipeline = shown.settings.effective_pipeline()
        name = str(getattr(pipeline.external, "text", pipeline.method))
        method, words = Pipeline(name), ["--method", name] if name != "sgm" else []
        if pipeline.external is not None and pipeline.refinements:
            method.refinements = pipeline.refinements
            words += ["--set", f"refinements={','.join(pipeline.refinements)}"]
        if [(s.slot, s.stage) for s in method.slots()] != [(s.slot, s.stage) for s in pipeline.slots()]:
            return ["--pipeline", "preset.json"]
        usual = {info.name: info.value for info in method.parameters()}
        for info in pipeline.parameters():
            if info.value != usual[info.name]:
                words += ["--set", f"{info.name}={info.value}"]
        return words

    def _shown(self) -> Shown:
        if self._engine.shown is None:
            raise CallError("there is no result to save yet")
        return self._engine.shown

    def _preset(self) -> str:
        return str(self._engine.settings.effective_pipeline().to_json())

    def _with_rig(self, want: str) -> Result:
        shown = self._shown()
        if shown.prepared.rig is None:
            raise CallError(f"the {want} requires a calibration; start the viewer with --calib FILE")
        prepared, masks = shown.prepared, shown.prepared.masks
        with matcher_of(prepared, shown.settings, [want]) as matcher:
            return matcher(prepared.left, prepared.right, mask_left=masks[0], mask_right=masks[1], seeds=prepared.seeds, align_rows=prepared.to_align)

    def _cloud(self) -> bytes:
        points = self._with_rig("points").points
        assert points is not None
        return ply(points, self._shown().prepared.left)

    def _calibration(self) -> Kept:
        """Corrects the calibration by pairs of the source. Without a calibration, the cameras are calibrated."""
        settings, frames = self._shown().settings, self._engine.frames(PAIRS)
        pairs = [(frame.right, frame.left) if settings.swapped else (frame.left, frame.right) for frame in frames]
        cameras = self._engine.cameras_of(frames[0])
        found = estimate_calibration(pairs) if cameras is None else refine_calibration(pairs, cameras)
        content = contents_of(".yml", lambda file: found.calibration.write(file))
        return Kept("rig.yml", "application/yaml", content, f"{found.sentence}; start the viewer with --calib rig.yml --raw")

    def _all(self) -> bytes:
        shown = self._shown()
        prepared = shown.prepared
        parts = {
            "left.ppm": pnm(prepared.left),
            "right.ppm": pnm(prepared.right),
            "disparity.pfm": pfm(shown.result.disparity),
            "preset.json": shown.settings.effective_pipeline().to_json().encode(),
            "command.txt": self.command().encode() + b"\n",
        }
        for name, mask in zip(MASKS.values(), prepared.masks, strict=True):
            if mask is not None:
                parts[name] = pnm(mask)
        if prepared.seeds is not None:
            parts[SEEDS] = pfm(prepared.seeds)
        if prepared.rig is not None:
            parts["depth.pfm"] = pfm(self._with_rig("depth").depth)
            parts["cloud.ply"] = self._cloud()
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name, content in parts.items():
                archive.writestr(name, content)
        return packed.getvalue()


def rows_option(rows: RowEstimate | None) -> list[str]:
    """Returns the option with which `match` aligns rows as the viewer does."""
    if rows is None:
        return ["--align-rows", "off"]
    return [] if rows.alignment is None else ["--align-rows", text_of(rows.alignment)]


def pfm(image: Array) -> bytes:
    return contents_of(".pfm", _native.write_pfm, image)


def pnm(image: Array) -> bytes:
    return contents_of(".pnm", _native.write_image, np.ascontiguousarray(image))


def ply(points: Array, image: Array) -> bytes:
    """Returns the valid points with the colours of the left image."""
    colours = (image >> 8).astype(np.uint8) if image.dtype == np.uint16 else image.astype(np.uint8)
    return contents_of(".ply", _native.write_point_cloud, points, colours)
