"""Training points that an encoder weighs itself."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from dataworth import OutOfBagForest
from dataworth.neighbors.rows import Weighted
from dataworth.neighbors.search import Demand
from dataworth.neighbors.weighed import Weighed
from dataworth.weights.ranked import Within
from dataworth.weights.weighting import OF_ENCODER, Weighting

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(40, 2)), np.arange(40) % 2
ENCODER = OutOfBagForest(n_estimators=8).fit(X, Y)
POINTS = Weighed(ENCODER.leaves(), ENCODER.shares_)
DEMAND = Demand(None, False, 0.0, 2.0**20, 8)
ROW = Weighted(np.array([7, 2, 9, 4, 0]), np.array([0.1, 0.3, 0.1, 0.4, 0.001]))


def test_rows_are_the_weights_of_the_encoder() -> None:
    ref = ENCODER.weights().toarray()
    for some in (slice(None), slice(3, 9), slice(39, 50)):
        rows = list(POINTS.search(DEMAND).rows(POINTS[some]))
        assert len(rows) == len(ref[some])
        for row, weights in zip(rows, ref[some], strict=True):
            got = np.zeros(40)
            got[row.index] = row.weight
            assert_array_equal(got, weights)  # to the bit, whatever other rows are asked for


def test_points_are_known_by_their_leaves() -> None:
    assert POINTS.shape == (40, 8)
    assert_array_equal(POINTS.array, ENCODER.leaves(X))
    assert_array_equal(POINTS.take(np.array([3, 1])), POINTS.leaves[[3, 1]])
    other = OutOfBagForest(n_estimators=8, random_state=1).fit(X, Y)
    assert POINTS.digest() != Weighed(other.leaves(), other.shares_).digest()
    assert not POINTS.is_partial(POINTS.leaves, limited=True)


def test_the_heaviest_come_first_and_equal_ones_by_position() -> None:
    ranked = ROW.ranked_by(Weighting(OF_ENCODER, "auto", 3), 10, None, None)
    assert ranked.order.tolist() == [4, 2, 7, 9]
    assert ranked.weights.tolist() == [7, 5, 2, 2]
    assert ranked.behind is None
    real = ROW.ranked_by(Weighting(OF_ENCODER, "auto", None), 10, 4, None)
    assert real.order.tolist() == [2, 7, 9, 0]
    assert_allclose(real.weights, np.array([0.3, 0.1, 0.1, 0.001]) / 0.3)
    some = ROW.ranked_by(Weighting(OF_ENCODER, "auto", 3, support=3), 10, None, None)
    assert some.order.tolist() == [4, 2, 7]
    cut = ROW.ranked_by(Weighting(OF_ENCODER, "auto", 3), 10, None, 2)
    assert cut.order.tolist() == [4, 2]
    assert cut.others.tolist() == [7, 9]


def test_nobody_has_weight() -> None:
    nobody = Weighted(np.empty(0, np.int64), np.empty(0))
    for bits in (3, None):
        assert nobody.ranked_by(Weighting(OF_ENCODER, "auto", bits), 10, 3, None).players == 0
    assert nobody.nearest(5, None).index.size == 0


def test_the_nearest_are_the_heaviest() -> None:
    near = ROW.nearest(3, 4)
    assert near.index.tolist() == [2, 7, 9]
    assert_allclose(near.distance, [0.0, 2 / 3, 2 / 3])


def test_there_is_no_radius_without_distances() -> None:
    with pytest.raises(TypeError, match="a radius needs distances"):
        ROW.ranked_by(Within(1.0), 10, None, None)
