"""Methods, their parameters, and user-defined pipelines."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import _native, _options
from ._errors import CallError, FormatError
from ._external import Method, name_of, stage_of
from ._json import parsed
from ._native import ParameterInfo, Slot
from ._program import ProgramMethod
from ._stage import StageCall
from .onnx import OnnxMatcher

_OWN = "user_refinement"  # the name of a user-defined refinement in the list of refinements

Value = bool | int | float | str | tuple[float, ...] | tuple[str, ...]


def text_of(value: object) -> str:
    """Returns a value as text, in the notation of the command's option --set."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(text_of(one) for one in value)
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:  # a NumPy scalar
        return text_of(value.item())
    if isinstance(value, (int, float, str)):
        return repr(value) if isinstance(value, float) else str(value)
    raise CallError(f"{_options.shown(value)} cannot be the value of a parameter; it must be a bool, a number, a str, or a list of these")


def value_of(text: str, type_name: str) -> Value:
    """Converts a text to the type of a parameter."""
    match type_name:
        case "flag":
            return text == "true"
        case "integer":
            return int(text)
        case "number":
            return float(text)
        case "numbers":
            return tuple(float(one) for one in text.split(","))
        case _:
            return text


def _chooses(name: object) -> bool:
    """Returns whether the parameter selects stages."""
    return name == "refinements" or str(name).endswith(".stage")


class _Filling:
    """A slot of the pipeline, whose value is the name of its stage. A slot may also be set to a user-defined function (see
    Pipeline.set_stage).
    """

    def __set_name__(self, owner: type, slot: str) -> None:
        self._slot = slot

    def __get__(self, pipeline: Pipeline | None, owner: type) -> str:
        return "" if pipeline is None else pipeline.get_text(f"{self._slot}.stage")

    def __set__(self, pipeline: Pipeline, stage: str | Callable[[StageCall], None]) -> None:
        if callable(stage):
            pipeline.set_stage(self._slot, stage)
        else:
            pipeline.set(f"{self._slot}.stage", stage)


class _OwnRefinement(_Filling):
    """The slot `refinement`. Setting it to a function appends the function to the refinements."""

    def __get__(self, pipeline: Pipeline | None, owner: type) -> str:
        return "" if pipeline is None else pipeline.get_text("refinements")

    def __set__(self, pipeline: Pipeline, stage: str | Callable[[StageCall], None]) -> None:
        if not callable(stage):
            raise CallError(f"refinement = {_options.shown(stage)} is not allowed; it must be a function, and refinements a list of names and functions")
        pipeline.set_stage(self._slot, stage)


def method_of(method: str | Method) -> Method:
    """Returns the method that a text such as "onnx:FILE" or "program:CMD" names, or the method itself."""
    if not isinstance(method, str):
        return method
    kind, _, rest = method.partition(":")
    if kind == "onnx" and not Path(rest).name:
        raise CallError(f"the method '{method}' names no file; write onnx:FILE, with the ONNX file of a network")
    return ProgramMethod(rest) if kind == "program" else _network(rest, _stamp(rest))


@functools.lru_cache(4)
def _network(file: str, stamp: object) -> OnnxMatcher:
    """Loads a network, which takes long. A file that changed has another stamp."""
    return OnnxMatcher(file)


def _stamp(file: str) -> object:
    """Returns the times at which a network and its description were changed."""
    files = (Path(file), Path(file).with_suffix(".json"))
    return tuple(one.stat().st_mtime_ns if one.is_file() else 0 for one in files)


