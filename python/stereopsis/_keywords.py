"""Makes public functions name the argument that is nearest to an unknown keyword argument."""

import functools
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType, ModuleType
from typing import Any

from ._errors import KeywordError

_TAKES_ANY = 0x08  # the flag of code objects with **options


def names_of(function: Any) -> list[str]:
    """Returns the arguments of a function that can be given by name."""
    if not isinstance(function, FunctionType):
        return re.findall(r"[(,] ?(\w+): ", function.__nb_signature__[0][0])
    code = function.__code__
    names = code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount]
    return [name for name in names if name not in ("self", "cls") and not name.startswith("_")]


def check(function: str, names: Iterable[str], given: Iterable[str]) -> None:
    """Raises KeywordError for the first given name that is not among `names`."""
    for name in given:
        if name not in names:
            raise KeywordError(f"{function}() has no argument '{name}'{_advice(name, list(names))}")


def check_constructor(compiled: Any, given: Iterable[str]) -> None:
    """Raises KeywordError for an argument that the constructor of a compiled class does not have."""
    check(compiled.__name__, names_of(compiled.__init__), given)


def _advice(name: str, names: list[str]) -> str:
    import difflib  # imported here, because it is slow and rarely needed

    near = difflib.get_close_matches(name, names, 1, 0.6)
    return f"; did you mean '{near[0]}'?" if near else f"; it has {', '.join(names)}"


@functools.cache
def _checked(function: Any, shown: str, more: tuple[str, ...]) -> Callable[..., Any]:
    names = (*names_of(function), *more)

    @functools.wraps(function)
    def wrapper(*arguments: Any, **options: Any) -> Any:
        if options:
            check(shown, names, options)
        try:
            return function(*arguments, **options)
        except TypeError as error:
            sentence = _wrong_types(str(error))
            if sentence is None:
                raise
        raise KeywordError(sentence)

    return wrapper


def _wrong_types(text: str) -> str | None:
    """Returns a sentence for the lines that a compiled function raises for wrong types; None for another text."""
    found = re.fullmatch(r"(\w+)\(\): incompatible function arguments\..*?1\. (.*?)(?: -> [^\n]*)?\n+Invoked with types: (.*)", text, re.DOTALL)
    return None if found is None else f"{found[1]}() does not accept arguments of the types {found[3]}; call {found[2]}"


def name_the_nearest(module: ModuleType, forwards: Mapping[Any, Iterable[str]]) -> None:
    """Replaces the public functions of a module, and the public methods of its classes, by functions that check their keyword
    arguments. Functions with **options are replaced if `forwards` has the names that they pass on. Methods of compiled classes are not
    replaced: their constructors call check_constructor(), and the TypeError of other methods lists the arguments.
    """
    for public in module.__all__:
        one = getattr(module, public)
        if isinstance(one, FunctionType):
            for owner in (module, sys.modules[one.__module__]):  # pickle requires one object
                _replace(owner, public, one, public, forwards)
        elif type(one).__name__ == "nb_func":
            setattr(module, public, _checked(one, public, ()))
        elif isinstance(one, type) and one.__module__.startswith(f"{__package__}.") and not getattr(one, "_is_protocol", False):
            for name, method in list(vars(one).items()):
                if isinstance(method, FunctionType) and (not name.startswith("_") or name in ("__init__", "__call__")):
                    _replace(one, name, method, public if name.startswith("_") else name, forwards)


def _replace(owner: Any, name: str, function: FunctionType, shown: str, forwards: Mapping[Any, Iterable[str]]) -> None:
    if function in forwards or not function.__code__.co_flags & _TAKES_ANY:
        setattr(owner, name, _checked(function, shown, tuple(forwards.get(function, ()))))
