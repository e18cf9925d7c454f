"""Owners as players: every game, with whole data sets that arrive instead of single points."""

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np
from scipy.special import gammaln

from dataworth.arrays import Array, Floats, Ints
from dataworth.games import quadrature
from dataworth.games.game import Setup
from dataworth.games.kernels import owner_sets, owners
from dataworth.games.kernels.owner_sets import Holdings, Rules
from dataworth.games.kernels.owners import Nodes, Owned, Worth
from dataworth.games.regression import Prior
from dataworth.games.semivalues import Law
from dataworth.games.ties import TIES
from dataworth.weights.ranked import Ranked

Way = Literal["enumeration", "products", "sampling"]
# Up to so many owners, all sets of them are gone through.
MOST_ENUMERATED = 12
# Above so many seconds for a validation point, owners are sampled.
MOST_SECONDS = 2.0
OPERATIONS = 5e9  # in a second
# Up to so many times K owners, products are computed afresh; beyond, division loses no digits.
NEAR = 2
# Permutations are drawn so many at a time, each with its reverse.
ROUND = 32


@dataclass(frozen=True)
class Sampling:
    """How permutations of owners are drawn.

    Attributes
    ----------
    tol : float
        Drawing ends once the standard error of each value for one validation point is at most this.
    seed : int
        The seed.
    """

    tol: float
    seed: int


@dataclass(frozen=True)
class OwnerSolution:
    """The values of owners for one validation point.

    Attributes
    ----------
    values : (G,) array
        The values.
    variance : (G,) array
        The squared standard errors of values that were sampled; else 0.
    error : float
        How far off values can be because the division by a sum of real weights is approximate.
    """

    values: Floats
    variance: Floats
    error: float


@dataclass(frozen=True)
class _Play:
    """A game on some of the ranked points, the K nearest of each owner.

    Attributes
    ----------
    owner : (n,) array of int
        Their owners, numbered as they come.
    names : (m,) array of int
        Who these owners are.
    weights : (n,) array
        Their weights.
    quantity : (n,) array
        What is averaged, in a game of means; else 0.
    side : (n,) array of int
        Their classes in a vote, the right one being 0.
    rules : Rules
        What sets of them are worth.
    share : float
        What the game counts; the games of a validation point count 1 together.
    """

    owner: Ints
    names: Ints
    weights: Array
    quantity: Floats
    side: Ints
    rules: Rules
    share: float


