"""Builds the messages that are sent to a page: descriptions as JSON, and images and maps as binary data after a JSON header."""

import json
import struct
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from .._pair import COMMAND_ADVICE
from .._result import Result
from .._native import RowEstimate, Slot
from .._pipeline import Pipeline, methods, presets, stages
from .._rows import short_text
from .engine import Engine, Shown
from .keep import Kept
from .settings import RESOLUTIONS, Settings

Array = Any

# The viewer has no volume for the cost stage `volume`, and the pairs decide whether there are seeds.
# Remedies of the page against faults of pairs.
ADVICE = {
    **COMMAND_ADVICE,
    "same picture": "open the images of both cameras",
    "rows differ": "switch on Rows aligned, or save a corrected calibration with the button Calibration, and start the viewer with it",
    "negative disparities": "switch on Cameras swapped, or search negative disparities where the cameras converge",
    "rows not aligned": "switch on Rows aligned",
    "a frame late": "find the frame that is missing or repeated, and open images of one time",
}
STAGES = {slot: [name for name in names if name != "volume"] for slot, names in stages().items() if slot != "seeds"}


def packed(header: Mapping[str, object], planes: Mapping[str, tuple[int, Array]]) -> bytes:
    """Returns a message: the length of the header, the header, and the planes, each at a multiple of 4 bytes. A plane is (key,
    array).
    """
    described, blobs, offset = [], [], 0
    for name, (key, array) in planes.items():
        array = np.ascontiguousarray(array)
        blob = array.tobytes()
        height, width = array.shape[:2]
        channels = array.shape[2] if array.ndim == 3 else 1
        described.append(
            {"name": name, "key": key, "type": array.dtype.name, "width": width, "height": height}
            | {"channels": channels, "offset": offset, "bytes": len(blob)}
        )
        padding = -len(blob) % 4
        blobs += [blob, bytes(padding)]
        offset += len(blob) + padding
    text = json.dumps({**header, "planes": described}, ensure_ascii=False).encode()
    text += b" " * (-len(text) % 4)
    return b"".join([struct.pack("<I", len(text)), text, *blobs])


def packed_file(file: Kept) -> bytes:
    content = np.frombuffer(file.content, np.uint8)[None]
    return packed({"kind": "file", "name": file.name, "type": file.type, "remark": file.remark}, {"content": (0, content)})


def seen(image: Array, bit_depth: int = 0) -> Array:
    """Returns the image with 8 bits, for display."""
    if image.dtype == np.uint8:
        return image
    if image.dtype == np.uint16:
        return np.minimum(image >> ((bit_depth or 16) - 8), 255).astype(np.uint8)
    return np.clip(np.nan_to_num(image), 0, 255).astype(np.uint8)


def plane(shown: Shown, name: str) -> tuple[int, Array] | None:
    """Returns a plane of a result, with a key that changes when the plane changes. Returns None if the result has no such plane."""
    prepared, result = shown.prepared, shown.result
    match name:
        case "left":
            return shown.pair, seen(prepared.left, prepared.frame.bit_depth)
        case "right":
            return shown.pair, seen(prepared.aligned_right, prepared.frame.bit_depth)
        case "truth":
            return None if prepared.truth is None else (shown.pair, prepared.truth.astype(np.float32, copy=False))
        case "seeds":
            return None if prepared.seeds is None else (shown.pair, prepared.seeds)
        case "pinned":
            return None if shown.pinned is None else (shown.serial, shown.pinned.disparity)
        case "surface":
            return shown.serial, result.disparity if shown.settings.fill_depth else result.measured_disparity
        case "disparity" | "validity" | "confidence":
            return (shown.serial, getattr(result, name)) if name in result else None
    return None


def frame_message(engine: Engine, shown: Shown, have: Mapping[str, object]) -> bytes | None:
    """Returns the requested planes that the page does not have yet, or None if the page has all of them."""
    new = {}
    for name, key in have.items():
        found = plane(shown, name)
        if found is not None and found[0] != key:
            new[name] = found
    if not new:
        return None
    prepared = shown.prepared
    rig = prepared.rig
    header = {
        "kind": "frame",
        "serial": shown.serial,
        "index": shown.index,
        "name": prepared.frame.name,
        "size": prepared.size,
        "full": prepared.full,
        "disparities": shown.disparities,
        "region": prepared.region_of(shown.settings.region),
        "density": round(measured(shown.result), 5),
        "truth": prepared.truth is not None,
        "seeds": prepared.seeds is not None,
        "has_seeds": prepared.frame.seeds is not None,
        "rows": rows_message(prepared.rows),
        "rig": None if rig is None else {"fb": rig.focal * rig.baseline, "doffs": rig.cx_left - rig.cx_right}
        | {"focal": rig.focal, "cx": rig.cx_left, "cy": rig.cy, "unit": rig.unit},
        "ms": round(shown.ms, 3),
        "device": shown.device,
        "times": shown.result.times,
        "rates": engine.rates(),
        "apart": prepared.frame.apart,
        "pinned": None if shown.pinned is None else {"ms": round(shown.pinned_ms, 3), "density": round(measured(shown.pinned), 5)},
        "revision": shown.revision,
    }
    return packed(header, new)


