"""dataworth: what is each training example worth?

Exact Shapley values of data points for nearest-neighbour models, in linear time.

Importing this package imports nothing heavy: the classes below load when they are first used, so
that `dataworth --help` answers at once.

Data flows through the package in one direction, and a module imports only those before it:

- `errors`, `arrays` and `compiled` are the base of all others.
- `inputs` checks what the user gives, and `files` reads and writes files.
- `suspects` scores how wrong labels look, and says how many are.
- `encoders` turns the rows of a table into points.
- `neighbors` finds the nearest training points of each validation point.
- `weights` ranks them and turns their distances into weights.
- `games` values the ranked points for one validation point; `games.kernels` does the computing.
- `settings` holds the checked parameters, and `training` the training set and its folds.
- `run` goes through the validation points and adds up their values.
- `result` and `owner_values` hold the values, and `explanation` says where they come from.
- `estimator` puts everything together as `KNNShapley`.
- `comparison` trains models on data before and after cleaning.

`plots` draws the figures. `report`, `decisions`, `cli`, `integrations`, `baselines` and `demo` use
the package as anybody could. `docs/architecture.md` lists which module may import which.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataworth.comparison import compare
    from dataworth.encoders.forest import ForestLeaves
    from dataworth.encoders.linear import LinearScores
    from dataworth.encoders.out_of_bag import OutOfBagForest
    from dataworth.encoders.tables import TableEncoder
    from dataworth.estimator import KNNShapley
    from dataworth.owner_values import OwnerValues
    from dataworth.result import DataValues
    from dataworth.suspects.ruler import Ruler

__version__ = "0.1.0"

__all__ = [
    "DataValues",
    "ForestLeaves",
    "KNNShapley",
    "LinearScores",
    "OutOfBagForest",
    "OwnerValues",
    "Ruler",
    "TableEncoder",
    "compare",
]

_HOMES = {
    "DataValues": "dataworth.result",
    "ForestLeaves": "dataworth.encoders.forest",
    "KNNShapley": "dataworth.estimator",
    "LinearScores": "dataworth.encoders.linear",
    "OutOfBagForest": "dataworth.encoders.out_of_bag",
    "OwnerValues": "dataworth.owner_values",
    "Ruler": "dataworth.suspects.ruler",
    "TableEncoder": "dataworth.encoders.tables",
    "compare": "dataworth.comparison",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)  # found at once next time
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
