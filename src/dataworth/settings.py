"""Settings: the parameters of a valuator, checked once, in the form that a run needs."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone
from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS

from dataworth.errors import InputError, InputTypeError
from dataworth.games.game import Setup
from dataworth.games.kernels.coefficients import Coefficients, shapley_like
from dataworth.games.registry import GAMES, GameKind
from dataworth.games.semivalues import Law, law
from dataworth.inputs import checks
from dataworth.inputs.identity import identity
from dataworth.neighbors.approximate import Index
from dataworth.neighbors.distances import Measure
from dataworth.neighbors.registry import SEARCHES
from dataworth.neighbors.transformers import TransformerIndex
from dataworth.parameters import (
    DEFAULT_WEIGHTS,
    check_encoder,
    check_neighbors,
    check_radius,
    check_rules,
    class_weight_of,
    is_same,
    measure_of,
    weighting_of,
)
from dataworth.weights.ranked import Within
from dataworth.weights.weighting import OF_ENCODER, Weighting

ADAPTIVE_RATIO = 0.1
# Parameters that say how to carry out a run, and change no bit of the result.
MANNERS = ("n_jobs", "working_memory", "progress")


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
        check_encoder(p, game)
        weighting = weighting_of(p, game)
        check_rules(p, game)
        measure = measure_of(p)
        check_neighbors(p, measure)
        if hasattr(p["encoder"], "get_params"):  # `set_params(encoder__x=...)` changes it in place
            p["encoder"] = clone(p["encoder"])
        check_radius(p, game, weighting)
        max_rank = p["max_rank"]
        if max_rank not in (None, "sqrt", "adaptive"):
            wanted = ", 'sqrt', 'adaptive' or None"
            max_rank = checks.integer(max_rank, "max_rank", least=1, or_else=wanted)
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
            class_weight=class_weight_of(p["class_weight"], game),
            radius=None if p["radius"] is None else float(p["radius"]),
            max_rank=max_rank,
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
            compare = _is_same_encoder if name == "encoder" else is_same
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
