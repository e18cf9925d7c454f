"""Bad arguments of what follows the values: tables, curves, reports; and of encoders, baselines."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from sklearn.neighbors import KNeighborsTransformer

from dataworth import KNNShapley, Ruler, TableEncoder, compare, plots, report
from dataworth.baselines import enumerate_neighbours, monte_carlo, permutations_needed, quadratic
from tests.bad_inputs import INF, NAN, X_VAL, Y_VAL, X, Y, each, result, row

RIGHT = np.array([True, False, True])
WEIGHTS = np.array([3, 2, 1])


def explained(points: Any) -> None:
    valuator = KNNShapley().fit(X, Y)
    valuator.value()
    valuator.explain(points)


def removed(given: dict[str, Any]) -> None:
    usual = {"X": X, "y": Y, "X_test": X_VAL, "y_test": Y_VAL}
    plots.removal_curve(result(), **{**usual, **given})


def compared(given: dict[str, Any]) -> None:
    table = pd.DataFrame({"a": np.arange(30.0), "y": list("pq") * 15})
    usual: dict[str, Any] = {"before": table, "after": table[3:], "label": "y", "seeds": 1}
    compare(**{**usual, **given})


def reported(given: dict[str, Any]) -> None:
    usual = {"path": "r.html", "values": result(), "columns": {"a": range(6)}}
    report.write(**{**usual, **given})


def owned(given: dict[str, Any]) -> Any:
    usual = {"groups": list("ababab"), "X_val": X_VAL, "y_val": Y_VAL}
    return KNNShapley(n_neighbors=2).fit(X, Y).value_owners(**{**usual, **given})


def encoded(params: dict[str, Any]) -> None:
    TableEncoder(**params).fit(pd.DataFrame(X))


def encoded_again(table: Any) -> None:
    TableEncoder().fit(pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})).transform(table)


def sampled(given: dict[str, Any]) -> None:
    monte_carlo(RIGHT, WEIGHTS, **{"n_neighbors": 2, "game": "soft", **given})


def counted(given: dict[str, Any]) -> None:
    quadratic(**{"right": RIGHT, "weights": WEIGHTS, "n_neighbors": 2, **given})


def enumerated(given: dict[str, Any]) -> None:
    usual = {"right": RIGHT, "weights": WEIGHTS, "n_neighbors": 2, "game": "soft"}
    enumerate_neighbours(**{**usual, **given})


RESULTS = [
    *each("points", "explain", explained, (6, -1, 1.5, "2", None, NAN, True, [0, 9], [[0]], {})),
    *each("n", "worst", result().worst, (-1, 1.5, "3")),
    *each(
        "groups",
        "value_owners",
        lambda bad: owned({"groups": bad}),
        (None, "ababab", [1, 2], [*"ababa", None], [*"ababa", ""], [1.5] * 6, [*"ababa", 1], NAN),
    ),
    *each(
        "method",
        "value_owners",
        lambda bad: owned({"method": bad}),
        ("Exact", "", None, 1, ["exact"]),
    ),
    *each(
        "tol",
        "value_owners",
        lambda bad: owned({"method": "sampling", "tol": bad}),
        (0, -1.0, NAN, INF, "0.1", True),
    ),
    row("tol", "value_owners: exact", owned, {"method": "exact", "tol": 0.1}),
    *each(
        "random_state",
        "value_owners",
        lambda bad: owned({"random_state": bad}),
        (-1, 1.5, "1", None, True),
    ),
    *each(
        "budget",
        "payouts",
        lambda bad: owned({}).payouts(bad),
        (0, -1, 1.005, "ten", NAN, INF, None, True, [5], 1e300),
    ),
    row("negative", "payouts", lambda: owned({}).payouts(5, negative="clip")),
    row("path", "save owners", lambda: owned({}).save("owners.npz")),
    row("owners", "report.write", reported, {"owners": result()}),
    row("budget", "report.write", reported, {"budget": 5}),
    *each("n", "best", result().best, (-1, None)),
    *each(
        "groups",
        "by",
        result().by,
        (
            None,
            "Ann",
            3,
            [],
            ["Ann"] * 5,
            ["Ann", None] * 3,
            ["Ann", 1] * 3,
            [0.5] * 6,
            [[1]] * 6,
            np.ones((6, 1), int),
            ["a", "a\0"] * 3,
            pd.Series(["a", None] * 3),
        ),
    ),
    *each("n", "suspects", result().suspects, (None, -1, 2.0, "3", True)),
    *each("n", "recall", Ruler(6, 2, ((0, 1),)).recall, (None, -1, 7, 2.0, "3", True)),
    *each("library", "to_frame", result().to_frame, ("panda", 3, ["pandas"])),
    *each(
        "bad",
        "plot_detection",
        result().plot_detection,
        (None, [True], [True] * 6, [False] * 6, [0, 1] * 3, "bad", [[True]] * 6),
    ),
    *each(
        "fractions",
        "removal_curve",
        removed,
        ({"fractions": bad} for bad in ([], [1.0], [-0.1], [NAN], ["a"], 0.1, None, [[0.1]])),
    ),
    *each(
        "model",
        "removal_curve",
        removed,
        ({"model": bad} for bad in ("knn", 3, KNeighborsTransformer())),
    ),
    *each("X", "removal_curve", removed, ({"X": X[:5], "y": Y[:5]}, {"X": None})),
    *each("y", "removal_curve", removed, ({"y": Y[:5]}, {"y": None})),
    *each("y_test", "removal_curve", removed, ({"y_test": [1]},)),
    *each("X_test", "removal_curve", removed, ({"X_test": None}, {"X_test": X_VAL[:, :1]})),
]

ENCODERS = [
    *each("max_levels", "TableEncoder", encoded, ({"max_levels": bad} for bad in (0, 1.5, None))),
    *each(
        "text_features",
        "TableEncoder",
        encoded,
        ({"text_features": bad} for bad in (0, "16", True)),
    ),
    *each("X", "TableEncoder.fit", TableEncoder().fit, (pd.DataFrame(X[:1]), "table", None)),
    *each(
        "X",
        "TableEncoder.transform",
        encoded_again,
        (
            pd.DataFrame({"a": [1.0]}),
            pd.DataFrame({"a": list("xyz"), "b": 1.0}),
            np.ones((2, 3)),
            None,
        ),
    ),
]

BASELINES = [
    *each(
        "right",
        "quadratic",
        counted,
        ({"right": bad} for bad in ([], [0, 1, 1], [[True]], None, "yes")),
    ),
    *each(
        "weights",
        "quadratic",
        counted,
        ({"weights": bad} for bad in ([1, 2], [1.5, 1, 1], [-1, 1, 1], ["a", "b", "c"], None)),
    ),
    *each(
        "weights",
        "enumerate_neighbours",
        enumerated,
        ({"weights": bad} for bad in ([NAN, 1, 1], [INF, 1, 1], [-1.0, 1, 1])),
    ),
    *each("n_neighbors", "quadratic", counted, ({"n_neighbors": 0},)),
    *each("n_neighbors", "enumerate_neighbours", enumerated, ({"n_neighbors": 1.5},)),
    *each("game", "monte_carlo", sampled, ({"game": "sotf"}, {"game": None})),
    *each(
        "n_permutations",
        "monte_carlo",
        sampled,
        (
            {},
            {"n_permutations": 0},
            {"n_permutations": 2.5},
            {"n_permutations": 3, "epsilon": 0.1, "delta": 0.1},
        ),
    ),
    *each("delta", "monte_carlo", sampled, ({"epsilon": 0.1}, {"epsilon": 0.1, "delta": 2.0})),
    row("delta", "permutations_needed: 1", permutations_needed, 0.1, 1.0, 3),
    row("delta", "permutations_needed: NaN", permutations_needed, 0.1, NAN, 3),
    row("epsilon", "permutations_needed: 0", permutations_needed, 0, 0.1, 3),
    row("n", "permutations_needed: 0 points", permutations_needed, 0.1, 0.1, 0),
]

REPORTS = [
    one
    for argument, bads in {
        "rows": (0, 2001, 1.5, "all"),
        "columns": (3, "a", {"a": [1]}, {3: range(6)}, {"a": 3}, pl.LazyFrame({"a": range(6)})),
        "label": ("b", 3, "a"),
        "ids": ("b", [1, 2], 3),
        "group": ("b", 3),
        "by": ("b", ["a", "b"], 3, None),
        "image": ("b", 3),
        "validation": (3, "trian", {"a": [1], "b": [1, 2]}),
        "source": (3, "", "photos.zip", "train.csv"),
        "title": (3, None),
        "values": (None, [1.0] * 6),
        "explanations": (3, [3], None),
        "path": ("", "nowhere/r.html", "folder.csv", 3, "a\0b"),
    }.items()
    for one in each(argument, "report.write", reported, ({argument: bad} for bad in bads))
] + [
    *each("image_root", "report.write", reported, ({"image": "a", "image_root": 3},)),
    *each("columns", "report.write", reported, ({"image": "a"},)),
]

LISTS = {"a": [1, 2]}
COMPARISONS = [
    one
    for argument, bads in {
        "before": (None, 3, [[1, 2]], pl.LazyFrame({"a": [1]}), {}, pd.DataFrame({"a": []})),
        "after": (None, "a", LISTS, {"a": [1, 2], "y": ["p", "q"]}),
        "test": (3, LISTS, pd.DataFrame({"y": ["p"]})),
        "label": ("z", None, 3),
        "id": ("z", 3, "y"),
        "drop": (["z"], [3]),
        "task": ("sums", None, 3),
        "models": ({}, [], 3, {"a": 3}, {"a": TableEncoder}),
        "seeds": (0, 1.5, "3", None, True),
        "folds": (1, 1.5, None),
        "n_jobs": (0, 1.5, "all"),
    }.items()
    for one in each(argument, "compare", compared, ({argument: bad} for bad in bads))
]

ROWS = [*RESULTS, *ENCODERS, *BASELINES, *REPORTS, *COMPARISONS]
