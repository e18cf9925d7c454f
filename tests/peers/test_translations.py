"""Our values translated into the peers': against enumeration, and against each peer there is."""

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.peers import agreement, translations
from benchmarks.peers.libraries import CALLS
from dataworth import KNNShapley
from tests import naive


@pytest.mark.parametrize("case", agreement.CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_translated_values_are_the_peers(case: agreement.Case, n_classes: int) -> None:
    pytest.importorskip(case.library, reason=f"{case.library} is not installed; make test-peers")
    data = agreement.make_data(case.n_train, n_classes)
    theirs = CALLS[case.library](data, **case.args)()
    got = agreement.translated(case, data)
    np.testing.assert_allclose(got, theirs, rtol=0, atol=case.tolerance)


@pytest.mark.parametrize("k", [1, 3, 8])
def test_unweighted_translation_against_enumeration(k: int) -> None:
    data = agreement.make_data(8, 3, n_val=3)
    X, y, X_val, y_val = (data[n] for n in ("X_train", "y_train", "X_val", "y_val"))
    ref = np.zeros(8)
    for x, label in zip(X_val, y_val, strict=True):
        order = _order(X, x)

        def matches(members: frozenset[int], order: list[int] = order, label: int = label) -> float:
            nearest = [i for i in order if i in members][:k]
            return sum(y[i] == label for i in nearest) / k

        ref += naive.shapley(8, matches) / len(y_val)
    valuator = KNNShapley(n_neighbors=k, weights="uniform").fit(X, y)
    got = translations.unweighted(valuator.value(X_val, y_val).values, y, y_val, k)
    np.testing.assert_allclose(got, ref, rtol=0, atol=1e-13)


def test_hard_translation_against_enumeration() -> None:
    data = agreement.make_data(8, 3, n_val=3)
    X, y, X_val, y_val = (data[n] for n in ("X_train", "y_train", "X_val", "y_val"))
    k, bits = 3, 3
    ref = np.zeros(8)
    for x, label in zip(X_val, y_val, strict=True):
        order = _order(X, x)
        distance = np.sqrt(((X - x) ** 2).sum(axis=1))
        weight = np.round(distance.min() / distance * 2**bits)
        rivals = [c for c in np.unique(y) if c != label]
        for rival in rivals:
            inside = [i for i in order if y[i] in (label, rival)]

            def vote(members: frozenset[int], inside: list[int] = inside, label: int = label,
                     weight: NDArray[np.float64] = weight) -> float:  # fmt: skip
                nearest = [inside[i] for i in range(len(inside)) if i in members][:k]
                lead = sum(weight[i] if y[i] == label else -weight[i] for i in nearest)
                return float(bool(nearest) and lead >= 0)

            phi = naive.shapley(len(inside), vote)
            ref[inside] += phi / len(rivals) / len(y_val)
    grid = translations.power_of_two_grid(bits)
    valuator = KNNShapley(n_neighbors=k, game="hard", weights=grid, n_bits=bits + 1).fit(X, y)
    got = translations.hard(valuator.value(X_val, y_val).values, y, y_val)
    np.testing.assert_allclose(got, ref, rtol=0, atol=1e-13)


def _order(X: NDArray[np.float64], x: NDArray[np.float64]) -> list[int]:
    return naive.ranking(np.sqrt(((X - x) ** 2).sum(axis=1)).tolist())
