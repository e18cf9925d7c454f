"""dataworth: what is each training example worth?

Exact Shapley values of data points for nearest-neighbour models, in linear time.

The way through the modules is one way: `checks` (validated input) -> `neighbors` (ranked
neighbours) -> `weights` (integers) -> `games` and `kernels` (values of one validation point) ->
`tasks` and `valuation` (the estimator, which sums them) -> `result`, from which `plots` and the
command line (`cli`, `commands`) go on. `frames` and `columns` bring data frames in.
"""

__version__ = "0.1.0"

from dataworth.encoders.forest import ForestLeaves
from dataworth.encoders.tables import TableEncoder
from dataworth.estimator import KNNShapley
from dataworth.result import DataValues

__all__ = ["DataValues", "ForestLeaves", "KNNShapley", "TableEncoder"]
