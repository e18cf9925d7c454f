"""Parameters of a valuator: what goes together, and what it makes of them."""

import math
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS
from sklearn.neighbors import VALID_METRICS

import dataworth
from dataworth.encoders.forest import ForestLeaves
from dataworth.games import quadrature
from dataworth.games.all import GAME_NAMES
from dataworth.games.kernels.coefficients import Coefficients, shapley_like
from dataworth.games.kernels.direct import MOST_CLASSES, table_bytes
from dataworth.inputs import checks
from dataworth.neighbors import distances as neighbors
from dataworth.neighbors import faiss as ann
from dataworth.weights import WEIGHT_NAMES, Weighting

# Metrics that scikit-learn would fit on each row together with the training points.
FITTED_METRICS = {"seuclidean": "V", "mahalanobis": "VI"}
METRIC_NAMES = sorted(set(VALID_METRICS["brute"]) - {"nan_euclidean"})
ADAPTIVE_RATIO = 0.1


def check(v: Any) -> None:
    """Refuse parameters of a valuator that make no sense, alone or together."""
    checks.integer(v.n_neighbors, "n_neighbors", least=1)
    checks.choice(v.game, "game", GAME_NAMES)
    if not callable(v.weights):
        checks.choice(v.weights, "weights", WEIGHT_NAMES, or_else=" or a callable")
    if not (isinstance(v.bandwidth, str) and v.bandwidth == "auto"):
        checks.positive(v.bandwidth, "bandwidth", or_else=" or 'auto'")
        if v.weights != "rbf":
            raise ValueError(f"bandwidth must be 'auto' with weights={v.weights!r}.")
    if v.support is not None:
        checks.integer(v.support, "support", least=1, or_else=", or None")
    if v.n_bits is None and v.game == "hard":
        raise ValueError("n_bits must be from 1 to 10 with game='hard'; got None.")
    if v.n_bits is not None:
        checks.integer(v.n_bits, "n_bits", least=1, most=10, or_else=", or None")
    _check_metric(v)
    _check_neighbors(v)
    _check_encoder(v)
    checks.choice(v.multiclass, "multiclass", ("one-vs-one", "direct"))
    if v.multiclass == "direct" and v.game != "hard":
        raise ValueError(f"multiclass='direct' is for game='hard' only; got {v.game!r}.")
    if v.radius is not None:
        checks.positive(v.radius, "radius", or_else=" or None")
        for name, bad in (
            ("game", v.game == "hard"),
            ("weights", v.weights != "uniform"),
            ("max_rank", v.max_rank is not None),
            ("support", v.support is not None),
        ):
            if bad:
                raise ValueError(
                    "radius needs game='soft' or 'regression', weights='uniform', "
                    f"max_rank=None and support=None; got {name}={getattr(v, name)!r}."
                )
    checks.semivalue(v.semivalue)
    if v.max_rank not in (None, "sqrt", "adaptive"):
        wanted = ", 'sqrt', 'adaptive' or None"
        checks.integer(v.max_rank, "max_rank", least=1, or_else=wanted)
    checks.positive(v.adaptive_ratio, "adaptive_ratio")
    if v.adaptive_ratio != ADAPTIVE_RATIO and v.max_rank != "adaptive":
        raise ValueError("adaptive_ratio must not be set without max_rank='adaptive'.")
    checks.n_jobs(v.n_jobs)
    checks.positive(v.working_memory, "working_memory")
    checks.boolean(v.progress, "progress")


def _check_metric(v: Any) -> None:
    if v.metric is not None and not callable(v.metric):
        checks.choice(v.metric, "metric", METRIC_NAMES, or_else=", a callable or None")
    if v.metric_params is not None and not isinstance(v.metric_params, dict):
        raise TypeError(f"metric_params must be None or a dict; got {v.metric_params!r}.")
    needed = FITTED_METRICS.get(str(v.metric))
    if needed and needed not in (v.metric_params or {}):
        raise ValueError(f"metric_params must hold {needed!r} with metric={v.metric!r}.")
    if v.metric in (None, "precomputed", *neighbors.COMPILED_METRICS) and v.metric_params:
        raise ValueError(
            f"metric_params must be None with metric={v.metric!r}; got {v.metric_params!r}."
        )


def _check_neighbors(v: Any) -> None:
    checks.choice(v.neighbors, "neighbors", ("brute", "faiss"))
    if v.neighbors_params is not None and not isinstance(v.neighbors_params, dict):
        raise TypeError(f"neighbors_params must be None or a dict; got {v.neighbors_params!r}.")
    if v.neighbors == "faiss":
        ann.check(metric(v), v.neighbors_params or {})
    elif v.neighbors_params:
        raise ValueError("neighbors_params must be None with neighbors='brute'.")


