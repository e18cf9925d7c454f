"""What must not change a value, or must change it in a known way; nothing here needs an oracle.

Features are whole numbers times powers of two, so that distances are exact, and equal values are
equal to the last bit unless sums are taken in another order.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

from dataworth import KNNShapley

Array = NDArray[Any]
TOLERANCE = 1e-12
EXAMPLES = settings(max_examples=40)


@dataclass
class Data:
    """Training and validation points with their targets, and the parameters of the valuator."""

    params: dict[str, Any]
    X: Array
    y: Array
    X_val: Array
    y_val: Array

    @property
    def scale(self) -> float:
        """The size of utilities."""
        if self.params["game"] != "regression":
            return 1.0
        return max(1.0, float(np.square([*self.y, *self.y_val]).max()))

    def result(self, **more: Any) -> Any:
        valuator = KNNShapley(**{**self.params, **more})
        return valuator.fit(self.X, self.y).value(self.X_val, self.y_val)

    def values(self, **more: Any) -> Array:
        values: Array = self.result(**more).values
        return values

    def close(self, got: Array, ref: Array) -> None:
        np.testing.assert_allclose(got, ref, rtol=0, atol=TOLERANCE * self.scale)


@st.composite
def drawn(draw: st.DrawFn, *, apart: bool = False, games: str = "soft hard regression") -> Data:
    """Games of up to 25 points; with `apart`, no two points are equally far from any query."""
    game = draw(st.sampled_from(games.split()))
    weights = draw(st.sampled_from(["rbf", "linear", "inverse", "uniform"]))
    params: dict[str, Any] = {
        "game": game,
        "weights": weights,
        "n_neighbors": draw(st.integers(1, 30)),
        "n_bits": draw(st.sampled_from([1, 3, 5] if game == "hard" else [1, 3, 5, None])),
        "semivalue": draw(st.sampled_from(["shapley", "banzhaf", ("beta", 4.0, 0.5)])),
    }
    if game == "hard":
        params["ties"] = draw(st.sampled_from(["right", "wrong", "half"]))
        params["multiclass"] = draw(st.sampled_from(["one-vs-one", "direct"]))
        if params["multiclass"] == "direct":
            params["n_bits"], params["n_neighbors"] = 1, draw(st.integers(1, 4))
    if draw(st.booleans()):
        params["support"] = draw(st.integers(1, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, n_val = draw(st.integers(2, 25)), draw(st.integers(1, 10))
    if apart:  # twice a query is no whole number, so that no two points are at its two sides
        X = rng.permutation(np.arange(-30, 30))[:n, None].astype(float)
        X_val = rng.integers(-30, 30, (n_val, 1)) + 0.25
    else:
        width = draw(st.integers(1, 4))
        X = rng.integers(-8, 9, (n, width)).astype(float)
        X_val = rng.integers(-8, 9, (n_val, width)).astype(float)
    if game == "regression":
        return Data(params, X, rng.normal(size=n), X_val, rng.normal(size=n_val))
    y = rng.integers(0, draw(st.integers(1, 4)), n)
    return Data(params, X, y, X_val, rng.choice(y, n_val))


@EXAMPLES
@given(drawn(), st.sampled_from([1.0, -3.0, 2.0**20, 1e6, -(2.0**40)]))
def test_a_shift_changes_no_bit(data: Data, offset: float) -> None:
    moved = replace(data, X=data.X + offset, X_val=data.X_val + offset)
    np.testing.assert_array_equal(moved.values(), data.values())


@EXAMPLES
@given(drawn(), st.integers(-400, 400))
def test_a_scale_changes_no_bit(data: Data, exponent: int) -> None:
    unit = 2.0**exponent
    scaled = replace(data, X=data.X * unit, X_val=data.X_val * unit)
    np.testing.assert_array_equal(scaled.values(), data.values())


@EXAMPLES
@given(drawn(games="soft regression"), st.integers(-400, 400))
def test_a_scale_takes_radius_and_bandwidth_along(data: Data, exponent: int) -> None:
    unit = 2.0**exponent
    scaled = replace(data, X=data.X * unit, X_val=data.X_val * unit)
    wide = {"weights": "rbf", "bandwidth": 1.5}
    got = scaled.values(**{**wide, "bandwidth": 1.5 * unit})
    np.testing.assert_array_equal(got, data.values(**wide))
    within = {"weights": "uniform", "radius": 5.0, "support": None}
    got = scaled.values(**{**within, "radius": 5.0 * unit})
    np.testing.assert_array_equal(got, data.values(**within))


@EXAMPLES
@given(drawn(games="regression"), st.integers(-200, 200))
def test_targets_in_another_unit(data: Data, exponent: int) -> None:
    unit = 2.0**exponent
    for sign in (1.0, -1.0):
        other = replace(data, y=data.y * unit * sign, y_val=data.y_val * unit * sign)
        np.testing.assert_array_equal(other.values() / unit / unit, data.values())


@EXAMPLES
@given(drawn(games="regression"), st.integers(0, 40), st.booleans())
def test_targets_with_another_zero(data: Data, exponent: int, alone: bool) -> None:
    """What all targets have in common is nobody's merit."""
    for name in ("y", "y_val"):  # whole numbers, which stay exact
        setattr(data, name, np.round(256 * getattr(data, name)))
    moved = replace(data, y=data.y + 2.0**exponent, y_val=data.y_val + 2.0**exponent)
    if alone:
        ref, got = (KNNShapley(**d.params).fit(d.X, d.y).value().values for d in (data, moved))
    else:
        ref, got = data.values(), moved.values()
    data.close(got, ref)


