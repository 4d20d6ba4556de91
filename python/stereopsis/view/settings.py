"""The settings of the viewer. Settings are immutable. A message of a page results in new settings, or raises CallError."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .. import _native
from .._budget import Budget, BudgetChoice
from .._errors import CallError
from .._native import RowAlignment
from .._pipeline import Pipeline, presets

Range = tuple[int, int]
Region = tuple[int, int, int, int]

FRACTIONS = {"full": 1, "1/2": 2, "1/4": 4, "1/8": 8}
BOXES = {"640×480": (640, 480), "320×240": (320, 240), "160×120": (160, 120), "80×60": (80, 60)}
RESOLUTIONS = [*FRACTIONS, *BOXES]


@dataclass(frozen=True)
class Settings:
    """The settings of the viewer. `disparities` and `region` are in full-size pixels."""

    pipeline: Pipeline
    device: str = "auto"
    threads: int = 0
    disparities: Range | None = None
    resolution: str = "full"
    swapped: bool = False
    rectified: bool = True
    post_processing: bool = True
    fill_depth: bool = False  # depth and points of filled and repaired pixels, too
    aligns_rows: bool = True  # False: the rows of right images stay as they are
    uses_seeds: bool = True  # False: as if the pairs had no seeds
    rows: RowAlignment | None = None  # the alignment of all pairs, in full-size pixels; None: estimated for each pair
    region: Region | None = None
    external: Pipeline | None = None  # a method from outside the library, which pages may choose beside the library's own
    preset: str = ""  # the preset from which the pipeline comes, as long as no parameter has changed
    budget: Budget | None = None  # chooses the pipeline for the first pair of each source, until a page changes the pipeline
    sized: Pipeline | None = None  # the pipeline whose size a budget chooses; None: all methods
    choice: BudgetChoice | None = None

    def working_size(self, size: tuple[int, int]) -> tuple[int, int]:
        """Returns the working size for images of (width, height). The working size keeps the aspect ratio, and never exceeds the size of
        the images.
        """
        if self.resolution in FRACTIONS:
            factor: float = 1 / FRACTIONS[self.resolution]
        else:
            box = BOXES[self.resolution]
            factor = min(1.0, box[0] / size[0], box[1] / size[1])
        return max(1, round(size[0] * factor)), max(1, round(size[1] * factor))

    def effective_pipeline(self) -> Pipeline:
        """Returns the pipeline that runs and is saved: without post-processing, all refinements are switched off."""
        if self.post_processing:
            return self.pipeline
        pipeline = self.pipeline.copy()
        for slot in pipeline.slots():
            if slot.is_refinement and slot.changes_disparity:
                pipeline.set(f"{slot.slot}.enabled", False)
        return pipeline


Message = Mapping[str, Any]


def changed(settings: Settings, message: Message) -> Settings:
    """Returns the settings that a message of a page requests. Raises CallError for values that are not allowed."""
    return CHANGES[message["do"]](settings, message)


def with_pipeline(settings: Settings, pipeline: Pipeline, preset: str = "") -> Settings:
    """Returns the settings with a pipeline of the page's, which no budget chose."""
    return replace(settings, pipeline=pipeline, preset=preset, budget=None, choice=None)


def with_choice(settings: Settings, choice: BudgetChoice) -> Settings:
    preset = choice.method if choice.method in {preset.name for preset in presets()} else ""
    return replace(settings, pipeline=choice.pipeline, preset=preset, choice=choice)


def set_parameter(settings: Settings, message: Message) -> Settings:
    pipeline = settings.pipeline.copy()
    pipeline.set_text(str(message["name"]), str(message["value"]))
    return with_pipeline(settings, pipeline)


def set_refinements(settings: Settings, message: Message) -> Settings:
    """Returns the slots of refinements that remain and the stages of new ones, in order. Refinements that are switched off remain
    off.
    """
    names = [str(name) for name in message["names"]]
    pipeline = settings.pipeline.copy()
    off = {slot.slot for slot in pipeline.slots() if slot.is_refinement and not slot.enabled}
    pipeline.set("refinements", names or "none")
    placed = [slot.slot for slot in pipeline.slots() if slot.is_refinement]
    for name, slot in zip(names, placed, strict=True):
        pipeline.set(f"{slot}.enabled", name not in off)
    return with_pipeline(settings, pipeline)


def set_method(settings: Settings, message: Message) -> Settings:
    name = str(message["name"])
    if settings.external is not None and name == settings.external.method:
        return with_pipeline(settings, settings.external.copy())
    preset = name if name in {preset.name for preset in presets()} else ""
    return with_pipeline(settings, Pipeline(_native.Pipeline(name)), preset)  # a page must not name files or programs


def load_preset(settings: Settings, message: Message) -> Settings:
    pipeline = Pipeline.from_json(str(message["json"]))
    offered = None if settings.external is None else settings.external.external
    if pipeline.external is not None and getattr(pipeline.external, "text", None) != getattr(offered, "text", None):
        raise CallError(f"the pipeline uses {pipeline.method}, which the viewer was not started with; start it with --method")
    return replace(with_pipeline(settings, pipeline), post_processing=True)


def set_device(settings: Settings, message: Message) -> Settings:
    return replace(settings, device=str(message["name"]))


def set_range(settings: Settings, message: Message) -> Settings:
    first, end = int(message["first"]), int(message["end"])
    if not 1 <= end - first <= 4096 or abs(first) > 16384:
        raise CallError(f"the range from {first} to {end - 1} is not allowed; it must have 1 to 4096 disparities")
    return replace(settings, disparities=(first, end))


def set_resolution(settings: Settings, message: Message) -> Settings:
    value = str(message["value"])
    if value not in RESOLUTIONS:
        raise CallError(f"the resolution '{value}' is not allowed; it must be one of {', '.join(RESOLUTIONS)}")
    return replace(settings, resolution=value)


def set_region(settings: Settings, message: Message) -> Settings:
    rect = message.get("rect")
    if rect is None:
        return replace(settings, region=None)
    x, y, width, height = (int(value) for value in rect)
    if min(x, y) < 0 or min(width, height) < 1:
        raise CallError(f"the region {x},{y},{width},{height} is not allowed; it must have pixels inside the image")
    return replace(settings, region=(x, y, width, height))


def switch(name: str) -> Callable[[Settings, Message], Settings]:
    def set_switch(settings: Settings, message: Message) -> Settings:
        change: dict[str, Any] = {name: bool(message["on"])}
        return replace(settings, **change)

    return set_switch


CHANGES: dict[str, Callable[[Settings, Message], Settings]] = {
    "set": set_parameter,
    "refinements": set_refinements,
    "method": set_method,
    "preset": load_preset,
    "device": set_device,
    "range": set_range,
    "resolution": set_resolution,
    "region": set_region,
    "swap": switch("swapped"),
    "rectify": switch("rectified"),
    "refine": switch("post_processing"),
    "fill_depth": switch("fill_depth"),
    "align_rows": switch("aligns_rows"),
    "seeds": switch("uses_seeds"),
}
