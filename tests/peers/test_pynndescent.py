"""Neighbours that pynndescent finds; runs where that is installed (`make test-peers`).

It takes two minutes to compile, and nothing of ours depends on it.
"""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from dataworth import KNNShapley

pynndescent = pytest.importorskip(
    "pynndescent", reason="pynndescent is not installed; make test-peers has it"
)


def test_found_neighbours_give_nearly_the_exact_values() -> None:
    X, y = make_blobs(1000, 4, centers=3, cluster_std=3.0, random_state=0)
    transformer = pynndescent.PyNNDescentTransformer(n_neighbors=30, random_state=0)
    got = KNNShapley(neighbors=transformer, support=20).fit(X, y).value(X[:64] + 0.1, y[:64])
    ref = KNNShapley(support=20).fit(X, y).value(X[:64] + 0.1, y[:64])
    assert got.recall is not None
    assert got.recall > 0.95
    assert np.corrcoef(got.values, ref.values)[0, 1] > 0.99