@dataclass(frozen=True)
class OwnerGame:
    """What whole data sets are worth to validation points.

    Attributes
    ----------
    owners : (n_train,) array of int
        The owner of each training point, from 0 to n_owners - 1.
    n_owners : int
        The number of owners, of whom some may have no points here.
    targets : (n_train,) array
        Class codes, or numbers.
    setup : Setup
        The number of classes and of neighbours, weights and rules.
    name : str
        The name of the game.
    law : Law
        The law of the semivalue.
    way : {"enumeration", "products", "sampling"}
        How values are computed.
    sampling : Sampling
        How permutations are drawn, if they are.
    """

    owners: Ints
    n_owners: int
    targets: Array
    setup: Setup
    name: str
    law: Law
    way: Way
    sampling: Sampling

    @cached_property
    def _chances(self) -> Floats:
        most = max(self.setup.n_neighbors, min(self.n_owners, MOST_ENUMERATED)) + 1
        return owners.chances(self.n_owners, most, *self.law)

    @cached_property
    def _prior(self) -> Prior:
        return Prior.of(self.setup, self.targets)

    def solve(self, ranked: Ranked, label: Any) -> OwnerSolution:
        """Value the owners for one validation point, given its class code or target."""
        values, variance, error = np.zeros(self.n_owners), np.zeros(self.n_owners), 0.0
        plays = list(self._plays(ranked, label))
        for play in plays:
            if self.way == "sampling":
                tol = self.sampling.tol / (play.share * math.sqrt(len(plays)))
                found, squares = self._sampled(play, tol)
                variance[play.names] += play.share**2 * squares
            elif self.way == "enumeration":
                found = owner_sets.enumerated(
                    _holdings(play), play.rules, self._k(play), self._chances
                )
            else:
                found, off = self._products(play)
                error += play.share * off
            values[play.names] += play.share * found
        return OwnerSolution(values, variance, error)

    def _k(self, play: _Play) -> int:
        return min(self.setup.n_neighbors, play.owner.size)

    def _plays(self, ranked: Ranked, label: Any) -> Iterator[_Play]:
        """Yield the games of a validation point: one, or one for each wrong class."""
        n_classes, tie = self.setup.n_classes, TIES[self.setup.ties].worth
        if ranked.order.size == 0 or n_classes == 1:
            return
        if self.name == "hard" and self.setup.multiclass == "one-vs-one":
            targets = self.targets[ranked.order]
            for rival in range(n_classes):
                if rival != label:
                    voters = np.flatnonzero((targets == label) | (targets == rival))
                    chosen, owner, names = self._select(ranked.order[voters])
                    chosen = voters[chosen]
                    side = (targets[chosen] == rival).astype(np.int64)
                    weights, nothing = ranked.weights[chosen], np.zeros(chosen.size)
                    share = 1.0 / (n_classes - 1)
                    yield _Play(owner, names, weights, nothing, side, Rules(0, tie, 2), share)
            return
        chosen, owner, names = self._select(ranked.order)
        targets, weights = self.targets[ranked.order[chosen]], ranked.weights[chosen]
        side, quantity, share = np.zeros(chosen.size, np.int64), np.zeros(chosen.size), 1.0
        if self.name == "regression":
            error, guess = targets - label, self._prior.error(label)
            # In units of the largest error, so that no square overflows or vanishes.
            unit = max(float(np.abs(error).max()), 1e-150, 1e-150 * abs(guess))
            empty = -((guess / unit) ** 2)
            rules, quantity, share = Rules(2, empty, 0), error / unit, unit * unit
        elif self.name == "soft":
            rules, quantity = Rules(1, 1.0 / n_classes, 0), (targets == label).astype(np.float64)
        else:
            rules = Rules(0, tie, n_classes)
            side = np.where(targets == label, 0, targets + (targets < label))
        yield _Play(owner, names, weights, quantity, side, rules, share)

    def _select(self, order: Ints) -> tuple[Ints, Ints, Ints]:
        return owners.select(order, self.owners, self.n_owners, self.setup.n_neighbors)

    def _products(self, play: _Play) -> tuple[Floats, float]:
        """Return the values by products over owners, and how far off they can be."""
        if not play.owner.size:
            return np.zeros(0), 0.0
        k, weighting, error = self._k(play), self.setup.weighting, 0.0
        power, empty = play.rules.power, play.rules.empty
        row, quantity = play.weights, play.weights * play.quantity
        idle = not play.weights.all()
        if power == 0:
            table, worth = vote_nodes(k, weighting.top, empty)
            row = np.where(play.side == 0, row, -row) + weighting.top
        elif weighting.equal:
            table, worth = equal_nodes(k, power, empty)
            row = np.zeros_like(row)
        elif weighting.n_bits is not None:
            rates, factors = quadrature.integer_nodes(self.setup.n_neighbors * weighting.top, power)
            levels = np.arange(weighting.top + 1)
            table, worth = _mean_nodes(levels, rates, factors, k, power, empty, idle)
        else:
            some = row[row > 0] if row.any() else np.ones(1)
            least, most = float(some.min()), k * float(some.max())
            nodes = quadrature.real_nodes(quadrature.doublings(least, most), power)
            rates, factors = nodes.rates / least, nodes.coefficients / least**power
            table, worth = _mean_nodes(row, rates, factors, k, power, empty, idle)
            row = np.arange(row.size)
            error = 2.0 * nodes.error_of_products(k) + quadrature.ROUNDING * abs(empty)
        owned = Owned(play.owner, row.astype(np.int64), table, quantity)
        return owners.values(owned, worth, k, self._chances, NEAR * k), error

    def _sampled(self, play: _Play, tol: float) -> tuple[Floats, Floats]:
        """Return estimates from random permutations, and their squared standard errors."""
        m, k, holdings = play.names.size, self._k(play), _holdings(play)
        by_size, sums, drawn = _by_size(m, self.law), np.zeros((2, m)), 0
        # The same game is drawn alike wherever it comes up, whatever comes before it.
        contents = (play.owner, play.names, play.weights, play.quantity, play.side)
        words = [zlib.crc32(np.ascontiguousarray(part).tobytes()) for part in contents]
        rng = np.random.default_rng([self.sampling.seed, *words])
        while True:
            orders = rng.permuted(np.tile(np.arange(m), (ROUND, 1)), axis=1)
            owner_sets.arrive(orders, holdings, play.rules, k, by_size, sums)
            drawn += ROUND
            mean = sums[0] / drawn
            spread = np.maximum(sums[1] - drawn * mean * mean, 0.0)
            squares = spread / (drawn - 1) / drawn
            if squares.max(initial=0.0) <= tol * tol:
                return mean, squares