@EXAMPLES
@given(drawn(apart=True), st.randoms(use_true_random=False))
def test_training_points_change_places(data: Data, random: Any) -> None:
    order = list(range(len(data.y)))
    random.shuffle(order)
    moved = replace(data, X=data.X[order], y=data.y[order])
    np.testing.assert_array_equal(moved.values(), data.values()[order])


@EXAMPLES
@given(drawn(), st.randoms(use_true_random=False))
def test_validation_points_and_features_change_places(data: Data, random: Any) -> None:
    order, columns = list(range(len(data.y_val))), list(range(data.X.shape[1]))
    random.shuffle(columns)
    turned = replace(data, X=data.X[:, columns], X_val=data.X_val[:, columns])
    np.testing.assert_array_equal(turned.values(), data.values())
    random.shuffle(order)
    data.close(
        replace(data, X_val=data.X_val[order], y_val=data.y_val[order]).values(), data.values()
    )


@EXAMPLES
@given(drawn(games="soft hard"), st.permutations(["b", "a", "d", "c"]))
def test_classes_change_names(data: Data, names: list[str]) -> None:
    named = np.array(names)
    other = replace(data, y=named[data.y], y_val=named[data.y_val])
    data.close(other.values(), data.values())


@EXAMPLES
@given(drawn(apart=True), st.data())
def test_twins_are_worth_the_same(data: Data, draws: st.DataObject) -> None:
    twin = draws.draw(st.integers(0, len(data.y) - 1))
    doubled = replace(data, X=np.vstack([data.X, data.X[twin]]), y=np.append(data.y, data.y[twin]))
    if data.params.get("support"):  # which may have room for one of them only
        doubled.params = {**data.params, "support": None}
    got = doubled.values()
    assert abs(got[twin] - got[-1]) <= TOLERANCE * data.scale


@EXAMPLES
@given(drawn())
def test_validation_points_that_come_twice(data: Data) -> None:
    twice = replace(data, X_val=np.vstack([data.X_val] * 2), y_val=np.concatenate([data.y_val] * 2))
    data.close(twice.values(), data.values())


@EXAMPLES
@given(drawn())
def test_values_are_the_mean_over_validation_points(data: Data) -> None:
    alone = [
        replace(data, X_val=data.X_val[i : i + 1], y_val=data.y_val[i : i + 1]).values()
        for i in range(len(data.y_val))
    ]
    data.close(data.values(), np.mean(alone, axis=0))


@EXAMPLES
@given(drawn(), st.sampled_from(["euclidean", "manhattan"]), st.sampled_from(["f4", "f8", "i8"]))
def test_sparse_equals_dense(data: Data, metric: str, dtype: str) -> None:
    X, X_val = (csr_array(some.astype(dtype)) for some in (data.X, data.X_val))
    for other in (replace(data, X=X, X_val=X_val), replace(data, X=X)):
        np.testing.assert_array_equal(other.values(metric=metric), data.values(metric=metric))


