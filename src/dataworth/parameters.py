"""Checks of parameters that depend on others, as weights and metric do on the encoder."""

import math
from numbers import Real
from typing import Any

import joblib
import numpy as np
from sklearn.base import BaseEstimator

from dataworth.encoders.choice import knows_only_classes, own_metric, weighs
from dataworth.errors import InputError, InputTypeError
from dataworth.games.registry import GAMES, GameKind
from dataworth.games.ties import TIES
from dataworth.inputs import checks
from dataworth.neighbors.distances import COMPILED_METRICS, FITTED_METRICS, METRIC_NAMES, Measure
from dataworth.neighbors.registry import SEARCHES
from dataworth.weights.functions import WEIGHTS
from dataworth.weights.weighting import OF_ENCODER, Weighting

MULTICLASS = ("one-vs-one", "direct")
# What weights="auto" and n_bits="auto" stand for. A forest spreads its weight over
# hundreds of points, most of which would have none after rounding to few bits.
DEFAULT_WEIGHTS, DEFAULT_BITS, ENCODER_BITS = "rbf", 3, 8
# What must stay as it is if the encoder weighs points, so that there are no distances.
ABOUT_DISTANCES = {
    "weights": "auto",
    "bandwidth": "auto",
    "metric": None,
    "metric_params": None,
    "neighbors": "brute",
    "neighbors_params": None,
    "radius": None,
}


def weighting_of(p: dict[str, Any], game: GameKind) -> Weighting:
    """Check everything about weights, and return how distances become weights."""
    weights = p["weights"]
    if not callable(weights):
        checks.choice(weights, "weights", ("auto", *WEIGHTS), or_else=" or a callable")
        if weights == "auto":
            weights = OF_ENCODER if weighs(p["encoder"]) else DEFAULT_WEIGHTS
    if not (isinstance(p["bandwidth"], str) and p["bandwidth"] == "auto"):
        checks.positive(p["bandwidth"], "bandwidth", or_else=" or 'auto'")
        if callable(weights) or not WEIGHTS[weights].takes_bandwidth:
            raise InputError("bandwidth", f"be 'auto' with weights={weights!r}")
    support, n_bits = p["support"], p["n_bits"]
    if support is not None:
        support = checks.integer(support, "support", least=1, or_else=", or None")
    if n_bits is None and not game.real_weights:
        raise InputError("n_bits", f"be from 1 to 10 with game={game.name!r}", "got None")
    if isinstance(n_bits, str) and n_bits == "auto":
        n_bits = ENCODER_BITS if weights == OF_ENCODER else DEFAULT_BITS
    if n_bits is not None:
        n_bits = checks.integer(n_bits, "n_bits", least=1, most=10, or_else=", 'auto' or None")
    return Weighting(weights, p["bandwidth"], n_bits, game.least_weight, support)


def check_rules(p: dict[str, Any], game: GameKind) -> None:
    """Refuse rules that this game does not have."""
    for name in ("center", "log"):
        checks.boolean(p[name], name)
    for name, known in (("multiclass", MULTICLASS), ("ties", tuple(TIES))):
        checks.choice(p[name], name, known)
    usual = {"multiclass": MULTICLASS[0], "ties": next(iter(TIES)), "center": True, "log": False}
    for name, rule in usual.items():
        if p[name] != rule and name not in game.options:
            owners = " or ".join(repr(g.name) for g in GAMES.values() if name in g.options)
            raise InputError(
                name,
                f"be {rule!r} with game={game.name!r}",
                f"{name}={p[name]!r} is for game={owners} only",
            )


def _check_minkowski(params: dict[str, Any]) -> None:
    """Refuse what scipy would take without a word, or refuse in words of C."""
    unknown = sorted(set(params) - {"p", "w"})
    if unknown:
        wanted = "hold nothing but 'p' and 'w' with metric='minkowski'"
        raise InputError("metric_params", wanted, f"got {unknown[0]!r}")
    if "p" in params:
        try:
            checks.positive(params["p"], "p")
        except InputError as error:
            wanted = "hold a positive number as 'p' with metric='minkowski'"
            raise type(error)("metric_params", wanted, error.came) from None


def measure_of(p: dict[str, Any]) -> Measure:
    """Check the metric and its arguments, and return both."""
    metric, params = p["metric"], p["metric_params"]
    if metric is not None and not callable(metric):
        checks.choice(metric, "metric", METRIC_NAMES, or_else=", a callable or None")
    if params is not None and not isinstance(params, dict):
        raise InputTypeError("metric_params", "be None or a dict", f"got {params!r}")
    needed = FITTED_METRICS.get(str(metric))
    if needed and needed not in (params or {}):
        raise InputError("metric_params", f"hold {needed!r} with metric={metric!r}")
    if metric == "minkowski":
        _check_minkowski(params or {})
    if metric in (None, "precomputed", *COMPILED_METRICS) and params:
        raise InputError("metric_params", f"be None with metric={metric!r}", f"got {params!r}")
    if metric is None:
        metric = own_metric(p["encoder"]) or "euclidean"
    return Measure(metric, params or {})


def check_neighbors(p: dict[str, Any], measure: Measure) -> None:
    """Refuse a search that is unknown, or does not suit the metric."""
    neighbors, params = p["neighbors"], p["neighbors_params"]
    if params is not None and not isinstance(params, dict):
        raise InputTypeError("neighbors_params", "be None or a dict", f"got {params!r}")
    transformer = isinstance(neighbors, BaseEstimator) and hasattr(neighbors, "transform")
    if not transformer:
        checks.choice(neighbors, "neighbors", SEARCHES, or_else=" or a neighbours transformer")
        if SEARCHES[neighbors].module:
            SEARCHES[neighbors].load().check(measure, params or {})
            return
    elif measure.metric == "precomputed":
        raise InputError("neighbors", "be 'brute' with metric='precomputed'")
    if params:
        said = "a transformer, which has its own" if transformer else f"neighbors={neighbors!r}"
        raise InputError("neighbors_params", f"be None with {said}")


def check_encoder(p: dict[str, Any], game: GameKind) -> None:
    """Refuse an encoder that cannot encode, or does not suit the game or other parameters."""
    encoder = p["encoder"]
    if encoder is None or (isinstance(encoder, str) and encoder == "auto"):
        return
    is_class = isinstance(encoder, type)
    if is_class or not (hasattr(encoder, "fit") and hasattr(encoder, "transform")):
        raise InputTypeError(
            "encoder",
            "have fit and transform, or be 'auto', None or a list of such",
            f"got {encoder!r}",
        )
    if game.numeric and knows_only_classes(encoder):
        raise InputError(
            "encoder",
            f"suit the numbers of game={game.name!r}",
            f"{encoder!r} knows classes only",
            "Leave it out.",
        )
    if weighs(encoder):
        for name, default in ABOUT_DISTANCES.items():
            if not is_same(p[name], default):
                wanted = f"be {default!r} with an encoder that weighs the points itself"
                raise InputError(name, wanted, f"got {name}={p[name]!r}")
    elif p["metric"] == "precomputed":
        raise InputError("encoder", "be None with metric='precomputed'")


def class_weight_of(given: Any, game: GameKind) -> Any:
    """Check the weights of classes, and return them."""
    if given is None:
        return None
    if game.numeric:
        raise InputError("class_weight", f"be None with game={game.name!r}", f"got {given!r:.60}")
    if not isinstance(given, dict):
        return checks.choice(given, "class_weight", ("balanced",), or_else=", a dict or None")
    for label, weight in given.items():
        number = isinstance(weight, Real) and not isinstance(weight, bool | np.bool_)
        if not number or not 0.0 <= float(weight) < math.inf:
            wanted, came = (
                "give each label a number of at least 0",
                f"{label!r:.60} has {weight!r:.60}",
            )
            raise (InputError if number else InputTypeError)("class_weight", wanted, came)
    return given


def check_radius(p: dict[str, Any], game: GameKind, weighting: Weighting) -> None:
    """Refuse a radius that is none, or beside parameters that exclude it."""
    if p["radius"] is None:
        return
    checks.positive(p["radius"], "radius", or_else=" or None")
    games = " or ".join(f"game={g.name!r}" for g in GAMES.values() if g.radius)
    for name, bad in (
        ("game", not game.radius),
        ("weights", not weighting.equal),
        ("max_rank", p["max_rank"] is not None),
        ("support", p["support"] is not None),
    ):
        if bad:
            raise InputError(
                "radius",
                f"come with {games}, weights='uniform', max_rank=None and support=None",
                f"got {name}={p[name]!r}",
            )


def is_same(one: Any, other: Any) -> bool:
    """Whether two parameters are the same; arrays of different contents are not."""
    one, other = ({} if value is None else value for value in (one, other))
    try:
        return bool(one is other or one == other)
    except ValueError:  # arrays do not say whether they are equal as a whole
        return bool(joblib.hash(one) == joblib.hash(other))