def check_source(v: Any, X: Any, away: bool) -> None:
    """Refuse what cannot be done with training features that are sparse, or not in memory."""
    if hasattr(X, "__dask_graph__") and not away:
        raise TypeError("X must be an array of Dask; use X.to_dask_array(lengths=True).")
    kind = "sparse" if issparse(X) else "read in blocks or sharded" if away else ""
    for name, bad in (
        ("encoder", away and hasattr(v.encoder, "fit")),
        ("neighbors", bool(kind) and v.neighbors == "faiss"),
        ("metric", away and v.metric in PAIRWISE_BOOLEAN_FUNCTIONS),
    ):
        if bad:
            raise ValueError(f"{name}={getattr(v, name)!r} needs X in memory, and X is {kind}.")


def check_partial(v: Any, partial: bool) -> None:
    """Refuse parameters that need all distances, where a search knows some neighbours only."""
    if v.neighbors == "faiss" and v.support is None and v.max_rank in (None, "adaptive"):
        raise ValueError(
            "neighbors='faiss' finds some neighbours only: set support=R, or max_rank to a number "
            "or 'sqrt'."
        )
    if not partial:
        return
    where = "where not all distances are known"
    if v.max_rank == "adaptive" or v.radius is not None:
        name = "radius" if v.radius is not None else "max_rank"
        raise ValueError(f"{name}={getattr(v, name)!r} cannot be used {where}.")
    if v.support is not None:
        return
    if v.weights == "rbf" and isinstance(v.bandwidth, str):
        raise ValueError(
            f"bandwidth='auto' needs the median distance, {where} there is none: set support=R "
            "(the R nearest have weight) or bandwidth to a number."
        )
    if v.weights == "linear" or callable(v.weights):
        name = "a callable" if callable(v.weights) else "'linear'"
        raise ValueError(f"weights must not be {name} {where}, unless support=R is set.")


def metric(v: Any) -> neighbors.Metric:
    """The metric asked for, or that of the encoder."""
    if v.metric is not None:
        return v.metric
    return ForestLeaves.metric if isinstance(v.encoder, ForestLeaves) else "euclidean"


def _check_encoder(v: Any) -> None:
    if v.encoder is None or (isinstance(v.encoder, str) and v.encoder == "auto"):
        return
    if not (hasattr(v.encoder, "fit") and hasattr(v.encoder, "transform")):
        raise TypeError(
            f"encoder must have fit and transform, or be 'auto' or None; got {v.encoder!r}."
        )
    if v.metric == "precomputed":
        raise ValueError("encoder must be None with metric='precomputed'.")


def check_size(v: Any, n_train: int, n_classes: int) -> None:
    """Refuse parameters whose tables would not fit into memory for this training set."""
    k = min(int(v.n_neighbors), n_train, n_train if v.support is None else int(v.support))
    top = weighting(v).top
    if v.game != "hard" and v.n_bits is not None and v.weights != "uniform":
        size = quadrature.table_bytes(k, top)
        if size > 2**30:
            raise ValueError(
                f"n_bits={v.n_bits} with n_neighbors={k} would take {size / 2**30:.0f} GB; "
                "lower one of them or use n_bits=None."
            )
    if v.multiclass != "direct":
        return
    if n_classes > MOST_CLASSES:
        raise ValueError(
            f"multiclass must be 'one-vs-one' for more than {MOST_CLASSES} classes; "
            f"y has {n_classes}."
        )
    size = table_bytes(n_classes, k, top)
    if size > 2**30:
        raise ValueError(
            f"multiclass='direct' would take {size / 2**30:.0f} GB with {n_classes} classes, "
            f"n_neighbors={k} and n_bits={v.n_bits}; lower these or use 'one-vs-one'."
        )


def weighting(v: Any) -> Weighting:
    """How distances become weights."""
    n_bits = None if v.n_bits is None else int(v.n_bits)
    smallest = 1e-140 if v.game == "regression" else 1e-300  # its square is needed
    support = None if v.support is None else int(v.support)
    return Weighting(v.weights, v.bandwidth, n_bits, smallest, support)


def coefficients(v: Any, n_train: int, n_neighbors: int) -> Coefficients:
    """The coefficients of the semivalue asked for."""
    alpha = beta = 1.0
    if v.semivalue == "banzhaf":
        alpha = beta = math.inf
    elif v.semivalue != "shapley":
        alpha, beta = float(v.semivalue[1]), float(v.semivalue[2])
    return shapley_like(n_train, n_neighbors, alpha, beta)


def identity(v: Any, data: str) -> dict[str, Any]:
    """What a run is, but for how it is carried out: parameters, data and version."""
    facts = {k: plain(p) for k, p in v.get_params(deep=False).items()}
    for how in ("n_jobs", "working_memory", "progress"):
        del facts[how]
    codes = [getattr(p, "__code__", None) for p in (v.weights, v.metric)]
    facts["code"] = [None if c is None else [c.co_code.hex(), repr(c.co_consts)] for c in codes]
    return {**facts, "data": data, "version": dataworth.__version__}


def plain(value: Any) -> Any:
    """A parameter as JSON can keep it."""
    if isinstance(value, BaseEstimator):
        return repr(value)
    if callable(value):
        name = getattr(value, "__qualname__", type(value).__qualname__)
        return f"{getattr(value, '__module__', '')}.{name}"
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return value
