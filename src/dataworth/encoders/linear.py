"""What a linear model thinks of each class, as an encoding of points."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from dataworth.arrays import Floats
from dataworth.blas import one_thread
from dataworth.encoders.tables import TableEncoder
from dataworth.errors import InputError
from dataworth.inputs import frames

MOST_STEPS = 1000
LEAST_CHANCE = 1e-3  # what is added to each chance, so that certain points are not far apart


class LinearScores(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What a logistic regression thinks of a point: the logarithm of the chance of each class.

    Points are near each other if the model thinks alike of them, whatever else they differ in. The
    model learns from the labels. So in `value()`, without a validation set, the points are split at
    random into five folds, each of which judges the points of the others with a model that has seen
    only these. This encoder finds label errors that neighbours and trees miss, where classes lie on
    two sides of a plane; take it along with others, as in
    `encoder=["auto", OutOfBagForest(), LinearScores()]`.

    A data frame is encoded by a `TableEncoder` first, as `encoder="auto"` does. Each feature is
    divided by its standard deviation, and all by the square root of their number, so that the
    penalty means the same for few features and for many.

    Parameters
    ----------
    C : float, default 10
        The inverse of the penalty of `LogisticRegression`.

    Attributes
    ----------
    own_folds : int
        5, the number of folds in which points judge each other.
    classes_only : bool
        True: there is no such model for numbers.
    model_ : LogisticRegression or None
        The fitted model; None if all labels are the same.
    scaler_ : StandardScaler
        What scales the features.
    table_encoder_ : TableEncoder or None
        What encodes data frames first; None if `fit` was given an array.
    n_features_in_ : int
        The number of features given to `fit`.
    feature_names_in_ : ndarray of str
        The names of the features, if `fit` was given a data frame whose names are all strings.

    Examples
    --------
    >>> from dataworth import LinearScores
    >>> X, y = [[0.0], [0.1], [0.9], [1.0]], ["a", "a", "b", "b"]
    >>> LinearScores().fit_transform(X, y).round(1)
    array([[-0.1, -3. ],
           [-0.1, -2.4],
           [-2.4, -0.1],
           [-3. , -0.1]])
    """

    own_folds = 5
    classes_only = True

    def __init__(self, *, C: float = 10.0) -> None:
        self.C = C

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like, sparse array or data frame of shape (n_points, n_features)
            The training points.
        y : array-like of shape (n_points,)
            Their labels.

        Returns
        -------
        LinearScores
            The encoder itself.
        """
        self.table_encoder_ = None if frames.frame(X) is None else TableEncoder().fit(X)
        points = X if self.table_encoder_ is None else self.table_encoder_.transform(X)
        points, y = validate_data(self, points, y, accept_sparse="csr", dtype=np.float64)
        if type_of_target(y, input_name="y").startswith("continuous"):
            raise InputError(
                "y", "hold labels for LinearScores, which knows classes only", "it holds numbers"
            )
        self.scaler_ = StandardScaler(with_mean=isinstance(points, np.ndarray)).fit(points)
        self.model_ = None
        if np.unique(y).size > 1:
            with one_thread():
                self.model_ = LogisticRegression(C=self.C, max_iter=MOST_STEPS)
                self.model_.fit(self._scaled(points), y)
        if self.table_encoder_ is not None:
            self.n_features_in_ = self.table_encoder_.n_features_in_
            if hasattr(self.table_encoder_, "feature_names_in_"):
                self.feature_names_in_ = self.table_encoder_.feature_names_in_
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """Return the logarithms of the chances of each class, after adding 0.001 to them.

        Parameters
        ----------
        X : array-like, sparse array or data frame of shape (n_points, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_points, n_classes)
            One column per class.
        """
        check_is_fitted(self)
        if self.table_encoder_ is not None:
            points = self.table_encoder_.transform(X)
        else:
            points = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        scores: Floats = np.log(self._chances(self._scaled(points)) + LEAST_CHANCE)
        return scores

    def _chances(self, points: Any) -> Floats:
        """Return the chance of each class, of each point by itself, so that copies are alike.

        A product of matrices would give the last bits of a point by where it stands among others.
        """
        if self.model_ is None:
            return np.ones((points.shape[0], 1))
        slopes = self.model_.coef_
        dense = isinstance(points, np.ndarray)
        sums = np.einsum("nf,cf->nc", points, slopes) if dense else points @ slopes.T
        sums = sums + self.model_.intercept_
        if sums.shape[1] > 1:
            return np.asarray(softmax(sums, axis=1))
        right = expit(sums[:, 0])
        return np.column_stack([1.0 - right, right])

    def _scaled(self, points: Any) -> Any:
        return self.scaler_.transform(points) / np.sqrt(points.shape[1])

    @property
    def _n_features_out(self) -> int:
        """The number of classes, which scikit-learn asks for to name the features."""
        return 1 if self.model_ is None else len(self.model_.classes_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags
