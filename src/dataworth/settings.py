"""Settings: the parameters of a valuator, checked once, in the form that a run needs."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import joblib
import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone
from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS

from dataworth.encoders.choice import knows_only_classes, own_metric, weighs
from dataworth.errors import InputError, InputTypeError
from dataworth.games.game import Setup
from dataworth.games.kernels.coefficients import Coefficients, shapley_like
from dataworth.games.registry import GAMES, GameKind
from dataworth.games.semivalues import Law, law
from dataworth.games.ties import TIES
from dataworth.inputs import checks
from dataworth.inputs.identity import identity
from dataworth.neighbors.approximate import Index
from dataworth.neighbors.distances import COMPILED_METRICS, FITTED_METRICS, METRIC_NAMES, Measure
from dataworth.neighbors.registry import SEARCHES
from dataworth.neighbors.transformers import TransformerIndex
from dataworth.weights.functions import WEIGHTS
from dataworth.weights.ranked import Within
from dataworth.weights.weighting import OF_ENCODER, Weighting

MULTICLASS = ("one-vs-one", "direct")
ADAPTIVE_RATIO = 0.1
# Parameters that say how to carry out a run, and change no bit of the result.
MANNERS = ("n_jobs", "working_memory", "progress")
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


def root(n: int) -> int:
    """Return √n, rounded up, which is what `max_rank="sqrt"` stands for."""
    return math.isqrt(n - 1) + 1


@dataclass(frozen=True)
class Settings:
    """The parameters of `KNNShapley`, checked.

    Attributes
    ----------
    params : mapping
        All parameters by name, as they were given.
    n_neighbors : int
        K, which may exceed the number of training points.
    game : GameKind
        The game.
    multiclass, ties : str
        The rules of the hard game.
    center, log : bool
        The rules of the regression game.
    weighting : Weighting
        How distances become weights.
    law : Law
        The law of the semivalue.
    measure : Measure
        The metric, which is that of the encoder if the user set none.
    encoder : transformer, "auto" or None
        The encoder, not fitted.
    class_weight : mapping, "balanced" or None
        How much validation points count, by their labels.
    radius : float or None
        The radius within which points have a say.
    max_rank : int, "sqrt", "adaptive" or None
        How many of the nearest points are ranked.
    adaptive_ratio : float
        When `max_rank="adaptive"` stops.
    n_jobs : int or None
        The number of threads.
    working_memory : float
        How much memory distances may take, in bytes.
    progress : bool
        Whether to show a progress bar.
    """

    params: Mapping[str, Any]
    n_neighbors: int
    game: GameKind
    multiclass: str
    ties: str
    center: bool
    log: bool
    weighting: Weighting
    law: Law
    measure: Measure
    encoder: Any
    class_weight: Mapping[Any, float] | Literal["balanced"] | None
    radius: float | None
    max_rank: int | Literal["sqrt", "adaptive"] | None
    adaptive_ratio: float
    n_jobs: int | None
    working_memory: float
    progress: bool

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> "Settings":
        """Check parameters, each alone and all together, and return the settings."""
        p: dict[str, Any] = {}
        for name, value in params.items():  # dicts may change later
            p[name] = dict(value) if isinstance(value, dict) else value
        n_neighbors = checks.integer(p["n_neighbors"], "n_neighbors", least=1)
        game = GAMES[checks.choice(p["game"], "game", GAMES)]
        _check_encoder(p, game)
        weighting = _weighting(p, game)
        _check_rules(p, game)
        measure = _measure(p)
        _check_neighbors(p, measure)
        if hasattr(p["encoder"], "get_params"):  # `set_params(encoder__x=...)` changes it in place
            p["encoder"] = clone(p["encoder"])
        _check_radius(p, game, weighting)
        if p["max_rank"] not in (None, "sqrt", "adaptive"):
            wanted = ", 'sqrt', 'adaptive' or None"
            checks.integer(p["max_rank"], "max_rank", least=1, or_else=wanted)
        ratio = checks.positive(p["adaptive_ratio"], "adaptive_ratio")
        if ratio != ADAPTIVE_RATIO and p["max_rank"] != "adaptive":
            raise InputError("adaptive_ratio", "not be set without max_rank='adaptive'")
        return cls(
            params=p,
            n_neighbors=n_neighbors,
            game=game,
            multiclass=p["multiclass"],
            ties=p["ties"],
            center=bool(p["center"]),
            log=bool(p["log"]),
            weighting=weighting,
            law=law(p["semivalue"]),
            measure=measure,
            encoder=p["encoder"],
            class_weight=_class_weight(p["class_weight"], game),
            radius=None if p["radius"] is None else float(p["radius"]),
            max_rank=p["max_rank"],
            adaptive_ratio=ratio,
            n_jobs=checks.n_jobs(p["n_jobs"]),
            working_memory=checks.positive(p["working_memory"], "working_memory") * 2**20,
            progress=checks.boolean(p["progress"], "progress"),
        )

    @classmethod
    def each(cls, params: Mapping[str, Any]) -> "tuple[Settings, ...]":
        """Return the settings of each representation: one, or one per encoder of a list."""
        encoders = params["encoder"]
        if not isinstance(encoders, list):
            return (cls.of(params),)
        if not encoders:
            raise InputError("encoder", "not be an empty list")
        return tuple(cls.of({**params, "encoder": encoder}) for encoder in encoders)

    @property
    def encoder_name(self) -> str:
        """What to call the encoder, in a word."""
        if self.encoder is None or isinstance(self.encoder, str):
            return str(self.encoder).lower()
        return type(self.encoder).__name__

    @property
    def precomputed(self) -> bool:
        """Whether the user computed the distances."""
        return self.measure.metric == "precomputed"

    @property
    def indexed(self) -> bool:
        """Whether an index finds the neighbours, and so only some of them."""
        neighbors = self.params["neighbors"]
        return not isinstance(neighbors, str) or bool(SEARCHES[neighbors].module)

    @property
    def limited(self) -> bool:
        """Whether a run needs only the nearest training points."""
        return self.max_rank is not None or self.weighting.support is not None

    def check_change(self, now: "Settings") -> None:
        """Refuse parameters that changed since these, which `fit` used."""
        for name in ("metric", "metric_params", "encoder", "neighbors", "neighbors_params", "log"):
            compare = _is_same_encoder if name == "encoder" else _is_same
            if not compare(self.params[name], now.params[name]):
                raise InputError(name, "not change after fit", hint="Call fit again.")
        if self.game.numeric != now.game.numeric:
            raise InputError(
                "game",
                "not change after fit from labels to numbers or back",
                f"it was {self.game.name!r} and is {now.game.name!r}",
                "Call fit again.",
            )

    def neighbors_within(self, n_train: int) -> int:
        """Return K for this many training points; with a radius, all of them count."""
        return n_train if self.radius is not None else min(self.n_neighbors, n_train)

    def voters(self, n_train: int) -> int:
        """Return how many of the nearest points vote on one that is judged: its agreement.

        Where weights are those of an encoder, or fall to nothing nearby, all points that have
        weight vote, which finds more label errors than a few neighbours do. Otherwise that would be
        nearly everybody, and the neighbours of the game vote. They also do on numbers, which the
        nearest predict best.
        """
        weighting = self.weighting
        local = weighting.weights == DEFAULT_WEIGHTS and weighting.bandwidth == "auto"
        if weighting.weights == OF_ENCODER or (local and not self.game.numeric):
            return n_train
        return self.neighbors_within(n_train)

    def rank_limit(self, n_train: int) -> int | Literal["adaptive"] | None:
        """Return how many of the nearest points are ranked, or None for all."""
        return root(n_train) if self.max_rank == "sqrt" else self.max_rank

    def nearest_needed(self, n_train: int) -> int | None:
        """Return how many of the nearest points a validation point needs, or None for all."""
        if self.weighting.support is not None:
            return min(self.weighting.support, n_train)
        rank = self.rank_limit(n_train)
        return None if rank is None or rank == "adaptive" else int(rank)

    def ranker(self) -> Weighting | Within:
        """Return what ranks the neighbours of a validation point."""
        return self.weighting if self.radius is None else Within(self.radius)

    def is_bounded(self, partial: bool) -> bool:
        """Say whether values may be inexact, so that lower and upper ends are summed too."""
        return self.max_rank is not None or self.weighting.n_bits is None or partial

    def setup(self, n_train: int, n_classes: int, *, among: bool = False) -> Setup:
        """Return the setup of the game for this many training points and classes.

        `among` says whether the validation points are training points.
        """
        k = self.neighbors_within(n_train)
        rules = (self.multiclass, self.ties, self.center)
        return Setup(n_classes, k, self.weighting, *rules, among)

    def coefficients(self, n_train: int) -> Coefficients:
        """Return the coefficients of the semivalue for this many training points."""
        # Only points within the support can have weight, and there may be very many others.
        support = self.weighting.support
        players = n_train if support is None else min(support, n_train)
        return shapley_like(players, min(self.neighbors_within(n_train), players), *self.law)

    def seconds(self, n_train: int, n_classes: int) -> float:
        """Return roughly how long one validation point takes after its distances, on one core."""
        ranked = self.nearest_needed(n_train)
        setup = self.setup(n_train, n_classes)
        return self.game.load().seconds(setup, n_train if ranked is None else ranked)

    def check_size(self, n_train: int, n_classes: int) -> None:
        """Refuse a game that is too large for this many training points and classes."""
        support = self.weighting.support
        k = min(self.n_neighbors, n_train, n_train if support is None else support)
        setup = Setup(n_classes, k, self.weighting, self.multiclass, self.ties)
        self.game.load().check(setup)

    def index(self, points: Any, *, anew: bool) -> Index | None:
        """Build the index that `neighbors` asks for; None if all distances are computed.

        With `anew`, a transformer that is fitted already is fitted again, to these points.
        """
        neighbors = self.params["neighbors"]
        if not isinstance(neighbors, str):
            return TransformerIndex(points, neighbors, anew=anew)
        kind = SEARCHES[neighbors]
        if not kind.module:
            return None
        index: Index = kind.load().Index(
            points, self.measure, self.params["neighbors_params"] or {}
        )
        return index

    def check_source(self, X: Any, away: bool) -> None:
        """Refuse parameters that cannot be used if X is sparse, or `away` from memory."""
        if hasattr(X, "__dask_graph__") and not away:
            raise InputTypeError(
                "X", "be a Dask array", "got another Dask collection",
                "Use X.to_dask_array(lengths=True).",
            )  # fmt: skip
        kind = "sparse" if issparse(X) else "read in blocks or sharded" if away else ""
        p = self.params
        # Transformers may take sparse points, but the indexes that have a name do not.
        dense = issparse(X) and isinstance(p["neighbors"], str)
        for name, bad in (
            ("encoder", away and hasattr(p["encoder"], "fit")),
            ("neighbors", self.indexed and (away or dense)),
            ("metric", away and p["metric"] in PAIRWISE_BOOLEAN_FUNCTIONS),
        ):
            if bad:
                raise InputError(
                    name, "suit X", f"{name}={p[name]!r} needs X in memory, and X is {kind}"
                )

    def check_partial(self, partial: bool) -> None:
        """Refuse parameters that need all distances if a search finds only some neighbours."""
        if self.indexed and self.weighting.support is None and self.max_rank in (None, "adaptive"):
            raise InputError(
                "neighbors",
                "be 'brute' if all neighbours are needed",
                f"neighbors={self.params['neighbors']!r} finds only some neighbours",
                "You can also set support=R, or max_rank to a number or 'sqrt'.",
            )
        if not partial:
            return
        where = "if not all distances are known"
        if self.max_rank == "adaptive":
            raise InputError("max_rank", f"be a number or 'sqrt' {where}", "got 'adaptive'")
        if self.radius is not None:
            raise InputError("radius", f"be None {where}", f"got {self.radius!r}")
        if self.weighting.support is not None:
            return
        kind = self.weighting.kind
        if kind is None or kind.needs_far:
            said = "a callable" if kind is None else repr(kind.name)
            raise InputError("weights", f"not be {said} {where}, unless support=R is set")
        if kind.needs_median and self.weighting.bandwidth == "auto":
            raise InputError(
                "bandwidth",
                f"be a number {where}",
                "bandwidth='auto' needs the median distance",
                "Set bandwidth to a number, or support=R to give weight to the R nearest only.",
            )

    def check_owners(self, partial: bool) -> None:
        """Refuse parameters with which owners cannot be valued; they need their nearest points."""
        for name in ("max_rank", "radius"):
            if self.params[name] is not None:
                raise InputError(name, "be None to value owners", f"got {self.params[name]!r}")
        if partial and self.weighting.support is None:
            raise InputError(
                "support",
                "be set to value owners if not all distances are known",
                "got None",
                "With support=R, no point beyond the R nearest has weight.",
            )

    def facts(self) -> dict[str, Any]:
        """Return the parameters as a file holds them, with functions as their names.

        The weights and their bits are those that were used in place of "auto".
        """
        weighting = self.weighting
        used = {**self.params, "weights": weighting.weights, "n_bits": weighting.n_bits}
        return {name: plain(value) for name, value in used.items()}

    def identity(self) -> dict[str, Any]:
        """Return the parameters that decide the result, described by their contents."""
        found = {}
        for name, value in self.params.items():
            if name not in MANNERS:
                try:
                    found[name] = identity(value)
                except InputError as error:
                    raise InputError(
                        error.argument, error.wanted, f"{error.came} in {name}"
                    ) from error
        return found


def _weighting(p: dict[str, Any], game: GameKind) -> Weighting:
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


def _check_rules(p: dict[str, Any], game: GameKind) -> None:
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


def _measure(p: dict[str, Any]) -> Measure:
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


def _check_neighbors(p: dict[str, Any], measure: Measure) -> None:
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


def _check_encoder(p: dict[str, Any], game: GameKind) -> None:
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
            if not _is_same(p[name], default):
                wanted = f"be {default!r} with an encoder that weighs the points itself"
                raise InputError(name, wanted, f"got {name}={p[name]!r}")
    elif p["metric"] == "precomputed":
        raise InputError("encoder", "be None with metric='precomputed'")


def _class_weight(given: Any, game: GameKind) -> Any:
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


def _check_radius(p: dict[str, Any], game: GameKind, weighting: Weighting) -> None:
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


def _is_same(one: Any, other: Any) -> bool:
    """Whether two parameters are the same; arrays of different contents are not."""
    one, other = ({} if value is None else value for value in (one, other))
    try:
        return bool(one is other or one == other)
    except ValueError:  # arrays do not say whether they are equal as a whole
        return bool(joblib.hash(one) == joblib.hash(other))


def _is_same_encoder(one: Any, other: Any) -> bool:
    """Whether two encoders are of one kind and have the same parameters."""
    if one is other or type(one) is not type(other):
        return one is other
    try:
        return bool(identity(one) == identity(other))
    except InputError:  # its parameters cannot be told from others
        return True


def plain(value: Any) -> Any:
    """Return a parameter in a form that JSON can hold."""
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