class Pipeline(_native.Pipeline):
    """The stages of a method and their parameters. A pipeline can be changed and pickled.

    method   a name from st.methods() or st.presets(); "onnx:FILE", "program:CMD {left} {right} {out}", or any Method: a function from
             (left, right, disparities) to a disparity map. A pipeline of such a method has refinements and a confidence only, at first
             without refinements

    `cost`, `plus` (a second cost that is added, or "none"), `aggregation` and `optimisation` are the stages in these slots: names, or
    functions (see set_stage). `refinements` is a list of names and functions; `p.refinement = function` appends one.

    >>> import stereopsis as st
    >>> p = st.Pipeline("sgm").set("optimisation.p1", 12).set("cost.stage", "rank")
    >>> p.get("optimisation.p1"), p.get("cost.stage")
    (12, 'rank')
    >>> p.cost = "census"                       # or p.cost = my_function
    >>> p.cost, p.refinements[0]
    ('census', 'left_right')
    >>> st.Pipeline.from_json(p.to_json()) == p
    True
    """

    __slots__ = ("external",)  # rejects misspelt names of slots

    external: Method | None

    cost = _Filling()
    plus = _Filling()
    aggregation = _Filling()
    optimisation = _Filling()
    refinement = _OwnRefinement()

    def __init__(self, method: str | Method | _native.Pipeline = "sgm") -> None:
        self.external = method.external if isinstance(method, Pipeline) else None
        if isinstance(method, _native.Pipeline):
            super().__init__(method)
            return
        if isinstance(method, str):
            _options.text("method", method)
        if not _options.is_external(method):
            if not isinstance(method, str):
                raise CallError(f"method={_options.shown(method)} is not allowed; it must be a name from st.methods(), a function, or a Pipeline")
            super().__init__(method)
            return
        super().__init__("sgm")
        super().set_text("refinements", "none")
        self._put(method_of(method))

    def _put(self, method: Method) -> None:
        """Replaces all stages from the matching cost to the selection by a method from outside the library."""
        self.external = method
        self.put_method(stage_of(method), name_of(method))

    def _with(self, method: Method) -> Pipeline:
        """Returns the pipeline with another method from outside the library."""
        changed = self.copy()
        changed._put(method)
        return changed

    @property
    def method(self) -> str:
        """Name of the method from which the pipeline was created."""
        return super().method

    def slots(self) -> list[Slot]:
        """Returns the slots with their stages. A method from outside the library replaces the costs and the selection."""
        return [one for one in super().slots() if self.external is None or one.is_refinement or one.slot == "confidence"]

    def parameters(self) -> list[ParameterInfo]:
        """Returns all parameters, in the order of the slots."""
        if self.external is None:
            return super().parameters()
        return [info for slot in self.slots() for info in slot.parameters]

    def set_text(self, name: str, value: str) -> None:
        """Sets a parameter to a value in the notation of --set."""
        if self.external is not None and name not in ("refinements", "confidence.stage"):
            stages = {part for slot in self.slots() for part in (slot.slot, slot.stage)}
            if name.split(".")[0] not in stages:
                raise CallError(
                    f"{self.method} has no parameter '{name}'; it has refinements, confidence.stage, and the parameters of the stages in them"
                )
        super().set_text(name, value)

    @property
    def refinements(self) -> tuple[str, ...]:
        """Names of the refinements, in order."""
        text = self.get_text("refinements")
        return tuple(text.split(",")) if text != "none" else ()

    @refinements.setter
    def refinements(self, stages: Sequence[str | Callable[[StageCall], None]]) -> None:
        listed = [stages] if isinstance(stages, str) else _options.listed(stages)
        own = [one for one in listed if callable(one)]
        names = tuple(_options.names("refinements", [_OWN if callable(one) else one for one in listed]))
        if own and names.count(_OWN) > len(own):
            raise CallError(f"refinements has functions and '{_OWN}'; give every function of your own itself")
        for pipeline in (self.copy(), self):  # an error leaves the pipeline as it was
            if own:
                pipeline.set("refinements", tuple(name for name in names if name != _OWN) or "none")
                for function in own:
                    pipeline.set_stage("refinement", function)
            pipeline.set("refinements", names or "none")

    @classmethod
    def from_json(cls, text: str) -> Pipeline:
        """Parses the output of to_json() or of the command's `methods NAME --json`. Raises FormatError and CallError."""
        content = _external_of(_options.text("text", text))
        if content is None:
            return cls(_native.Pipeline.parse(text))
        method, digest = str(content["method"]), content.pop("network", None)
        if method.startswith("program:"):
            raise FormatError(f"the pipeline names '{method}', and a pipeline file must not run programs; give the program as the method")
        pipeline = restored(content, method_of(method), cls)
        if digest not in (None, getattr(pipeline.external, "digest", None)):
            raise FormatError(f"the network '{method}' is not the one with which the pipeline was written; remove the key network to use it")
        return pipeline

    @classmethod
    def read(cls, file: str | os.PathLike[str]) -> Pipeline:
        """Reads a pipeline from a JSON file. Raises FileError, FormatError and CallError."""
        pipeline = _external_file(file)
        return cls(_native.read_pipeline(file)) if pipeline is None else cls.from_json(pipeline)

    def to_json(self) -> str:
        """Returns the JSON that the command's --pipeline reads. Raises CallError if the method is a function."""
        text = super().to_json()
        if self.external is None:
            return text
        name = getattr(self.external, "text", None)
        if name is None:
            raise CallError(f"{self.method} is a function, which JSON cannot contain; use a method of the form onnx:FILE")
        digest = getattr(self.external, "digest", None)
        known = {} if digest is None else {"network": digest}
        return json.dumps({**json.loads(text), "method": name, **known}, indent=2, ensure_ascii=False) + "\n"

    def set(self, name: str, value: object) -> Pipeline:
        """Sets a parameter (`slot.parameter` or `stage.parameter`), the stage of a slot (`cost.stage`), or all `refinements` (a list).

        Returns the pipeline. Raises CallError for an unknown name, with the most similar one, and for a value out of range.
        """
        self.set_text(_options.text("name", name), _options.text("value", text_of(value)))
        return self

    def set_stage(
        self,
        slot: str,
        function: Callable[[StageCall], None],
        *,
        name: str | None = None,
        makes: str = "uint8",
        largest: float = 0,
        takes: str | None = None,
        required_input: Callable[[int, int, int, int], tuple[int, int, int, int]] | None = None,
    ) -> Pipeline:
        """Makes a function the stage of `slot`: `cost`, `plus`, `aggregation` or `optimisation`. For `refinement`, the function is appended
        to the refinements.

        function   called with a StageCall, whose arrays it reads and writes. If it raises, the match ends with CallError
        makes      type of the costs that it computes: "uint8", "uint16" or "float32"
        largest    largest cost that it computes; 0: the largest value of an integer type, or 1 for float32
        takes      type of the volume that it filters; None: any type
        required_input  function of (x, y, width, height) of a part of the result, which returns the part of the images that is
                   required for it; None: the same pixels

        The stage supports regions, and appears in times and explain(). A pipeline with such a stage cannot be pickled. Returns the pipeline.
        `p.cost = function` sets the stage with the default arguments, and `p.refinement = function` appends a refinement with them.

        >>> import numpy as np, stereopsis as st
        >>> def difference(call):
        ...     h, w, count = call.made.shape
        ...     left, right = call.reference.astype(int), call.other.astype(int)
        ...     for k in range(count):
        ...         shifted = right[:, np.maximum(np.arange(w) - call.first - k, 0)]
        ...         call.made[:, :, k] = abs(left - shifted).sum(2) // 3
        >>> p = st.Pipeline("sgm").set_stage("cost", difference)
        >>> scene = st.synth("table", width=80, height=60, disparities=16)
        >>> r = st.match(scene.left, scene.right, disparities=16, pipeline=p, device="cpu")
        >>> bool(np.nanmedian(abs(r.disparity - scene.disparity)) < 1)
        True
        """
        title = name or str(getattr(function, "__name__", slot))
        self.put_stage(slot, function, title, makes, largest, takes, required_input)
        return self

    def get(self, name: str) -> Value:
        """Returns the value of a parameter. The value of `slot.stage` is a name, and the value of `refinements` is a list of names in
        order.
        """
        if name == "refinements":
            return self.refinements
        text, full = self.get_text(name), self.full_name(name)
        return next((value_of(text, info.type) for info in self.parameters() if info.name == full), text)

    def full_name(self, name: str) -> str:
        """Returns the name `slot.parameter` of a parameter that is given by its stage (`sgm.p1`), or with its earlier spelling
        (`asw.gamma_colour`). Other names are returned unchanged.
        """
        prefix, _, own = name.partition(".")
        for slot in self.slots():
            full = f"{slot.slot}.{own.replace('colour', 'color')}"
            if prefix in (slot.slot, slot.stage) and any(info.name == full for info in slot.parameters):
                return full
        return name

    def get_params(self) -> dict[str, Value]:
        """Returns all parameters by name."""
        return {info.name: value_of(info.value, info.type) for info in self.parameters()}

    def set_params(self, **parameters: object) -> Pipeline:
        """Sets several parameters: p.set_params(**{"optimisation.p1": 20, "optimisation.p2": 90}). If one value is not allowed, no parameter changes. Returns
        the pipeline.
        """
        return self.update(parameters)

    def update(self, parameters: Mapping[str, object]) -> Pipeline:
        """Sets the parameters of a mapping, in any order: stages are chosen before their parameters are set. If one value is not allowed,
        no parameter changes.
        """
        named = _options.mapping("parameters", parameters, "a mapping such as {'optimisation.p1': 12}")
        chosen = sorted(named.items(), key=lambda item: not _chooses(item[0]))
        trial = self.copy()
        for pipeline in (trial, self):
            for name, value in chosen:
                pipeline.set(name, value)
        return self

    def copy(self) -> Pipeline:
        """Returns an independent pipeline with the same stages and parameters."""
        return type(self)(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _native.Pipeline) or super().to_json() != _native.Pipeline.to_json(other):
            return False
        return _identity(self.external) == _identity(getattr(other, "external", None))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<pipeline {self.method}: {', '.join(slot.stage for slot in self.slots())}>"

    def __reduce__(self) -> tuple[object, tuple[Any, ...]]:
        for slot in self.slots():
            if slot.is_function:
                raise CallError(f"a pipeline with a user-defined stage ({slot.slot}) cannot be pickled; create it in the other process")
        return restored, (json.loads(super().to_json()), self.external)


def _identity(method: Method | None) -> object:
    """Returns what two equal methods have in common: the text that names them, or the method itself."""
    return getattr(method, "text", method)


def restored(content: dict[str, Any], external: Method | None, kind: type[Pipeline] = Pipeline) -> Pipeline:
    """Returns the pipeline with the stages of `content`, in which the method from outside the library is only a name."""
    if external is None:
        return kind(_native.Pipeline.parse(json.dumps(content)))
    slots = {name: slot for name, slot in content.items() if slot != {"stage": "user_method"}}
    pipeline = kind(_native.Pipeline.parse(json.dumps({**slots, "method": "sgm"})))
    pipeline._put(external)
    return pipeline


def _external_of(text: str) -> dict[str, Any] | None:
    """Returns the content of pipeline JSON whose method is from outside the library, and None for other text."""
    if not any(f'"{kind}' in text for kind in _options.EXTERNAL):
        return None
    content = parsed(text, "the pipeline")
    is_one = isinstance(content, dict) and isinstance(content.get("method"), str) and _options.is_external(content["method"])
    return content if is_one else None


def _external_file(file: str | os.PathLike[str]) -> str | None:
    """Returns the text of a pipeline file whose method is from outside the library. Other files are read by the library."""
    try:
        text = Path(file).read_text()
    except (OSError, ValueError):
        return None
    return None if _external_of(text) is None else text


