"""Bad points, labels, distances and folds."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy.sparse import coo_array, csr_array
from sklearn.feature_selection import SelectKBest

from dataworth import KNNShapley
from tests.bad_inputs import INF, NAN, X_VAL, Y_VAL, Row, X, Y, each, row, spoiled

T = np.linspace(0.0, 1.0, 6)


def trained(bad_X: Any, bad_y: Any, **params: Any) -> None:
    KNNShapley(**params).fit(bad_X, bad_y).value()


def fitted(argument: str, cases: Mapping[str, tuple[Any, Any]], **params: Any) -> Iterator[Row]:
    for done, (bad_X, bad_y) in cases.items():
        yield row(argument, f"fit: {done}", trained, bad_X, bad_y, **params)


def judged(bad_X: Any, bad_y: Any) -> None:
    KNNShapley().fit(X, Y).value(bad_X, bad_y)


def valued(argument: str, cases: Mapping[str, tuple[Any, Any]]) -> Iterator[Row]:
    for done, (bad_X, bad_y) in cases.items():
        yield row(argument, f"value: {done}", judged, bad_X, bad_y)


def split(cv: Any) -> None:
    KNNShapley().fit(X, Y).value(cv=cv)


PRICES = KNNShapley(game="regression")


def ruled(ruler: Any) -> None:
    KNNShapley().fit(X, Y).value(ruler=ruler)


def kept(checkpoint: Any) -> None:
    KNNShapley().fit(X, Y).value(checkpoint=checkpoint)


def weighed(sample_weight: Any) -> None:
    KNNShapley().fit(X, Y).value(X_VAL, Y_VAL, sample_weight=sample_weight)


def weighed_inside(sample_weight: Any) -> None:
    KNNShapley().fit(X, Y).value_owners(["p", "q"] * 3, cv=2, sample_weight=sample_weight)


def measured(distances: Any) -> None:
    KNNShapley(metric="precomputed", support=2).fit(None, Y).value(distances, Y_VAL)


def changed(params: dict[str, Any]) -> None:
    KNNShapley().fit(X, Y).set_params(**params).value()


POINTS = fitted(
    "X",
    {
        "None": (None, Y),
        "text": ("points", Y),
        "a number": (3.0, Y),
        "one dimension": (X[:, 0], Y),
        "three dimensions": (X[:, :, None], Y),
        "no rows": (X[:0], Y[:0]),
        "no columns": (X[:, :0], Y),
        "an empty list": ([], []),
        "ragged": ([[1.0, 2.0]] * 5 + [[1.0]], Y),
        "NaN": (spoiled(NAN), Y),
        "inf": (spoiled(INF), Y),
        "-inf as float32": (spoiled(-INF, np.float32), Y),
        "complex": (X * 1j, Y),
        "texts": (X.astype(str), Y),
        "dates": (X.astype("M8[D]"), Y),
        "bytes": (X.astype("S"), Y),
        "an object without a value": (spoiled(None, object), Y),
        "a dict among objects": (spoiled({}, object), Y),
        "records": (np.zeros(6, [("a", float)]), Y),
        "a masked array": (np.ma.masked_less(X, 3), Y),
        "integers above 2^53": (X.astype(np.int64) + 2**60, Y),
        "Python integers above 2^53": ([[2**70, 1]] * 6, Y),
        "one row, and nobody judges it": (X[:1], Y[:1]),
        "sparse with NaN": (csr_array(spoiled(NAN)), Y),
        "sparse without rows": (csr_array((0, 2)), Y[:0]),
        "sparse and complex": (coo_array(X * 1j), Y),
        "a lazy frame": (pl.LazyFrame({"a": range(6)}), Y),
        "a frame with two columns of one name": (pd.DataFrame(X, columns=["a", "a"]), Y),
        "a frame of constants": (pd.DataFrame({"a": ["x"] * 6}), Y),
        "a frame without rows": (pd.DataFrame({"a": []}), []),
        "a frame without columns": (pd.DataFrame(index=range(6)), Y),
        "a frame with inf": (pd.DataFrame(spoiled(INF)), Y),
        "a frame of lists": (pl.DataFrame({"a": [[1], [2]] * 3}), Y),
        "a dict": ({"a": [1.0] * 6}, Y),
        "a generator": ((point for point in X), Y),
        "a set": ({1.0, 2.0}, Y),
    },
)

LABELS = fitted(
    "y",
    {
        "labels are None": (X, None),
        "labels are a number": (X, 1),
        "labels are a text": (X, "ababab"),
        "too few labels": (X, Y[:5]),
        "too many labels": (X, [*Y, 1]),
        "no labels": (X, []),
        "labels in two dimensions": (X, X),
        "labels in three dimensions": (X, Y.reshape(6, 1, 1)),
        "fractions as labels": (X, Y + 0.5),
        "NaN as a label": (X, [0, 1, 0, 1, 0, NAN]),
        "inf as a label": (X, [0, 1, 0, 1, 0, INF]),
        "None as a label": (X, ["a", None, "a", "b", "b", "a"]),
        "texts and numbers as labels": (X, ["a", 1, "a", "b", "b", "a"]),
        "bytes as labels": (X, np.array([b"a", b"b"] * 3)),
        "dates as labels": (X, Y.astype("M8[D]")),
        "complex labels": (X, Y * 1j),
        "lists as labels": (X, [[0], [1, 2]] * 3),
        "dicts as labels": (X, [{}] * 6),
        "masked labels": (X, np.ma.masked_less(Y, 1)),
        "a missing label in pandas": (X, pd.Series([0, 1, 0, 1, 0, None], dtype="Int64")),
        "a missing label in polars": (X, pl.Series(["a", "b", None] * 2)),
        "a missing label in pyarrow": (X, pa.array([1, 2, None] * 2)),
        "a frame of labels": (X, pd.DataFrame({"a": Y, "b": Y})),
        "labels beyond int64": (X, [2**70, 1, 2] * 2),
        "a label that ends in a zero byte": (X, ["a", "a\0"] * 3),
        "a generator of labels": (X, (label for label in Y)),
        "sparse labels": (X, csr_array(Y[None, :])),
    },
)

NUMBERS = fitted(
    "y",
    {
        "targets are None": (X, None),
        "texts as targets": (X, list("ababab")),
        "NaN as a target": (X, T * NAN),
        "too few targets": (X, T[:5]),
        "targets whose squares overflow": (X, T * 1e200),
        "targets in two dimensions": (X, X),
        "complex targets": (X, T * 1j),
        "dates as targets": (X, Y.astype("M8[D]")),
        "None as a target": (X, [0.0, None] * 3),
        "masked targets": (X, np.ma.masked_less(T, 0.5)),
        "targets beyond int64": (X, [2**70, 1, 2] * 2),
        "lists as targets": (X, [[0.0], [1.0, 2.0]] * 3),
    },
    game="regression",
)

JUDGES = [
    *valued(
        "X_val",
        {
            "None": (None, Y_VAL),
            "a column too few": (X_VAL[:, :1], Y_VAL),
            "a column too many": (np.ones((2, 3)), Y_VAL),
            "no rows": (X_VAL[:0], Y_VAL[:0]),
            "one dimension": (X_VAL[0], Y_VAL),
            "three dimensions": (X_VAL[:, :, None], Y_VAL),
            "NaN": (X_VAL * NAN, Y_VAL),
            "texts": (X_VAL.astype(str), Y_VAL),
            "sparse": (csr_array(X_VAL), Y_VAL),
            "text": ("points", Y_VAL),
            "a dict": ({"a": [1.0, 2.0]}, Y_VAL),
            "ragged": ([[1.0, 2.0], [1.0]], Y_VAL),
            "a lazy frame": (pl.LazyFrame({"a": [1.0], "b": [2.0]}), [0]),
        },
    ),
    *valued(
        "y_val",
        {
            "labels are None": (X_VAL, None),
            "too few labels": (X_VAL, Y_VAL[:1]),
            "no labels": (X_VAL, []),
            "a label never seen": (X_VAL, [0, 7]),
            "labels of another kind": (X_VAL, ["0", "1"]),
            "NaN as a label": (X_VAL, [0, NAN]),
            "labels in two dimensions": (X_VAL, X_VAL),
            "labels are a number": (X_VAL, 1),
        },
    ),
]

WEIGHTS = [
    *each(
        "sample_weight",
        "weights of judges",
        weighed,
        (3.0, "ab", [1.0], [1.0] * 6, [1.0, -1.0], [1.0, NAN], [INF, 1.0], [0.0, 0.0], ["1", "2"],
         [[1.0, 2.0]], [None, 1.0], [1j, 1.0], []),
    ),
    *each(
        "sample_weight", "weights of training points", weighed_inside, ([1.0, 2.0], np.zeros(6))
    ),
]  # fmt: skip

FOLDS = [
    *each("cv", "cv", split, (0, 1, -2, 7, 2.5, NAN, True, "five", [], [3], object(), np.int64(1))),
    *each(
        "cv",
        "cv",
        split,
        (
            [([0, 1, 2], [3, 4, 99])],
            [([0, 1, 2], [2, 3, 4])],
            [([0, 0, 1], [3])],
            [([], [1])],
            [([0, 1], [])],
            [([0.5, 1.5], [3])],
            [(0, 1)],
            [([0, 2, 4], [1, 3, 5])],  # leaves a class out
        ),
    ),
    row("cv", "cv and X_val", KNNShapley().fit(X, Y).value, X_VAL, Y_VAL, cv=2),
    *each("ruler", "ruler", ruled, (0, -1, 1.5, "3", True, [3])),
    row("ruler", "ruler and X_val", KNNShapley().fit(X, Y).value, X_VAL, Y_VAL, ruler=2),
    row("ruler", "ruler of 3 points", KNNShapley().fit(X[:3], Y[:3]).value, ruler=2),
    row("ruler", "ruler of one class", KNNShapley().fit(X, [1] * 6).value, ruler=2),
    row("ruler", "ruler of equal targets", PRICES.fit(X, Y * 0.0).value, ruler=2),
    *each("checkpoint", "checkpoint", kept, ("", "file", "file/state", 3, "a\0b", b"state", [])),
]

DISTANCES = [
    row("X", "precomputed with X", KNNShapley(metric="precomputed").fit, X, Y),
    row("X_val", "precomputed without X_val", KNNShapley(metric="precomputed").fit(None, Y).value),
    *(
        row("X_val", f"precomputed: {done}", measured, bad)
        for done, bad in {
            "negative": np.full((2, 6), -1.0),
            "NaN": np.full((2, 6), NAN),
            "of other points": np.ones((2, 5)),
            "one dimension": np.ones(6),
            "a graph in COO": coo_array(np.ones((2, 6))),
            "a graph with an empty row": csr_array((2, 6)),
            "a graph with negative distances": csr_array(np.full((2, 6), -1.0)),
        }.items()
    ),
    row("support", "a graph with too few neighbours", measured, csr_array(np.eye(2, 6))),
]

CHANGES = [
    row("metric", "metric after fit", changed, {"metric": "cosine"}),
    row("game", "game after fit", changed, {"game": "regression"}),
    row("n_bits", "n_bits after fit", changed, {"n_bits": 99}),
    row("encoder", "an encoder that needs labels", trained, X, Y, encoder=SelectKBest(k=1)),
]

ROWS = [*POINTS, *LABELS, *NUMBERS, *JUDGES, *WEIGHTS, *FOLDS, *DISTANCES, *CHANGES]
