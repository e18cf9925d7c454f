"""Bad parameters of `KNNShapley`, alone and together."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from dataworth import KNNShapley, OutOfBagForest, TableEncoder
from tests.bad_inputs import INF, NAN, X_VAL, Y_VAL, Row, X, Y, each


def valued(params: dict[str, Any]) -> None:
    KNNShapley(**params).fit(X, Y).value(X_VAL, Y_VAL)


def params(argument: str, *given: dict[str, Any]) -> Iterator[Row]:
    return each(argument, "KNNShapley", valued, given)


def alone(argument: str, *bads: Any, **others: Any) -> Iterator[Row]:
    return params(argument, *({argument: bad, **others} for bad in bads))


FAISS = {"neighbors": "faiss", "support": 2}
OUT_OF_BAG = {"encoder": OutOfBagForest()}

ROWS = [
    *alone("n_neighbors", 0, -1, 2.0, NAN, INF, True, "5", None, [5]),
    *alone("game", "sfot", "", None, 3, ["soft"], "Hard"),
    *alone("weights", "rfb", "", None, 1.0, np.ones(6), np.ones((400, 400))),
    *alone(
        "weights",
        lambda d: d * 0 + 2,
        lambda d: d * 0 - 1e-300,
        lambda d: np.nextafter(np.ones_like(d), 2),  # nothing is clipped, however near it is
        lambda d: d * np.nan,
        lambda d: d[:1],
        lambda d: None,
        lambda d: "heavy",
        lambda d: d * 1j,
        lambda: 1.0,
        lambda d: 1 / 0,
    ),
    *alone("bandwidth", 0, -1.0, NAN, INF, "Auto", None, [1.0], True),
    *alone("bandwidth", 1.0, weights="uniform"),
    *alone("support", 0, -3, 1.5, "all", NAN, True),
    *alone("n_bits", 0, 11, -1, 3.0, "3", NAN, True),
    *alone("n_bits", None, game="hard"),
    *alone("metric", "euclid", "", 2, ["l2"]),
    *alone(
        "metric",
        lambda a, b: "x",
        lambda a, b: NAN,
        lambda a, b: -1.0,
        lambda a, b: None,
        lambda a: 1.0,
        lambda a, b: 1 / 0,
    ),
    *alone("metric_params", 3, {"p": 3}),
    *alone("encoder", [], [None, 3], [[None]], [None, "pca"], (None, None)),
    *alone("class_weight", "even", "", 3, [1.0, 2.0], True, {0: -1.0}, {0: NAN}, {0: INF}),
    *alone("class_weight", {0: "1"}, {0: None}, {0: True}, {7: 1.0}, {"0": 1.0}, {0: 0, 1: 0}),
    *alone("class_weight", "balanced", {0: 2.0}, game="regression"),
    *params("metric_params", {"metric": "mahalanobis"}),
    *alone("metric_params", {"VI": "no"}, {"VI": np.eye(3)}, {"VI": [1.0]}, metric="mahalanobis"),
    *alone("metric_params", {"V": [1.0]}, {"V": [1.0, 1.0, 1.0]}, metric="seuclidean"),
    *alone("metric_params", {"q": 1}, {"p": -1}, {"p": "two"}, {"p": NAN}, metric="minkowski"),
    *alone("neighbors", "fais", None, 5, KNeighborsTransformer, "faiss"),
    *alone("neighbors", KNeighborsTransformer(n_neighbors=1), FunctionTransformer(), support=3),
    *alone("neighbors_params", {"index": "Flat"}, "Flat"),
    *alone(
        "neighbors_params",
        {"indx": "Flat"},
        {"index": "Nonsense"},
        {"index": 3},
        {"index": "Flat", "search": "nonsense=3"},
        **FAISS,
    ),
    *alone("encoder", "forest", 3, TableEncoder, object()),
    *alone("encoder", make_pipeline(TableEncoder(), OutOfBagForest())),
    *alone("weights", "rbf", "linear", np.ones_like, **OUT_OF_BAG),
    *alone("bandwidth", 1.0, **OUT_OF_BAG),
    *alone("metric", "euclidean", "precomputed", **OUT_OF_BAG),
    *alone("metric_params", {"p": 3}, **OUT_OF_BAG),
    *alone("neighbors", "faiss", KNeighborsTransformer(), **OUT_OF_BAG),
    *alone("radius", 1.0, **OUT_OF_BAG),
    *params("forest", *({"encoder": OutOfBagForest(bad)} for bad in (3, ExtraTreesClassifier()))),
    *params("forest", {"encoder": OutOfBagForest(RandomForestClassifier(class_weight={}))}),
    *params("n_jobs", {"encoder": OutOfBagForest(RandomForestClassifier(), n_jobs=2)}),
    *alone(
        "encoder",
        FunctionTransformer(lambda a: a * np.nan),
        FunctionTransformer(lambda a: a[:, 0]),
        FunctionTransformer(lambda a: a[:1]),
        FunctionTransformer(lambda a: np.vstack([a, a])),
        FunctionTransformer(lambda a: a.astype(str)),
        FunctionTransformer(lambda a: None),
    ),
    *alone("multiclass", "ovo", None, "direct"),
    *alone("ties", "left", None, 0.5, "half"),
    *alone("center", False, None, 1, "mean"),
    *alone("log", True, None, 1, "yes"),
    *alone("radius", 0, -1.0, NAN, INF, "1", True, weights="uniform"),
    *alone("radius", 1.0),
    *alone("radius", 1.0, weights="uniform", game="hard"),
    *alone("radius", 1.0, weights="uniform", max_rank=2),
    *alone("radius", 1.0, weights="uniform", support=2),
    *alone("semivalue", "shaply", None, 1.0, (), "beta", ("beta",), ("shapley", 1.0)),
    *alone("semivalue", ("beta", 1.0), ("beta", 0.0, 1.0), ("beta", 1e9, 1.0), ("beta", NAN, 1.0)),
    *alone("semivalue", ("beta", "4", "1"), ("beta", 1.0, 1.0, 1.0)),
    *alone("max_rank", 0, -1, 1.5, "log", NAN, True, [3]),
    *alone("adaptive_ratio", 0.2),
    *alone("adaptive_ratio", 0, -1.0, NAN, "a", None, max_rank="adaptive"),
    *alone("n_jobs", 0, 1.5, "all", True, NAN),
    *alone("working_memory", 0, -1, NAN, INF, "1G", None),
    *alone("progress", "no", None, 0),
]
