"""Plans: from a fitted valuator to the task that its workers carry out."""

import math
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.sparse import issparse

from dataworth import parameters
from dataworth.games.all import DirectGame, Game, HardGame, RegressionGame, SoftGame
from dataworth.neighbors import dask as shards
from dataworth.neighbors import faiss as ann
from dataworth.neighbors.blocks import BLOCK_BYTES, Blocks
from dataworth.neighbors.search import Brute, Given, Graph, Search
from dataworth.run.job import BLOCK, Limit, Task

RECALL_SAMPLE = 32  # validation points on which an index is compared with all distances
MOST_HELD = 256  # validation points that one pass serves: progress is kept after each


def is_partial(v: Any, X_val: Any) -> bool:
    """Whether a search knows of some neighbours only."""
    if v._points is None:
        return bool(issparse(X_val))
    limited = v.max_rank is not None or v.support is not None
    return v._index is not None or (isinstance(v._points, shards.ShardedPoints) and limited)


def is_bounded(v: Any, X_val: Any) -> bool:
    """Whether values may be other than exact, so that their ends are summed too."""
    return v.max_rank is not None or v.n_bits is None or is_partial(v, X_val)


def root(n: int) -> int:
    """The rank √N, rounded up: what `max_rank="sqrt"` stands for."""
    return math.isqrt(n - 1) + 1


def task(v: Any, X_val: Any, columns: NDArray[np.int64] | None = None) -> Task:
    """The task for these validation points; `columns` are the training points that take part.

    Classes are those of the points that take part, numbered in their order.
    """
    targets = v._targets
    n_classes = 0 if v.game == "regression" else v.classes_.size
    if columns is not None:
        targets = targets[columns]
        if v.game != "regression":
            classes, targets = np.unique(targets, return_inverse=True)
            n_classes = classes.size
    n = targets.size
    n_neighbors = n if v.radius is not None else min(int(v.n_neighbors), n)
    rank = root(n) if v.max_rank == "sqrt" else v.max_rank
    needed = None if rank is None or isinstance(rank, str) else int(rank)
    if v.support is not None:
        needed = min(int(v.support), n)
    if v._points is None:
        search: Search = Graph() if issparse(X_val) else Given()
    else:
        search = _search(v, needed, whole=columns is not None)
    return Task(
        search=search,
        game=_game(v, targets, n_classes, n_neighbors),
        weighting=parameters.weighting(v),
        radius=v.radius,
        limit=Limit(rank, float(v.adaptive_ratio), 4 * n_neighbors),
        columns=columns,
        bounded=is_bounded(v, X_val),
    )


def _search(v: Any, needed: int | None, whole: bool) -> Search:
    """The search for that many neighbours; `whole`: all distances are needed.

    One task holds rows of distances, and for each eight of them the sums of all training points,
    unless weights of bounded support leave most of these 0.
    """
    points, n = v._points, v._targets.size
    metric, params = parameters.metric(v), v.metric_params or {}
    room = v.working_memory * 2**20 / effective_n_jobs(v.n_jobs)
    if needed is not None and v._index is not None:
        return ann.Approximate(v._index, points, metric, needed + 1)
    if not isinstance(points, Blocks | shards.ShardedPoints):
        return Brute(points, metric, params, int(min(max(room / (8 * n), 1), BLOCK)))
    sums = (24 if is_bounded(v, None) else 8) * n / BLOCK
    few = v.support is not None and v.max_rank is None and not whole
    if isinstance(points, Blocks):
        room = max(room - 4 * BLOCK_BYTES, room / 2)  # the blocks take their share
    # One more than is needed, as one of them may be the validation point itself.
    limit = None if needed is None or whole else needed + 1
    if isinstance(points, Blocks) and v.support is None:
        limit = None  # all distances are at hand, and with them all weights
    row = 8 * n if limit is None else 64 * limit
    held = int(min(max(room / (row + (0 if few else sums)), 1), MOST_HELD))
    if isinstance(points, Blocks):
        return Brute(points, metric, params, held, limit)
    return shards.Sharded(points, metric, params, limit, held)


def _game(v: Any, targets: NDArray[Any], n_classes: int, n_neighbors: int) -> Game:
    weighting = parameters.weighting(v)
    # No more points than these can have weight, and there may be very many others.
    players = targets.size if v.support is None else min(int(v.support), targets.size)
    coefficients = parameters.coefficients(v, players, min(n_neighbors, players))
    if v.game == "regression":
        return RegressionGame(targets, n_neighbors, weighting, coefficients)
    rest = (targets, n_classes, n_neighbors, weighting, coefficients)
    if v.game == "soft":
        return SoftGame(*rest)
    return DirectGame(*rest) if v.multiclass == "direct" else HardGame(*rest)


def recall(v: Any, queries: NDArray[Any]) -> float:
    """What share of the nearest points the index finds, for some of these validation points."""
    sample = np.unique(np.linspace(0, queries.shape[0] - 1, RECALL_SAMPLE).astype(np.int64))
    search = task(v, queries).search
    assert isinstance(search, ann.Approximate)
    return search.recall(queries[sample])
