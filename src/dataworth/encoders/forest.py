"""The leaves of a random forest as an encoding of points."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from dataworth.arrays import Floats
from dataworth.encoders.tables import TableEncoder
from dataworth.inputs import frames
from dataworth.inputs.targets import are_quantities


class ForestEncoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What encoders that grow a forest have in common; a subclass says which forest it grows."""

    def _unfitted(self, y: Any) -> Any:
        """Return the forest to grow for these labels, or numbers."""
        raise TypeError(f"{type(self).__name__} does not define _unfitted")

    def _grow(self, X: Any, y: Any) -> Any:
        """Grow the forest, and return the points as it takes them."""
        self.table_encoder_ = TableEncoder().fit(X) if _is_mixed(X) else None
        points = X if self.table_encoder_ is None else self.table_encoder_.transform(X)
        points, y = validate_data(
            self,
            points,
            y,
            multi_output=True,
            accept_sparse="csc",
            dtype=np.float32,  # what trees split
            ensure_all_finite="allow-nan",
        )
        self.forest_ = self._unfitted(y).fit(points, y)
        if self.table_encoder_ is not None:
            self.n_features_in_ = self.table_encoder_.n_features_in_
            if hasattr(self.table_encoder_, "feature_names_in_"):
                self.feature_names_in_ = self.table_encoder_.feature_names_in_
        return points

    def _points(self, X: Any) -> Any:
        """Return points as the forest takes them."""
        check_is_fitted(self)
        if self.table_encoder_ is not None:
            return self.table_encoder_.transform(X).astype(np.float32)
        return validate_data(
            self,
            X,
            reset=False,
            accept_sparse="csr",
            dtype=np.float32,
            ensure_all_finite="allow-nan",
        )

    def transform(self, X: ArrayLike) -> Floats:
        """Find the leaf of each point in each tree.

        Parameters
        ----------
        X : array-like, sparse array or data frame of shape (n_points, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_points, n_estimators)
            The number of the leaf in each tree, float64.
        """
        points = self._points(X)
        return self.forest_.apply(points).astype(np.float64)

    @property
    def _n_features_out(self) -> int:
        """The number of trees, which scikit-learn asks for to name the features."""
        return len(self.forest_.estimators_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


class ForestLeaves(ForestEncoder):
    """Where a random forest puts a point: the leaf it falls into in each tree.

    Two points are as far apart as the share of trees in which their leaves differ, which is the
    metric that `KNNShapley` uses with this encoder unless it is told otherwise. Features need no
    scaling, and may be missing (NaN) or sparse. A data frame with columns other than numbers is
    encoded by a `TableEncoder` first, as `encoder="auto"` does. The forest learns from the labels,
    so use it with `value(cv=...)`, where it never sees the labels of the points that judge, or with
    a validation set.

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

    Attributes
    ----------
    metric : str
        "hamming", the metric that compares leaves.
    forest_ : RandomForestClassifier or RandomForestRegressor
        The fitted forest.
    table_encoder_ : TableEncoder or None
        What encodes data frames first; None if `fit` was given numbers alone.
    n_features_in_ : int
        The number of features given to `fit`.
    feature_names_in_ : ndarray of str
        The names of the features, if `fit` was given a data frame whose names are all strings.

    Examples
    --------
    >>> from dataworth import ForestLeaves
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
        """Grow the forest: classification trees for labels, regression trees for numbers.

        Many different whole numbers count as numbers, not as labels.

        Parameters
        ----------
        X : array-like, sparse array or data frame of shape (n_points, n_features)
            The training points.
        y : array-like of shape (n_points,)
            Their labels, or numbers.

        Returns
        -------
        ForestLeaves
            The encoder itself.
        """
        self._grow(X, y)
        return self

    def _unfitted(self, y: Any) -> Any:
        kind = RandomForestRegressor if holds_numbers(y) else RandomForestClassifier
        return kind(**self.get_params())


def holds_numbers(y: Any) -> bool:
    """Whether targets are numbers and not labels; many different whole numbers are numbers."""
    continuous = type_of_target(y, input_name="y").startswith("continuous")
    return continuous or are_quantities(np.asarray(y))


def _is_mixed(X: Any) -> bool:
    """Whether X is a data frame in which some columns are not numbers."""
    table = frames.frame(X)
    return table is not None and not all(kind.is_numeric() for kind in table.schema.values())
