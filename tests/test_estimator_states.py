"""The estimator in any order of calls: a fresh one with the same parameters gives the same bits."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
)
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from dataworth import KNNShapley
from dataworth.errors import InputError
from dataworth.explanation import Explanation

N = 12
RNG = np.random.default_rng(0)
SETS = [(RNG.normal(size=(N, 2)), RNG.integers(0, 2, N)) for _ in range(2)]
QUERIES = RNG.normal(size=(9, 2)), RNG.integers(0, 2, 9)
TUNED: dict[str, list[Any]] = {
    "n_neighbors": [1, 3, 50],
    "game": ["soft", "hard"],
    "weights": ["rbf", "uniform", "linear"],
    "n_bits": [1, 3],
    "semivalue": ["shapley", "banzhaf"],
    "max_rank": [None, 5, "sqrt"],
    "support": [None, 6],
    "n_jobs": [None, 2],
}
FIXED: dict[str, list[Any]] = {  # what may not change after fit
    "metric": [None, "manhattan"],
    "encoder": [None, StandardScaler()],
    "game": ["soft", "regression"],
}


def pairs(choices: dict[str, list[Any]]) -> st.SearchStrategy[tuple[str, Any]]:
    return st.sampled_from([(name, value) for name, some in choices.items() for value in some])


def called(valuator: KNNShapley, how: str, seed: int) -> Any:
    """Value in one of the ways there are."""
    if how == "outside":
        return valuator.value(*QUERIES)
    if how == "folds":
        return valuator.value(cv=KFold(3, shuffle=True, random_state=seed))
    return valuator.value()


class Estimators(RuleBasedStateMachine):
    """An estimator and what we know of it.

    That is its parameters, the data and parameters it was fitted with, and the last values with
    their explanations, by a fresh estimator that did the same.
    """

    @initialize(choice=pairs(FIXED), data=st.integers(0, 1))
    def made(self, choice: tuple[str, Any], data: int) -> None:
        self.valuator = KNNShapley(encoder=None)
        self.params: dict[str, Any] = {"encoder": None}
        self.set_params(choice)
        self.fit(data)

    @rule(data=st.integers(0, 1))
    def fit(self, data: int) -> None:
        assert self.valuator.fit(*SETS[data]) is self.valuator
        self.data: int | None = data
        self.fitted = dict(self.params)
        self.last: tuple[Any, list[Explanation]] | None = None

    @rule(choice=pairs(TUNED))
    def tune(self, choice: tuple[str, Any]) -> None:
        self.set_params(choice)

    @rule(choice=pairs(FIXED))
    def change(self, choice: tuple[str, Any]) -> None:
        self.set_params(choice)

    def set_params(self, choice: tuple[str, Any]) -> None:
        name, value = choice
        self.valuator.set_params(**{name: value})
        self.params[name] = value

    @rule(how=st.sampled_from(["outside", "inside", "folds"]), seed=st.integers(0, 3))
    def value(self, how: str, seed: int) -> None:
        if self.data is None:
            with pytest.raises(NotFittedError):
                called(self.valuator, how, seed)
        elif self.changed():
            with pytest.raises(InputError, match="must not change after fit"):
                called(self.valuator, how, seed)
        else:
            fresh = KNNShapley(**self.params).fit(*SETS[self.data])
            got, ref = called(self.valuator, how, seed), called(fresh, how, seed)
            for name in ("values", "lower", "upper"):
                np.testing.assert_array_equal(getattr(got, name), getattr(ref, name))
            assert got.params == ref.params
            self.last = ref.values, fresh.explain(range(N))

    def changed(self) -> bool:
        """Whether parameters changed since fit that may not."""
        numeric = [p.get("game") == "regression" for p in (self.fitted, self.params)]
        return numeric[0] != numeric[1] or any(
            repr(self.fitted.get(name)) != repr(self.params.get(name))
            for name in ("metric", "encoder")
        )

    @invariant()
    def explains_the_last_values(self) -> None:
        """After every step: it explains the last values of this fit, or says there are none."""
        if self.data is None:
            with pytest.raises(NotFittedError):
                self.valuator.explain(0)
        elif self.last is None:
            with pytest.raises(ValueError, match="explain needs values"):
                self.valuator.explain(0)
        else:
            values, ref = self.last
            point = int(np.abs(values).argmax())
            why = self.valuator.explain(point)
            np.testing.assert_array_equal(why.contributions, ref[point].contributions)
            np.testing.assert_array_equal(why.neighbors, ref[point].neighbors)
            assert why.value == ref[point].value == pytest.approx(values[point], abs=1e-12)

    @rule()
    def clone(self) -> None:
        self.valuator = clone(self.valuator)
        self.data, self.last = None, None

    @rule()
    def pickle(self) -> None:
        self.valuator = pickle.loads(pickle.dumps(self.valuator))

    @rule()
    def copy(self) -> None:
        self.valuator = copy.deepcopy(self.valuator)


Estimators.TestCase.settings = settings(max_examples=80, stateful_step_count=30)
TestEstimators = Estimators.TestCase