def methods() -> list[_native.MethodInfo]:
    """Returns all methods, the default first, with name, summary and paper.

    >>> import stereopsis as st
    >>> st.methods()[0].name
    'sgm'
    """
    return list(_native.methods())


def presets() -> list[_native.MethodInfo]:
    """Returns the presets "fast", "balanced" and "accurate", which are names for methods. The `paper` of a preset has the method with its
    settings.

    >>> import stereopsis as st
    >>> [(preset.name, preset.paper) for preset in st.presets()]
    [('fast', 'sgm'), ('balanced', 'sgm: vote_fill.enabled=true'), ('accurate', 'sgm-learned: second_pass.stage=planes')]
    """
    return list(_native.presets())


def stages() -> dict[str, list[str]]:
    """Returns the names of the stages that each slot supports, and the names of the `refinements`. The name "none" means that the slot may
    be empty.

    >>> import stereopsis as st
    >>> "census" in st.stages()["cost"], "median" in st.stages()["refinements"]
    (True, True)
    """
    return dict(_native.stages())


def parameters(method: str | Pipeline = "sgm") -> list[ParameterInfo]:
    """Returns the parameters of a method: name, type, value, default, allowed, limits, step, choices, unit and description.

    >>> import stereopsis as st
    >>> p1 = next(p for p in st.parameters("sgm") if p.name == "optimisation.p1")
    >>> p1.type, p1.minimum, p1.maximum, p1.step, p1.default
    ('integer', 0.0, 4095.0, 1.0, '20')
    """
    return list((method if isinstance(method, _native.Pipeline) else Pipeline(method)).parameters())