def given_distances(data: Data, graph: int | None = None) -> Any:
    """The distances of the validation points, complete or as a graph of the nearest ones."""
    rows = np.sqrt(np.square(data.X_val[:, None] - data.X[None]).sum(axis=2))
    if graph is None:
        return rows
    columns = np.sort(np.argsort(rows, axis=1, kind="stable")[:, :graph], axis=1)
    stored = np.take_along_axis(rows, columns, axis=1)
    starts = np.arange(len(rows) + 1) * columns.shape[1]
    return csr_array((stored.ravel(), columns.ravel(), starts), shape=rows.shape)


@EXAMPLES
@given(drawn())
def test_a_graph_equals_precomputed_distances_equal_features(data: Data) -> None:
    n = len(data.y)
    data.params.setdefault("support", n)
    ref = data.values()
    fitted = KNNShapley(**data.params, metric="precomputed").fit(None, data.y)
    for graph in (None, n, min(data.params["support"], n)):
        got = fitted.value(given_distances(data, graph), data.y_val)
        np.testing.assert_array_equal(got.values, ref)


@EXAMPLES
@given(drawn(), st.integers(1, 25), st.sampled_from(["rbf", "inverse", "uniform"]))
def test_a_graph_of_some_neighbours_holds_the_values(data: Data, graph: int, weights: str) -> None:
    """Points that are not stored count as farther, wherever they are."""
    data.params |= {"weights": weights, "support": None}
    if weights == "rbf":
        data.params["bandwidth"] = 2.0
    ref, slack = data.result(), TOLERANCE * data.scale
    fitted = KNNShapley(**data.params, metric="precomputed").fit(None, data.y)
    got = fitted.value(given_distances(data, graph), data.y_val)
    assert (got.lower <= ref.values + slack + ref.weight_error).all()
    assert (ref.values <= got.upper + slack + ref.weight_error).all()


@EXAMPLES
@given(drawn(), st.integers(1, 25), st.integers(1, 25))
def test_more_ranks_never_widen_an_interval(data: Data, one: int, other: int) -> None:
    few, many = data.result(max_rank=min(one, other)), data.result(max_rank=max(one, other))
    slack = TOLERANCE * data.scale + few.weight_error
    assert (many.upper - many.lower <= few.upper - few.lower + slack).all()
    if max(one, other) >= len(data.y):
        np.testing.assert_array_equal(many.values, data.values())


@EXAMPLES
@given(drawn(games="soft regression"), st.data())
def test_folds_by_list_equal_folds_by_hand(data: Data, draws: st.DataObject) -> None:
    n = len(data.y)
    place = np.array(draws.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    sides = [(np.flatnonzero(place != part), np.flatnonzero(place == part)) for part in range(3)]
    cv = [
        (judged, judges)
        for judged, judges in sides
        if judged.size
        and judges.size
        and (data.params["game"] == "regression" or set(data.y[judges]) <= set(data.y[judged]))
    ]
    if not cv:
        return
    ref, count = np.zeros(n), 0
    for judged, judges in cv:
        part = replace(
            data,
            X=data.X[judged],
            y=data.y[judged],
            X_val=data.X[judges],
            y_val=data.y[judges],
        )
        ref[judged] += part.values() * judges.size
        count += judges.size
    got = KNNShapley(**data.params).fit(data.X, data.y).value(cv=cv)
    data.close(got.values, ref / count)


@EXAMPLES
@given(drawn(games="regression"))
def test_leave_one_out_equals_single_folds(data: Data) -> None:
    """For regression, where no class can be missing in a fold."""
    fitted, everyone = KNNShapley(**data.params).fit(data.X, data.y), np.arange(len(data.y))
    cv = [(np.delete(everyone, i), np.array([i])) for i in everyone]
    data.close(fitted.value().values, fitted.value(cv=cv).values)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=drawn(), rows=st.integers(1, 25))
def test_dask_equals_local(client: Client, data: Data, rows: int) -> None:
    data.params.setdefault("support", 7)
    sharded = replace(data, X=da.from_array(data.X, chunks=(rows, 2)))
    np.testing.assert_array_equal(sharded.values(), data.values())