def rows_message(rows: RowEstimate | None) -> dict[str, object] | None:
    """Returns what was done about the rows of a pair, by how many pixels the given rows differ, and by how many they move at 33 places of each
    of the 15 lines that the page draws; None if the rows were not estimated.
    """
    if rows is None:
        return None
    a = rows.alignment
    differ = rows.plane.rms if rows.tracks > 0 else None
    before = a and [[round(a.at(k / 32 - 0.5, line / 16 - 0.5), 3) for k in range(33)] for line in range(1, 16)]
    return {"text": short_text(rows), "before": before, "differ": differ}


def measured(result: Result) -> float:
    """Returns the share of pixels whose disparity was measured and not filled."""
    return float(np.count_nonzero(result.validity == 0)) / result.validity.size


def state_message(engine: Engine, devices: list[dict[str, object]]) -> str:
    now = engine.settings
    return json.dumps(
        {
            "kind": "state",
            "revision": engine.revision,
            "sources": [source.name for source in engine.sources],
            "source": engine.source_index,
            "methods": methods_of(now),
            "presets": [{"name": p.name, "summary": p.summary, "paper": p.paper} for p in presets()],
            "method": now.preset or now.pipeline.method,
            "budget": budget_message(now),
            "devices": devices,
            "device": now.device,
            "resolutions": RESOLUTIONS,
            "resolution": now.resolution,
            "swapped": now.swapped,
            "rectified": now.rectified,
            "rectifiable": engine.rectifiable,
            "refined": now.post_processing,
            "fill_depth": now.fill_depth,
            "aligns_rows": now.aligns_rows,
            "uses_seeds": now.uses_seeds,
            "disparities": now.disparities,
            "region": now.region,
            "slots": slots_of(now.pipeline),
            "stages": STAGES,
            "playback": engine.playback.state(),
            "pairing": None if engine.source.pairing is None else asdict(engine.source.pairing),
            "pinned": None if engine.pinned is None else difference(engine.pinned, now),
            "trouble": engine.trouble,
            "fault": "" if engine.fault is None else engine.fault.said_with(ADVICE),
        },
        ensure_ascii=False,
    )


def budget_message(settings: Settings) -> str:
    """Describes the choice of a budget, as long as it is in effect."""
    return "" if settings.budget is None or settings.choice is None else f"Budget {settings.budget.time}: {settings.choice}"


def methods_of(settings: Settings) -> list[dict[str, str]]:
    """Returns the methods that a page may choose."""
    listed = [{"name": m.name, "summary": m.summary, "paper": m.paper} for m in methods()]
    if settings.external is not None:
        listed.append({"name": settings.external.method, "summary": "A method from outside the library", "paper": ""})
    return listed


def slots_of(pipeline: Pipeline) -> list[dict[str, object]]:
    """Returns the slots in the order of the taxonomy: all filled slots, and the empty slots between them."""
    filled = {slot.slot: slot_of(slot) for slot in pipeline.slots()}
    there = [name for name in STAGES if name != "refinements" and (pipeline.external is None or name in filled)]
    empty = {name: {"slot": name, "stage": "none", "refinement": False, "parameters": []} for name in there}
    return [filled.pop(name, empty[name]) for name in empty] + list(filled.values())


def slot_of(slot: Slot) -> dict[str, object]:
    names = ("name", "type", "value", "default", "allowed", "minimum", "maximum", "step", "choices", "unit")
    return {
        "slot": slot.slot,
        "stage": slot.stage,
        "refinement": slot.is_refinement,
        "parameters": [
            {name: getattr(info, name) for name in (*names, "description")} for info in slot.parameters
        ],
    }


def difference(pinned: Settings, now: Settings) -> str:
    """Describes how the pinned settings differ from the present ones."""
    if pinned.pipeline.method != now.pipeline.method:
        return str(pinned.pipeline.method)
    here, there = values(now.pipeline), values(pinned.pipeline)
    changes = [f"{name} = {value}" for name, value in there.items() if here.get(name) != value]
    if pinned.post_processing != now.post_processing:
        changes.append("with post-processing" if pinned.post_processing else "without post-processing")
    return ", ".join(changes) or "the same settings"


def values(pipeline: Pipeline) -> dict[str, str]:
    return {info.name: info.value for info in pipeline.parameters()}
