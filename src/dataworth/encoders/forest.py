"""Encoders: representations in which near means alike.

Any scikit-learn transformer or pipeline will do; one that is worth having ships here.
"""

import inspect
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.utils import get_tags
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from dataworth.encoders.tables import TableEncoder
from dataworth.inputs import frames


class ForestLeaves(TransformerMixin, BaseEstimator):
    """Where a random forest puts a point: the leaf it falls into in each tree.

    Two points are as far apart as the share of trees in which their leaves differ, which is the
    metric that `KNNShapley` uses with this encoder unless it is told otherwise. Features need no
    scaling. The forest learns from the labels, so use it with `value(cv=...)`, where it never sees
    the labels of the points that judge, or with a validation set.

    Parameters
    ----------
    n_estimators : int, default 200
        The number of trees.
    min_samples_leaf : int, default 5
        The fewest training points in a leaf.
    random_state : int or None, default 0
        Seeds the forest.
    n_jobs : int or None
        Threads of the forest.

    Examples
    --------
    >>> from dataworth.encoders.forest import ForestLeaves
    >>> X, y = [[0.0], [0.1], [0.9], [1.0]], ["a", "a", "b", "b"]
    >>> ForestLeaves(n_estimators=3, min_samples_leaf=1).fit_transform(X, y).shape
    (4, 3)
    """

    metric = "hamming"

    def __init__(
        self,
        *,
        n_estimators: int = 200,
        min_samples_leaf: int = 5,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Grow the forest: of classification trees for labels, of regression trees for numbers."""
        continuous = type_of_target(y, input_name="y").startswith("continuous")
        kind = RandomForestRegressor if continuous else RandomForestClassifier
        self.forest_ = kind(**self.get_params()).fit(X, y)
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """The number of the leaf in each tree, (n_points, n_estimators)."""
        check_is_fitted(self)
        leaves: NDArray[np.float64] = self.forest_.apply(X).astype(np.float64)
        return leaves

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def encoder_of(encoder: Any, X: Any) -> Any:
    """What "auto" stands for: an encoder of tables for data frames, none for anything else."""
    if not (isinstance(encoder, str) and encoder == "auto"):
        return encoder
    return None if frames.frame(X) is None else TableEncoder()


def is_supervised(encoder: Any, X: Any) -> bool:
    """Whether an encoder, or any step inside it, needs labels: it says so, or fails without."""
    parts = [encoder]
    if hasattr(encoder, "get_params"):
        parts += encoder.get_params(deep=True).values()
    if any(_needs_labels(part) for part in parts):
        return True
    try:
        clone(encoder).fit(X)
    except Exception:  # whatever a fit without labels makes it raise
        return True
    return False


def _needs_labels(part: Any) -> bool:
    if isinstance(part, type) or not hasattr(part, "fit"):
        return False
    y = inspect.signature(part.fit).parameters.get("y")
    if y is not None and y.default is inspect.Parameter.empty:
        return True
    return isinstance(part, BaseEstimator) and bool(get_tags(part).target_tags.required)
