"""dataworth: what is each training example worth?

Exact Shapley values of data points for nearest-neighbour models, in linear time.

Importing this package imports nothing heavy: the classes below load when they are first used, so
that `dataworth --help` answers at once.

Data flow one way through the modules: `inputs` (checked data) -> `encoders` (columns become
numbers) -> `neighbors` (ranked neighbours) -> `weights` (integers) -> `games` (the values that one
validation point gives) -> `run` (their sum) -> `result` and `explanation` -> `estimator`. `plots`,
`report`, `cli` and `integrations` use all of these; `files` reads and writes.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataworth.encoders.forest import ForestLeaves
    from dataworth.encoders.tables import TableEncoder
    from dataworth.estimator import KNNShapley
    from dataworth.result import DataValues

__version__ = "0.1.0"

__all__ = ["DataValues", "ForestLeaves", "KNNShapley", "TableEncoder"]

_HOMES = {
    "DataValues": "dataworth.result",
    "ForestLeaves": "dataworth.encoders.forest",
    "KNNShapley": "dataworth.estimator",
    "TableEncoder": "dataworth.encoders.tables",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)  # found at once next time
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
