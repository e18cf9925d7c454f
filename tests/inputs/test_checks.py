"""Bad input: one clear sentence that names the argument, before any work."""

import datetime as dt
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from dataworth import KNNShapley
from dataworth.errors import InputError, InputTypeError
from dataworth.inputs import checks

X = np.arange(12.0).reshape(6, 2)
y = np.array([0, 1, 0, 1, 0, 1])
X_VAL = np.array([[0.5, 1.0], [3.0, 4.0]])
Y_VAL = np.array([0, 1])


def spoiled(value: float) -> Any:
    bad = X.copy()
    bad[3, 1] = value
    return bad


def silent() -> float:
    raise KeyError


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"n_neighbors": 0}, ValueError, "n_neighbors must be a whole number of at least 1; got 0"),
        ({"n_neighbors": 2.0}, TypeError, "n_neighbors must be a whole number"),
        ({"n_neighbors": True}, TypeError, "n_neighbors must be a whole number"),
        (
            {"n_bits": 0},
            ValueError,
            "n_bits must be a whole .* 1 to 10, 'auto' or None; got 0",
        ),
        ({"n_bits": 11}, ValueError, "n_bits must be .* from 1 to 10, 'auto' or None; got 11"),
        ({"game": "harsh"}, ValueError, "game must be one of 'soft', 'hard', 'regression'; got 'h"),
        ({"weights": "rfb"}, ValueError, "weights must be one of 'auto', 'rbf', .* 'rfb'"),
        ({"bandwidth": 0}, ValueError, "bandwidth must be a positive number or 'auto'; got 0"),
        ({"bandwidth": float("inf")}, ValueError, "bandwidth must be a positive number"),
        ({"bandwidth": "silverman"}, TypeError, "bandwidth must be .* got 'silverman'"),
        ({"metric": "euclid"}, ValueError, "metric must be one of .*'euclidean'.* got 'euclid'"),
        ({"metric": "mahalanobis"}, ValueError, "metric_params must hold 'VI'"),
        ({"metric_params": {"p": 3}}, ValueError, "metric_params must be None with"),
        ({"metric_params": 3}, TypeError, "metric_params must be None or a dict; got 3"),
        ({"bandwidth": 1.0, "weights": "linear"}, ValueError, "bandwidth must be 'auto' with"),
        ({"bandwidth": np.array([1.0, 2.0])}, TypeError, "bandwidth must be a positive number"),
        (
            {"metric": "minkowski", "metric_params": {"q": 1}},
            ValueError,
            "_params must hold nothi",
        ),
        ({"metric": lambda a, b: "x"}, ValueError, "cannot measure these points: could not conv"),
        ({"metric": lambda a, b: silent()}, ValueError, "cannot measure these points: KeyError"),
        ({"metric": "jaccard"}, ValueError, "X must hold only zeros and ones with metric='jacc"),
        ({"progress": "no"}, TypeError, "progress must be True or False; got 'no'"),
        (
            {"n_bits": None, "game": "hard"},
            ValueError,
            "n_bits must be .* with game=.hard.",
        ),
        ({"multiclass": "ovo"}, ValueError, "multiclass must be one of 'one-vs-one', 'direct'"),
        ({"multiclass": "direct"}, ValueError, "multiclass='direct' is for game='hard' only"),
        ({"radius": 0.0}, ValueError, "radius must be a positive number or None; got 0.0"),
        ({"radius": 1.0}, ValueError, "radius must .* weights='uniform', .* got weights='auto'"),
        ({"semivalue": "owen"}, ValueError, "semivalue must be 'shapley', 'banzhaf' or"),
        ({"semivalue": ("beta", 1.0)}, ValueError, "semivalue must be"),
        ({"semivalue": ("beta", 1.0, -1.0)}, ValueError, "with numbers from 1e-6 to 1e6"),
        ({"max_rank": 0}, ValueError, "max_rank must be .* at least 1, 'sqrt', 'adaptive' or No"),
        ({"max_rank": "log"}, TypeError, "max_rank must be a whole number"),
        ({"adaptive_ratio": 0.2}, ValueError, "adaptive_ratio must not be set without"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be None or a whole number other than 0; got 0"),
        ({"n_jobs": "all"}, TypeError, "n_jobs must be None or a whole number"),
        ({"working_memory": -1}, ValueError, "working_memory must be a positive number; got -1"),
    ],
)
def test_parameters(params: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        KNNShapley(**params).fit(X, y)


@pytest.mark.parametrize(
    ("bad_X", "bad_y", "error", "message"),
    [
        (spoiled(np.nan), y, ValueError, "X must be finite; row 3, column 1 is NaN"),
        (spoiled(-np.inf), y, ValueError, "X must be finite; row 3, column 1 is -inf"),
        (X[:, 0], y, ValueError, r"X must have two dimensions .* got shape \(6,\)"),
        (X[:0], y[:0], ValueError, "X must hold at least one point"),
        (
            np.where(X > 1, "text", X.astype(object)),
            y,
            TypeError,
            "X must hold real numbers; got text, such as 'text'",
        ),
        ([["a", "b"]] * 6, y, TypeError, "X must hold real numbers; got text, such as 'a'"),
        (None, y, TypeError, "X must be an array of numbers .* got None"),
        ([[1.0, 2.0]] * 5 + [[1.0]], y, ValueError, "X must have rows of equal length"),
        (X * 1j, y, TypeError, "X must hold real numbers; got dtype complex128"),
        ([], y, ValueError, "X must hold at least one point and one column"),
        (np.ma.masked_less(X, 3), y, TypeError, "X must be a plain array; got a masked one"),
        (np.arange(12).reshape(6, 2) + 2**60, y, ValueError, r"integers of at most 2\^53"),
        (np.tile([np.inf, -np.inf], (6, 1)), y, ValueError, "X must be finite"),
        (X, None, TypeError, "y must be an array of labels; got None"),
        (X, np.ma.masked_less(y, 1), TypeError, "y must be a plain array; got a masked one"),
        (X, y * 1e300, ValueError, "y must hold class labels"),
        (X, [2**63, 2**63 + 1, -1] * 2, ValueError, "y must hold class labels"),
        (X, y[:5], ValueError, "y must hold one label per row of X, 6; got 5"),
        (X, X, ValueError, r"y must have one dimension; got shape \(6, 2\)"),
        (X, y + 0.5, ValueError, "y must hold class labels .* got the number 0.5"),
        (X, [0, 1, 0, 1, 0, np.nan], ValueError, "y must hold class labels .* number nan"),
        (X, ["a", 1, "a", "b", "b", "a"], TypeError, "of one kind .* got number and string"),
        (X, ["a", None, "a", "b", "b", "a"], TypeError, "of one kind .* got NoneType and string"),
        (X, y.astype("M8[D]"), TypeError, "y must hold class labels .* got dtype datetime64"),
    ],
)
def test_training_set(bad_X: Any, bad_y: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        KNNShapley().fit(bad_X, bad_y)


@pytest.mark.parametrize(
    ("bad_X", "bad_y", "error", "message"),
    [
        (X_VAL[:, :1], Y_VAL, ValueError, r"X_val must have 2 columns \(features\); got 1"),
        (X_VAL[:0], Y_VAL[:0], ValueError, "X_val must hold at least one point"),
        (X_VAL * np.nan, Y_VAL, ValueError, "X_val must be finite; row 0, column 0 is NaN"),
        (X_VAL, Y_VAL[:1], ValueError, "y_val must hold one label per row of X_val, 2; got 1"),
        (X_VAL, [0, 7], ValueError, "y_val must hold only labels seen in training; .*: 7"),
        (X_VAL, ["0", "1"], TypeError, "y_val must hold labels like those of fit"),
    ],
)
def test_validation_set(bad_X: Any, bad_y: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        KNNShapley().fit(X, y).value(bad_X, bad_y)


def test_precomputed() -> None:
    valuator = KNNShapley(metric="precomputed")
    with pytest.raises(ValueError, match="X must be None with metric='precomputed'"):
        valuator.fit(X, y)
    valuator.fit(None, y)
    with pytest.raises(
        ValueError, match=r"X_val must have 6 columns \(one per training point\); got 2"
    ):
        valuator.value(X_VAL, Y_VAL)
    with pytest.raises(ValueError, match="X_val must hold distances .* got -1.0"):
        valuator.value(np.full((2, 6), -1.0), Y_VAL)


def test_distances_that_overflow() -> None:
    with pytest.raises(ValueError, match="metric gave a distance of inf"):
        KNNShapley().fit(X * 1e200, y).value(X_VAL, Y_VAL)


def test_direct_vote_of_many_classes() -> None:
    valuator = KNNShapley(game="hard", multiclass="direct")
    with pytest.raises(ValueError, match="must be 'one-vs-one' for more than 4 classes; y has 6"):
        valuator.fit(X, range(6))
    with pytest.raises(ValueError, match="would take .* GB with 4 classes, n_neighbors=20"):
        valuator.set_params(n_neighbors=20).fit(np.ones((40, 2)), np.arange(40) % 4)


def test_targets_of_regression() -> None:
    valuator = KNNShapley(game="regression")
    texts = list("ababab")
    for labels in (texts, np.array(texts, object), pd.Series(texts), pl.Series(texts)):
        with pytest.raises(TypeError, match="y must hold real numbers; got text, such as 'a'"):
            valuator.fit(X, labels)
    with pytest.raises(ValueError, match="y must be finite"):
        valuator.fit(X, y * np.nan)
    with pytest.raises(ValueError, match="y must hold one number per row of X, 6; got 5"):
        valuator.fit(X, y[:5])
    with pytest.raises(ValueError, match="y_val must hold one number per row of X_val, 2; got 1"):
        valuator.fit(X, y).value(X_VAL, [1.0])


def test_sparse() -> None:
    with pytest.raises(ValueError, match="metric must be one of .* for sparse X; got 'chebyshev'"):
        KNNShapley(metric="chebyshev").fit(csr_array(X), y)
    with pytest.raises(ValueError, match="X must be finite"):
        KNNShapley().fit(csr_array(spoiled(np.nan)), y)
    with pytest.raises(TypeError, match="X_val must be dense here; got a sparse array"):
        KNNShapley().fit(X, y).value(csr_array(X_VAL), Y_VAL)
    with pytest.raises(ValueError, match=r"X_val must have 2 columns \(features\); got 1"):
        KNNShapley().fit(csr_array(X), y).value(csr_array(X_VAL[:, :1]), Y_VAL)


def test_three_columns_are_no_places_on_earth() -> None:
    with pytest.raises(ValueError, match="metric 'haversine' cannot measure these points: Haver"):
        KNNShapley(metric="haversine").fit(np.ones((6, 3)), y)


def test_metric_changed_after_fit() -> None:
    valuator = KNNShapley(metric="precomputed").fit(None, y).set_params(metric="euclidean")
    with pytest.raises(ValueError, match="metric must not change after fit"):
        valuator.value(np.ones((2, 6)), Y_VAL)


def test_columns_in_another_order() -> None:
    pd = pytest.importorskip("pandas")
    valuator = KNNShapley(encoder=None).fit(pd.DataFrame(X, columns=["a", "b"]), y)
    with pytest.raises(ValueError, match="feature names"):
        valuator.value(pd.DataFrame(X_VAL, columns=["b", "a"]), Y_VAL)


def test_parameters_changed_after_fit_are_checked_again() -> None:
    valuator = KNNShapley().fit(X, y).set_params(n_bits=12)
    with pytest.raises(ValueError, match="n_bits must be"):
        valuator.value(X_VAL, Y_VAL)


@pytest.mark.parametrize(
    ("check", "argument", "wanted", "came"),
    [
        (lambda: checks.integer(0, "n", least=1), "n", "be a whole number of at least 1", "got 0"),
        (lambda: checks.positive("x", "width"), "width", "be a positive number", "got 'x'"),
        (lambda: checks.choice("c", "pet", ["a", "b"]), "pet", "be one of 'a', 'b'", "got 'c'"),
        (lambda: checks.boolean(1, "loud"), "loud", "be True or False", "got 1"),
        (lambda: checks.n_jobs(0), "n_jobs", "be None or a whole number other than 0", "got 0"),
        (lambda: checks.matrix(X[0], "Z"), "Z", "have two dimensions .*", r"got shape \(2,\)"),
        (lambda: checks.rows(None, "Z"), "Z", ".* that the encoder can read", "got None"),
        (lambda: checks.rows([], "Z"), "Z", "hold at least one point", "it is empty"),
        (lambda: checks.labels([0.5], "t"), "t", "hold class labels .*", "got the number 0.5"),
        (
            lambda: checks.targets([1e200], "t"),
            "t",
            ".* at most 1e150",
            "squares of larger ones may overflow",
        ),
        (
            lambda: checks.encode(y + 1, y[:2], "t"),
            "t",
            "hold only labels seen in training",
            ".* seen: 2",
        ),
        (lambda: checks.graph(csr_array(X[:1] * 0), "G"), "G", ".* in each row", "row 0 is empty"),
    ],
)
def test_errors_are_data(check: Callable[[], Any], argument: str, wanted: str, came: str) -> None:
    """An error says which argument it is about, so that others can name it as their users do."""
    with pytest.raises(InputError) as caught:
        check()
    error = caught.value
    assert error.argument == argument
    assert re.fullmatch(wanted, error.wanted)
    assert re.fullmatch(came, error.came)
    assert str(error.renamed("--it")) == str(error).replace(argument, "--it", 1)


def test_a_hint_follows_what_came() -> None:
    with pytest.raises(InputTypeError) as caught:
        checks.matrix(csr_array(X), "X")
    assert caught.value.hint == "Use X.toarray()."
    assert str(caught.value) == "X must be dense here; got a sparse array. Use X.toarray()."


def test_sparse_arrays_that_are_damaged() -> None:
    sound = csr_array(np.eye(6))
    for indptr in ([0, 1, 2, 3, 4, 5, 60], [0, 4, 2, 3, 4, 5, 6], [-5, 1, 2, 3, 4, 5, 6]):
        damaged = csr_array(sound)
        damaged.indptr = np.array(indptr, dtype=np.int32)
        with pytest.raises(ValueError, match="X must be a sound sparse array"):
            KNNShapley().fit(damaged, [0, 1] * 3)


def test_labels_that_numpy_would_cut() -> None:
    labels = ["a", "a\0", "b", "b", "a", "b"]
    with pytest.raises(ValueError, match="y must hold texts that do not end in a zero byte"):
        KNNShapley().fit(np.arange(6.0)[:, None], labels)
    values = KNNShapley().fit(np.arange(6.0)[:, None], [0, 1] * 3).value()
    with pytest.raises(ValueError, match="groups must hold texts that do not end in a zero byte"):
        values.by(labels)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_features_whose_squares_vanish(metric: str) -> None:
    X = np.arange(12.0).reshape(6, 2) * 1e-170
    for points in (X, csr_array(X)):
        with pytest.raises(ValueError, match="X must have numbers above 1e-150 .* Scale the feat"):
            KNNShapley(metric=metric).fit(points, [0, 1] * 3)
    KNNShapley(metric="manhattan").fit(X, [0, 1] * 3)


def test_labels_of_another_kind_are_named_in_words() -> None:
    with pytest.raises(TypeError, match="y_val must hold labels like those of fit, text; got numb"):
        KNNShapley().fit(X, list("ababab")).value(X_VAL, Y_VAL)
    with pytest.raises(TypeError, match="y_val must hold labels like those of fit, numbers; got t"):
        KNNShapley().fit(X, y).value(X_VAL, ["a", "b"])


@pytest.mark.parametrize("game", ["soft", "regression"])
def test_a_missing_y_is_said_once(game: str) -> None:
    valuator = KNNShapley(game=game)
    with pytest.raises(TypeError, match="y must be an array of .*; got None") as caught:
        valuator.fit(X, None)
    assert str(caught.value).count("None") == 1
    with pytest.raises(TypeError, match="y_val must be an array of .*; got None") as caught:
        valuator.fit(X, y).value(X_VAL)
    assert str(caught.value).count("None") == 1


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize(
    ("spoilt", "message"),
    [
        ([0.0, 1.0, np.nan, 3.0], "X must be finite; row 2, column 'b' is NaN"),
        ([0.0, 1.0, -np.inf, 3.0], "X must be finite; row 2, column 'b' is -inf"),
        ([0.0, 1.0, None, 3.0], "X must be finite; row 2, column 'b' is NaN"),
        (["u", "v", "u", "v"], "X must hold real numbers; column 'b' has text"),
        ([1, 2, 2**53 + 1, 3], "X must hold integers of at most 2.53; larger ones in column 'b'"),
        ([dt.date(2024, 1, i) for i in (1, 2, 3, 4)], "X must hold real numbers; column 'b' has "),
    ],
)
def test_columns_of_frames_are_named(library: Any, spoilt: list[Any], message: str) -> None:
    valuator, labels = KNNShapley(encoder=None), ["p", "q", "p", "q"]
    good = library({"a": [1.0, 2.0, 3.0, 4.0], "b": [1.0, 2.0, 3.0, 4.0]})
    bad = library({"a": [1.0, 2.0, 3.0, 4.0], "b": spoilt})
    with pytest.raises(ValueError, match=message):
        valuator.fit(bad, labels)
    with pytest.raises(ValueError, match=message.replace("X", "X_val")):
        valuator.fit(good, labels).value(bad, labels)
    alone = library({"b": spoilt})
    with pytest.raises(ValueError, match=message):
        valuator.fit(alone, labels)
