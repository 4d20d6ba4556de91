"""Methods, their parameters, and user-defined pipelines."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from . import _native, _options
from ._errors import CallError
from ._native import ParameterInfo
from ._stage import StageCall

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
    raise CallError(f"{value!r} cannot be the value of a parameter; it must be a bool, a number, a str, or a list of these")


def value_of(text: str, type_name: str) -> Value:
    """Returns the value of a text, for a parameter of that type."""
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
    """A slot of the pipeline: the name of its stage. It may also be set to your own function (see Pipeline.set_stage)."""

    def __set_name__(self, owner: type, slot: str) -> None:
        self._slot = slot

    def __get__(self, pipeline: Pipeline | None, owner: type) -> str:
        return "" if pipeline is None else pipeline.get_text(f"{self._slot}.stage")

    def __set__(self, pipeline: Pipeline, stage: str | Callable[[StageCall], None]) -> None:
        if callable(stage):
            pipeline.set_stage(self._slot, stage)
        else:
            pipeline.set(f"{self._slot}.stage", stage)


class Pipeline(_native.Pipeline):
    """The stages of a method and their parameters. It can be changed and pickled.

    `cost`, `plus` (a second cost that is added, or "none"), `aggregation` and `optimisation` are the stages in these slots: names, or
    functions (see set_stage). `refinements` are names.

    >>> import stereopsis as st
    >>> p = st.Pipeline("sgm").set("sgm.p1", 12).set("cost.stage", "rank")
    >>> p.get("optimisation.p1"), p.get("cost.stage")
    (12, 'rank')
    >>> p.cost = "census"                       # or p.cost = my_function
    >>> p.cost, p.refinements[0]
    ('census', 'left_right')
    >>> st.Pipeline.from_json(p.to_json()) == p
    True
    """

    __slots__ = ()  # rejects misspelt names of slots

    cost = _Filling()
    plus = _Filling()
    aggregation = _Filling()
    optimisation = _Filling()

    def __init__(self, method: str | _native.Pipeline = "sgm") -> None:
        if not isinstance(method, (str, _native.Pipeline)):
            raise CallError(f"method={method!r} is not allowed; it must be a name from st.methods(), or a Pipeline")
        if isinstance(method, str):
            _options.text("method", method)
        super().__init__(method)

    @property
    def refinements(self) -> tuple[str, ...]:
        """Names of the refinements, in order."""
        text = self.get_text("refinements")
        return tuple(text.split(",")) if text != "none" else ()

    @refinements.setter
    def refinements(self, names: Sequence[str]) -> None:
        self.set("refinements", tuple(_options.names("refinements", names)) or "none")

    @classmethod
    def from_json(cls, text: str) -> Pipeline:
        """Parses the output of to_json() or of the command's `methods NAME --json`. Raises FormatError and CallError."""
        return cls(_native.Pipeline.parse(_options.text("text", text)))

    @classmethod
    def read(cls, file: str | os.PathLike[str]) -> Pipeline:
        """Reads a pipeline from a JSON file. Raises FileError, FormatError and CallError."""
        return cls(_native.read_pipeline(file))

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
        """Puts a function into `slot`: `cost`, `plus`, `aggregation` or `optimisation`; a `refinement` is appended.

        function   called with a StageCall, whose arrays it reads and writes. If it raises, the match ends with CallError
        makes      type of the costs that it computes: "uint8", "uint16" or "float32"
        largest    largest cost that it computes; 0: the largest value of an integer type, or 1 for float32
        takes      type of the volume that it filters; None: any type
        required_input  function of (x, y, width, height) of a part of the result, which returns the part of the images that is
                   required for it; None: the same pixels

        The stage takes part in regions, times and explain(). A pipeline with such a stage cannot be pickled. Returns the pipeline.
        `p.cost = function` uses the defaults.

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
        """Returns the value of a parameter; for `slot.stage` a name, for `refinements` names in order."""
        if name == "refinements":
            return self.refinements
        text = self.get_text(name)
        for slot in self.slots():
            for info in slot.parameters:
                if name in (info.name, f"{slot.stage}.{info.name.split('.', 1)[1]}"):
                    return value_of(text, info.type)
        return text

    def get_params(self) -> dict[str, Value]:
        """Returns all parameters by name."""
        return {info.name: value_of(info.value, info.type) for info in self.parameters()}

    def set_params(self, **parameters: object) -> Pipeline:
        """Sets several parameters, all or none: p.set_params(**{"sgm.p1": 20, "sgm.p2": 90}). Returns the pipeline."""
        return self.update(parameters)

    def update(self, parameters: Mapping[str, object]) -> Pipeline:
        """Sets the parameters of a mapping, all or none, in any order: stages are chosen before their parameters are set."""
        named = _options.mapping("parameters", parameters, "a mapping such as {'sgm.p1': 12}")
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
        return isinstance(other, _native.Pipeline) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<pipeline {self.method}: {', '.join(slot.stage for slot in self.slots())}>"

    def __reduce__(self) -> tuple[object, tuple[str]]:
        for slot in self.slots():
            if slot.stage.startswith("user_"):
                raise CallError(f"a pipeline with a user-defined stage ({slot.slot}) cannot be pickled; create it in the other process")
        return type(self).from_json, (self.to_json(),)


def methods() -> list[_native.MethodInfo]:
    """Returns all methods, the default first, with name, summary and paper.

    >>> import stereopsis as st
    >>> st.methods()[0].name
    'sgm'
    """
    return list(_native.methods())


def presets() -> list[_native.MethodInfo]:
    """Returns the names that select a method by its purpose, "fast", "balanced" and "accurate"; `paper` is the method with its
    settings.

    >>> import stereopsis as st
    >>> [(preset.name, preset.paper) for preset in st.presets()]
    [('fast', 'sgm'), ('balanced', 'sgm: vote_fill.enabled=true'), ('accurate', 'sgm-learned')]
    """
    return list(_native.presets())


def stages() -> dict[str, list[str]]:
    """Returns the names of the stages that each slot supports ("none": the slot may be empty), and those of `refinements`.

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