def _holdings(play: _Play) -> Holdings:
    weights = play.weights.astype(np.float64)
    starts, ranks = owner_sets.held(play.owner, play.names.size)
    return Holdings(starts, ranks, weights, weights * play.quantity, play.side)


def _by_size(m: int, law: Law) -> Floats:
    """Return what a gain counts in a permutation of m owners, by how many came before.

    That is m times the chance that a semivalue gives to sets of that size; 1 for Shapley values.
    """
    before = np.arange(m)
    sets = gammaln(m) - gammaln(before + 1) - gammaln(m - before)
    if math.isinf(law.alpha):
        return m * np.exp(sets - (m - 1) * math.log(2.0))
    if law == Law(1.0, 1.0):
        return np.ones(m)
    a, b = law
    logs = gammaln(b + before) - gammaln(b) + gammaln(a + m - 1 - before) - gammaln(a)
    return m * np.exp(sets + logs + gammaln(a + b) - gammaln(a + b + m - 1))


def _mean_nodes(
    weights: Array, rates: Floats, factors: Floats, k: int, power: int, empty: float, idle: bool
) -> tuple[Nodes, Worth]:
    """Return the factors of these weights, and the power of a weighted mean as a sum of products.

    If there are points of weight 0, a last node tells the sets that have no weight.
    """
    table = np.exp(-rates * weights[:, None])
    top = np.tile(factors if power == 1 else -factors, (k + 1, 1))
    plain = np.zeros_like(top)
    if idle:
        table = np.column_stack([table, weights == 0])
        top, plain = np.pad(top, ((0, 0), (0, 1))), np.pad(plain, ((0, 0), (0, 1)))
        plain[:, -1] = empty
    top[0], plain[0] = 0.0, 0.0
    plain[0, 0] = empty
    return table, Worth(plain, top, power)


@lru_cache(maxsize=8)
def equal_nodes(k: int, power: int, empty: float) -> tuple[Nodes, Worth]:
    """Return the only factor of equal weights, and the power of a mean of l points by l."""
    plain, top = np.zeros((k + 1, 1)), np.zeros((k + 1, 1))
    plain[0] = empty
    sign = 1.0 if power == 1 else -1.0
    top[1:, 0] = sign / np.arange(1, k + 1, dtype=np.float64) ** power
    return np.ones((1, 1)), Worth(plain, top, power)


@lru_cache(maxsize=8)
def vote_nodes(k: int, top: int, tie: float) -> tuple[Nodes, Worth]:
    """Return factors on the unit circle, and the Fourier series of a vote of k points.

    Row top + v of the factors is that of a point with the signed weight v. The sums lie between
    -k top and k top, so 2 k top + 1 nodes are enough, and half of them, as the vote is real.
    """
    largest = k * top
    total, node = np.arange(-largest, largest + 1), np.arange(largest + 1)
    turn = 2j * np.pi / total.size
    vote = np.where(total == 0, tie, total > 0)
    series = np.exp(-turn * np.outer(node, total)) @ vote / total.size
    series[1:] *= 2.0
    table = np.exp(turn * np.outer(np.arange(-top, top + 1), node))
    plain = np.tile(series, (k + 1, 1))
    return table, Worth(plain, np.zeros_like(plain), 0)


def choose(setup: Setup, name: str, n_owners: int, *, anyhow: bool = False) -> Way:
    """Return how the values of so many owners are best computed.

    That is exactly, unless it takes too long (never mind that with `anyhow`) or cannot be done.
    """
    if n_owners <= MOST_ENUMERATED:
        return "enumeration"
    if name == "hard" and setup.multiclass == "direct" and setup.n_classes > 2:
        return "sampling"
    few = anyhow or seconds(setup, name, n_owners) <= MOST_SECONDS
    return "products" if few else "sampling"


def seconds(setup: Setup, name: str, n_owners: int) -> float:
    """Estimate how long one validation point takes by products."""
    k, top = setup.n_neighbors, setup.weighting.top
    if name == "hard":
        width = 4.0 * (k * top + 1)
    elif setup.weighting.equal:
        width = 3.0
    elif setup.weighting.n_bits is None:
        width = 3.0 * 80
    else:
        width = 3.0 * quadrature.integer_nodes(k * top, 1)[0].size
    far = n_owners * k * 5.0 * k * k
    afresh = 2.0 * k * min(n_owners, 2.0 * k) * k**3 / 3.0 * (k if n_owners <= 2 * k else 2)
    plays = max(setup.n_classes - 1, 1) if name == "hard" else 1
    # Calls cost as much as many nodes.
    return plays * (far + afresh) * (64.0 + width) / OPERATIONS
