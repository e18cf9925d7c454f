"""Canaries: labels that mean nothing are worth nothing, however an encoder takes its labels."""

from typing import Any, Self

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, StandardScaler, TargetEncoder

from dataworth import ForestLeaves, KNNShapley, LinearScores, OutOfBagForest
from dataworth.errors import InputError

Array = NDArray[Any]
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(300, 3)), RNG.integers(0, 2, 300)
LARGEST = 0.1  # a leak gives about 0.5, and chance about 0.02


class Memory(BaseEstimator, TransformerMixin):
    """Keeps the label of every row that it is fitted to, and gives it away."""

    def keep(self, X: Array, y: Any = None) -> Self:
        self.labels_ = {} if y is None else dict(zip(map(bytes, np.array(X)), y, strict=True))
        return self

    def transform(self, X: Array) -> Array:
        known = [[float(self.labels_.get(bytes(row), 0.5))] for row in np.array(X)]
        return np.hstack([np.array(X), 1e3 * np.array(known)])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "labels_")


class Optional(Memory):
    def fit(self, X: Array, y: Any = None) -> Self:
        return self.keep(X, y)


class Required(Memory):
    def fit(self, X: Array, y: Any) -> Self:
        return self.keep(X, y)


class OtherName(Memory):
    def fit(self, X: Array, labels: Any) -> Self:
        return self.keep(X, labels)


class OtherNameOptional(Memory):
    def fit(self, X: Array, labels: Any = None) -> Self:
        return self.keep(X, labels)


class AnyArguments(Memory):
    def fit(self, *arguments: Any, **named: Any) -> Self:
        return self.keep(*arguments, **named)


class PointsOnly(Memory):
    def fit(self, X: Array) -> Self:
        return self.keep(X)


class FitTransform(Memory):
    """Its `fit` ignores labels, and its `fit_transform` gives them away."""

    def fit(self, X: Array, y: Any = None) -> Self:
        return self.keep(X)

    def fit_transform(self, X: Array, y: Any = None, **params: Any) -> Array:
        return self.keep(X, y).transform(X)


class NoEstimator:
    """No class of scikit-learn's behind it, but what `clone` asks for."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {}

    def fit(self, X: Array, y: Any = None) -> Self:
        self.memory = Optional().fit(X, y)
        return self

    def transform(self, X: Array) -> Array:
        return self.memory.transform(X)


ENCODERS = {
    "fit(X)": PointsOnly(),
    "fit(X, y=None)": Optional(),
    "fit(X, y)": Required(),
    "fit(X, labels)": OtherName(),
    "fit(X, labels=None)": OtherNameOptional(),
    "fit(*args, **kwargs)": AnyArguments(),
    "fit_transform of its own": FitTransform(),
    "no estimator": NoEstimator(),
    "a pipeline": make_pipeline(StandardScaler(), Optional()),
    "a pipeline of one that needs labels": make_pipeline(StandardScaler(), Required()),
    "a pipeline that goes on": make_pipeline(Optional(), StandardScaler()),
    "fit_transform in a pipeline": make_pipeline(FitTransform(), StandardScaler()),
    "a union": make_union(StandardScaler(), Optional()),
    "a union of unions": FeatureUnion([("a", make_union(Optional())), ("b", StandardScaler())]),
    "columns": ColumnTransformer([("a", Optional(), [0, 1]), ("b", StandardScaler(), [2])]),
    "a forest": ForestLeaves(n_estimators=30),
    "a pipeline of a forest": make_pipeline(StandardScaler(), ForestLeaves(n_estimators=30)),
    "a forest judged out of bag": OutOfBagForest(n_estimators=100),
    "a linear model with folds of its own": LinearScores(),
    "a target encoder": make_pipeline(FunctionTransformer(np.round), TargetEncoder()),
    "a plain one": StandardScaler(),
}
NEED_LABELS = {
    "fit(X, y)",
    "fit(X, labels)",
    "a pipeline of one that needs labels",
    "a forest",
    "a pipeline of a forest",
    "a target encoder",
}


def test_a_leak_would_be_seen() -> None:
    """With the label of every judge at hand, sets of points are as good as they can be."""
    told = Optional().fit(X, Y).transform(X)
    assert KNNShapley().fit(told, Y).value().values.sum() > 0.4


@pytest.mark.parametrize("game", ["soft", "hard"])
@pytest.mark.parametrize("name", ENCODERS)
def test_random_labels_are_worth_nothing_in_folds(name: str, game: str) -> None:
    values = KNNShapley(encoder=ENCODERS[name], game=game).fit(X, Y).value(cv=5).values
    chance = 0.5 if game == "hard" else 0.0  # a vote of nobody counts as right
    assert abs(values.sum() + chance) < LARGEST


@pytest.mark.parametrize("name", ENCODERS)
def test_random_labels_are_worth_nothing_in_leave_one_out(name: str) -> None:
    valuator = KNNShapley(encoder=ENCODERS[name]).fit(X, Y)
    if name in NEED_LABELS:
        with pytest.raises(InputError, match="encoder must not learn from labels in leave-one-out"):
            valuator.value()
    else:
        assert abs(valuator.value().values.sum()) < LARGEST
        _ = valuator.encoder_  # fitted with all labels, and of no use to leave-one-out
        assert abs(valuator.value().values.sum()) < LARGEST
