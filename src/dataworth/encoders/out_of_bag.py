"""A forest that is judged out of bag: its own voting weights, without folds."""

import inspect
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.utils.validation import check_is_fitted

from dataworth.arrays import Array, Ints
from dataworth.encoders.forest import ForestEncoder, holds_numbers
from dataworth.errors import InputError, InputTypeError

FORESTS = (
    RandomForestClassifier,
    RandomForestRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
)


@dataclass(frozen=True)
class LeafShares:
    """What each training point has to say in each leaf of a forest.

    Attributes
    ----------
    table : csr_array of shape (n_leaves, n_train)
        The share of each training point in the draws of each leaf. Leaves, and the nodes above
        them, are numbered through all trees.
    """

    table: csr_array

    def weights(self, leaves: Ints) -> csr_array:
        """Return the weights of the training points for some points.

        Parameters
        ----------
        leaves : (n, n_trees) array of int
            The leaf of each point in each tree; a negative number if that tree may not judge it.

        Returns
        -------
        csr_array of shape (n, n_train)
            The mean share over the trees that judge a point. Rows add up to 1, or are empty if no
            tree may judge.
        """
        judging = leaves >= 0
        n_judging = judging.sum(axis=1)
        ends = np.concatenate([[0], np.cumsum(n_judging)])
        found = (np.ones(ends[-1]), leaves[judging], ends)
        # A row is added up tree by tree, so its bits do not depend on the rows beside it.
        weights = csr_array(found, shape=(leaves.shape[0], self.table.shape[0])) @ self.table
        weights.data /= np.repeat(n_judging, np.diff(weights.indptr))
        return weights


class OutOfBagForest(ForestEncoder):
    """One forest on all training points, each of which is judged only by trees that never saw it.

    A tree of a random forest is grown on points drawn with replacement, which leave out about a
    third of all points. These are judged by it: what it predicts for them owes nothing to their own
    labels. So `value()` without a validation set needs neither folds nor more than one forest.
    Points from outside, as in a validation set or in the folds of `cv`, are judged by all trees.

    With this encoder there are no distances. The weight of a training point is what the forest
    itself gives it: the mean, over the trees that judge, of how often it was drawn if it is in the
    same leaf, divided by all draws in that leaf. The weighted mean of the labels is then the
    forest's out-of-bag prediction, and values say what each point is worth to the forest as it was
    grown. `KNNShapley` ranks points by these weights, heaviest first, and divides them by the
    largest. It takes neither `weights` nor `metric`, and nothing else that is about distances.

    Features need no scaling, and may be missing (NaN) or sparse, as far as the forest takes them. A
    data frame with columns other than numbers is encoded by a `TableEncoder` first, as
    `encoder="auto"` does.

    Parameters
    ----------
    forest : forest of scikit-learn or None
        `RandomForestClassifier`, `RandomForestRegressor`, `ExtraTreesClassifier` or
        `ExtraTreesRegressor` with `bootstrap=True`, not fitted, and with its own parameters in
        place of those below. Its leaves must predict plain means: no `class_weight`, no
        `monotonic_cst`, no `criterion="absolute_error"`. None stands for a random forest that suits
        the labels.
    n_estimators : int, default 500
        The number of trees.
    min_samples_leaf : int, default 3
        The fewest training points in a leaf.
    random_state : int or None, default 0
        Seeds the forest.
    n_jobs : int or None
        Threads of the forest.

    Attributes
    ----------
    forest_ : forest of scikit-learn
        The fitted forest.
    shares_ : LeafShares
        What each training point has to say in each leaf.
    table_encoder_ : TableEncoder or None
        What encodes data frames first; None if `fit` was given numbers alone.
    n_features_in_ : int
        The number of features given to `fit`.
    feature_names_in_ : ndarray of str
        The names of the features, if `fit` was given a data frame whose names are all strings.

    References
    ----------
    J. S. Rhodes, A. Cutler, K. R. Moon: Geometry- and Accuracy-Preserving Random Forest
    Proximities. IEEE Transactions on Pattern Analysis and Machine Intelligence, 2023.

    Examples
    --------
    >>> from dataworth import KNNShapley, OutOfBagForest
    >>> X = [[0.0], [0.1], [0.2], [0.3], [1.0], [1.1], [1.2], [1.3]]
    >>> y = ["a", "a", "b", "a", "b", "b", "b", "b"]
    >>> forest = OutOfBagForest(n_estimators=50, min_samples_leaf=1)
    >>> valuator = KNNShapley(n_neighbors=3, encoder=forest)
    >>> int(valuator.fit(X, y).value().values.argmin())
    2
    >>> forest.fit(X, y).weights().sum(axis=1).round(12)
    array([1., 1., 1., 1., 1., 1., 1., 1.])
    """

    def __init__(
        self,
        forest: Any = None,
        *,
        n_estimators: int = 500,
        min_samples_leaf: int = 3,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.forest = forest
        self.n_estimators = n_estimators
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Grow the forest: classification trees for labels, regression trees for numbers.

        Without a `forest` of your own, floats count as numbers, and so do many different whole
        numbers.

        Parameters
        ----------
        X : array-like, sparse array or data frame of shape (n_points, n_features)
            The training points.
        y : array-like of shape (n_points,)
            Their labels, or numbers.

        Returns
        -------
        OutOfBagForest
            The encoder itself.
        """
        points = self._grow(X, y)
        trees = self.forest_.estimators_
        self._starts = np.cumsum([0, *(tree.tree_.node_count for tree in trees)])
        leaves = self._numbered(points)
        n_points, rows, members, shares = len(leaves), [], [], []
        for t, drawn in enumerate(self.forest_.estimators_samples_):
            draws = np.bincount(drawn, minlength=n_points)
            inside = np.flatnonzero(draws)
            leaf = leaves[inside, t]
            total = np.bincount(leaf - self._starts[t], draws[inside])
            rows.append(leaf.copy())
            members.append(inside)
            shares.append(draws[inside] / total[leaf - self._starts[t]])
            # The complement of a leaf is negative, and still says which leaf it is.
            leaves[inside, t] = ~leaf
        places = (np.concatenate(rows), np.concatenate(members))
        shape = (int(self._starts[-1]), n_points)
        self.shares_ = LeafShares(csr_array((np.concatenate(shares), places), shape=shape))
        self._own_leaves = leaves
        return self

    def leaves(self, X: Any = None) -> Ints:
        """Find the leaf of each point in each tree, numbered through all trees.

        Parameters
        ----------
        X : array-like, sparse array or data frame of shape (n_points, n_features), or None
            The points; None for the training points.

        Returns
        -------
        ndarray of shape (n_points, n_estimators)
            The numbers of the leaves. For training points, the number of a leaf i in a tree that
            was grown on the point, and may not judge it, is -1 - i.
        """
        check_is_fitted(self)
        return self._own_leaves if X is None else self._numbered(self._points(X))

    def weights(self, X: Any = None) -> csr_array:
        """Weigh the training points by how much they count in the prediction for given points.

        Parameters
        ----------
        X : array-like, sparse array or data frame of shape (n_points, n_features), or None
            The points, which are judged by all trees; None for the training points, each judged by
            the trees that were grown without it.

        Returns
        -------
        csr_array of shape (n_points, n_train)
            The weights. Each row adds up to 1, or is empty if no tree may judge.
        """
        leaves = self.leaves(X)
        weights = self.shares_.weights(leaves)
        weights.sort_indices()
        return weights

    def _numbered(self, points: Any) -> Ints:
        """Return the leaves of points, in the smallest integers that hold them and complements."""
        leaves = self.forest_.apply(points) + self._starts[:-1]
        numbered: Ints = leaves.astype(np.min_scalar_type(-int(self._starts[-1])))
        return numbered

    def _unfitted(self, y: Array) -> Any:
        params = self.get_params(deep=False)
        forest = params.pop("forest")
        if forest is None:
            numbers = y.dtype.kind == "f" or holds_numbers(y)
            return (RandomForestRegressor if numbers else RandomForestClassifier)(**params)
        defaults = inspect.signature(type(self)).parameters
        for name, value in params.items():
            if value != defaults[name].default:
                came = f"got {name}={value!r}"
                raise InputError(name, "not be set with a forest, which has its own", came)
        _check_forest(forest)
        return clone(forest)


def _check_forest(forest: Any) -> None:
    """Refuse forests without bootstrap samples, or whose leaves do not predict plain means."""
    wanted = "be a random forest or extra trees of scikit-learn with bootstrap=True, or None"
    if not isinstance(forest, FORESTS):
        raise InputTypeError("forest", wanted, f"got {forest!r:.60}")
    params = forest.get_params(deep=False)
    if not params["bootstrap"]:
        raise InputError("forest", wanted, "got bootstrap=False")
    for name, bad in (
        ("class_weight", params.get("class_weight") is not None),
        ("monotonic_cst", params.get("monotonic_cst") is not None),
        ("criterion", params["criterion"] == "absolute_error"),
    ):
        if bad:
            raise InputError(
                "forest", "have leaves that predict plain means", f"got {name}={params[name]!r}"
            )
