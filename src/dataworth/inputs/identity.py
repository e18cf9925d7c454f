"""What a parameter is, by its contents.

A checkpoint must know its own run again, in another process too, and no other. Names do not tell:
two closures have one name and different contents, and the address in a `repr` changes with the
process. So values are described by what they hold, functions by their code and by all that it
refers to.
"""

import dis
import functools
import hashlib
import inspect
import json
import types
from collections.abc import Mapping
from typing import Any

import joblib
import numpy as np
from sklearn.base import BaseEstimator

from dataworth.errors import InputError


def identity(value: Any) -> Any:
    """Describe a value by its contents, in a form that JSON can hold.

    Parameters
    ----------
    value : Any
        Numbers, text, arrays and containers of them, functions, estimators, and objects that are
        made of such parts.

    Returns
    -------
    Any
        The same in every process for the same contents, and different for different contents.

    Raises
    ------
    InputError
        If the contents of the value, or of a part of it, cannot be told.

    Examples
    --------
    >>> from functools import partial
    >>> from dataworth.inputs.identity import identity
    >>> identity(partial(round, ndigits=2)) == identity(partial(round, ndigits=3))
    False
    """
    return _Description().of(value)


class _Description:
    """One description; it knows the functions and objects that it is inside of."""

    def __init__(self) -> None:
        self._open: list[int] = []

    def of(self, value: Any) -> Any:
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float | complex | bytes | range | slice | types.EllipsisType):
            return [type(value).__name__, repr(value)]
        if isinstance(value, np.generic | np.ndarray):
            return self._array(np.asarray(value))
        if id(value) in self._open:  # a function that calls itself, say
            return ["again", self._open.index(id(value))]
        self._open.append(id(value))
        try:
            return self._parts(value)
        finally:
            self._open.pop()

    def _array(self, array: Any) -> Any:
        if array.dtype.hasobject:
            return ["objects", list(array.shape), [self.of(item) for item in array.flat]]
        digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
        return ["array", array.dtype.str, list(array.shape), digest]

    def _parts(self, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [type(value).__name__, [self.of(item) for item in value]]
        if isinstance(value, set | frozenset):
            return [type(value).__name__, sorted(_text(self.of(item)) for item in value)]
        if isinstance(value, Mapping):
            return [
                type(value).__name__,
                sorted([_text(self.of(key)), self.of(item)] for key, item in value.items()),
            ]
        if isinstance(value, types.ModuleType):
            return ["module", value.__name__]
        if isinstance(value, functools.partial):
            return ["partial", self.of(value.func), self.of(value.args), self.of(value.keywords)]
        if isinstance(value, types.MethodType):
            return ["method", self.of(value.__func__), self.of(value.__self__)]
        if hasattr(value, "py_func"):  # compiled by numba
            return ["compiled", self.of(value.py_func)]
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, type | types.BuiltinFunctionType | np.ufunc):
            return ["named", *_named(value)]
        if isinstance(value, BaseEstimator):
            return self._estimator(value)
        return self._object(value)

    def _function(self, function: types.FunctionType) -> Any:
        cells = [_cell(cell) for cell in function.__closure__ or ()]
        return [
            "function",
            *_named(function),
            self._code(function.__code__),
            self.of(function.__defaults__),
            self.of(function.__kwdefaults__),
            [self.of(cell) for cell in cells],
            [[name, self.of(part)] for name, part in _globals(function)],
        ]

    def _code(self, code: types.CodeType) -> Any:
        constants = [
            self._code(part) if isinstance(part, types.CodeType) else self.of(part)
            for part in code.co_consts
        ]
        return [code.co_code.hex(), constants, list(code.co_names), list(code.co_varnames)]

    def _estimator(self, estimator: BaseEstimator) -> Any:
        params = {name: self.of(p) for name, p in estimator.get_params(deep=False).items()}
        learned = [name for name in vars(estimator) if name not in params]
        contents = joblib.hash({name: vars(estimator)[name] for name in sorted(learned)})
        return ["estimator", *_named(type(estimator)), params, contents if learned else None]

    def _object(self, value: Any) -> Any:
        state = getattr(value, "__dict__", None)
        if isinstance(value, np.random.Generator):
            state = value.bit_generator.state
        elif isinstance(value, np.random.RandomState):
            state = value.get_state(legacy=False)
        if state is None or type(value).__module__ == "builtins":
            raise InputError(
                "checkpoint",
                "be None with parameters whose contents cannot be told",
                f"got one of type {type(value).__module__}.{type(value).__qualname__}",
            )
        call = inspect.getattr_static(type(value), "__call__", None)
        code = self.of(call) if isinstance(call, types.FunctionType) else None
        return ["object", *_named(type(value)), self.of(dict(state)), code]


def _named(value: Any) -> tuple[str, str]:
    return str(getattr(value, "__module__", "")), str(getattr(value, "__qualname__", value))


def _cell(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


def _globals(function: types.FunctionType) -> list[tuple[str, Any]]:
    """The global names that a function, and those inside it, read; builtins are everybody's."""
    names: set[str] = set()
    waiting = [function.__code__]
    while waiting:
        code = waiting.pop()
        waiting += [part for part in code.co_consts if isinstance(part, types.CodeType)]
        names |= {i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"}
    known = function.__globals__
    return [(name, known[name]) for name in sorted(names) if name in known]


def _text(described: Any) -> str:
    return json.dumps(described, sort_keys=True)
