r"""Predicted utilities whose share in every value is known without sampling.

Write F(T) for the vector of sums over T of the features f_j of its points. The prediction is

    g(T) = c + b . F(T) + F(T) . Q F(T),

with its own c, b and Q for each block of strata. In a stratum, T is a random choice of k among a
pool of p points, with or without an anchor e that is in every set. Over a random choice of k' among
p' points with sum S of features and a = sum of f_j . Q f_j,

    E[F'] = r1 S,    E[F' . Q F'] = (r1 - r2) a + r2 S . Q S,
    r1 = k' / p',    r2 = k' (k' - 1) / (p' (p' - 1)),

so E[g(T)] is known, and so is E[g(T) | i in T], where i joins the anchor and leaves the pool. The
latter is a number for each stratum, plus another one times f_i . Q f_i, plus vectors times f_i and
Q f_i; sums over all strata behind i are therefore running sums over strata, in linear time.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dataworth.arrays import Flags, Floats, Ints
from paper.sampling.strata import Sets, Strata

RIDGES = (1e-4, 1e-2, 1.0, 100.0)


class Control(NamedTuple):
    """The prediction: c, b and Q for each block."""

    constant: Floats
    linear: Floats
    quadratic: Floats

    def predict(self, strata: Strata, features: Floats, sets: Sets) -> Floats:
        """Utilities of the sets as predicted."""
        total, block = sums(features, sets.members), strata.block[sets.stratum]
        squared = np.einsum("np,npq,nq->n", total, self.quadratic[block], total)
        return self.constant[block] + (self.linear[block] * total).sum(axis=1) + squared


def features_of(right: Flags, weights: Floats) -> Floats:
    """(N, 5) features: the label, the weight and its square root, and these where right."""
    unit = weights / weights.max()
    good = right.astype(np.float64)
    return np.column_stack([good, unit, np.sqrt(unit), good * unit, good * np.sqrt(unit)])


def sums(features: Floats, members: Ints) -> Floats:
    """Sums of features over each set; members of -1 count nothing."""
    return np.vstack([features, np.zeros(features.shape[1])])[members].sum(axis=1)


def cross_fitted(
    strata: Strata, features: Floats, pilot: Sets | None, parts: Sequence[Sets]
) -> list[Control]:
    """For each part the prediction that fits the pilot and the other parts."""
    p = features.shape[1]
    blocks = int(strata.block.max()) + 1
    controls = [
        Control(np.full(blocks, 0.5), np.zeros((blocks, p)), np.zeros((blocks, p, p)))
        for _ in parts
    ]
    every = [*parts, *([] if pilot is None else [pilot])]
    block = np.concatenate([strata.block[s.stratum] for s in every])
    part = np.concatenate([np.full(s.stratum.size, f) for f, s in enumerate(every)])
    total = np.concatenate([sums(features, s.members) for s in every])
    utility = np.concatenate([s.utility for s in every])
    pairs = np.triu_indices(p)
    terms = np.column_stack([total, total[:, pairs[0]] * total[:, pairs[1]]])
    for b in np.unique(block):
        here = block == b
        for f, control in enumerate(controls):
            train = here & (part != f)
            if not train.any():
                continue
            constant, slopes = ridge(terms[train], utility[train])
            control.constant[b] = constant
            control.linear[b] = slopes[:p]
            upper = np.zeros((p, p))
            upper[pairs] = slopes[p:]
            control.quadratic[b] = 0.5 * (upper + upper.T)
    return controls


def ridge(terms: Floats, target: Floats) -> tuple[float, Floats]:
    """Intercept and slopes of a ridge regression, its strength chosen by leaving one out."""
    mean, scale = terms.mean(axis=0), terms.std(axis=0)
    scale[scale < 1e-12] = np.inf
    average = float(target.mean())
    n = target.size
    if n < 4 or np.ptp(target) == 0.0:
        return average, np.zeros(terms.shape[1])
    left, singular, right = np.linalg.svd((terms - mean) / scale, full_matrices=False)
    along = left.T @ (target - average)
    best, chosen = np.inf, np.zeros(singular.size)
    for strength in (*RIDGES, np.inf):
        shrink = singular**2 / (singular**2 + strength * n / 100.0 + 1e-9)
        if shrink.sum() > n / 4:  # too few sets for so free a fit, however good it looks
            continue
        leverage = np.minimum((left**2) @ shrink + 1.0 / n, 0.99)
        miss = ((target - average - left @ (shrink * along)) / (1.0 - leverage)) ** 2
        if miss.sum() < best:
            best, chosen = float(miss.sum()), shrink
    inverse = np.divide(chosen, singular, out=np.zeros_like(chosen), where=singular > 1e-9)
    slopes = right.T @ (inverse * along) / scale
    return average - float(slopes @ mean), slopes


def expected_gains(strata: Strata, features: Floats, control: Control) -> Floats:
    """What the predicted utilities of all sets add to each value."""
    values = np.zeros(features.shape[0])
    for b in np.unique(strata.block):
        some = strata.only(strata.block == b)
        values += _gains_of_block(
            some, features, control.constant[b], control.linear[b], control.quadratic[b]
        )
    return values


def _gains_of_block(
    strata: Strata, features: Floats, constant: float, linear: Floats, quadratic: Floats
) -> Floats:
    n = features.shape[0]
    moved = features @ quadratic  # Q f_i
    own = (moved * features).sum(axis=1)  # f_i . Q f_i
    anchored = strata.anchored > 0
    at = np.minimum(strata.pool, n - 1)
    anchor = np.where(anchored[:, None], features[at], 0.0)
    anchor_own = np.where(anchored, own[at], 0.0)
    pool = np.vstack([np.zeros(features.shape[1]), np.cumsum(features, axis=0)])[strata.pool]
    pool_moved = pool @ quadratic
    pool_square = (pool_moved * pool).sum(axis=1)
    pool_own = np.append(0.0, np.cumsum(own))[strata.pool]
    cross = (anchor * pool_moved).sum(axis=1)

    def level(r1: Floats, r2: Floats) -> Floats:
        """E[g] for the anchor and a choice from the pool with these r1 and r2."""
        mean = constant + (anchor + r1[:, None] * pool) @ linear
        return mean + anchor_own + 2.0 * r1 * cross + (r1 - r2) * pool_own + r2 * pool_square

    chance, r2 = _chances(strata, 0)
    expected = level(chance, r2)
    r1, r2 = _chances(strata, 1)
    factor = (strata.inside + strata.outside) * chance
    base = factor * level(r1, r2) - strata.outside * expected
    by_own = factor * (1.0 - 3.0 * r1 + 2.0 * r2)
    by_moved = (2.0 * factor * (1.0 - r1))[:, None] * anchor
    by_feature = (factor * (1.0 - r1))[:, None] * linear
    by_feature += (2.0 * factor * (r1 - r2))[:, None] * pool_moved
    # Strata come nearest first: those with i in their pool are the last ones.
    first = np.searchsorted(strata.pool, np.arange(n), side="right")
    values = _behind(base)[first] + own * _behind(by_own)[first]
    values += (moved * _behind(by_moved)[first]).sum(axis=1)
    values += (features * _behind(by_feature)[first]).sum(axis=1)
    values[strata.pool[anchored]] += (strata.inside * expected)[anchored]
    return values


def _chances(strata: Strata, fixed: int) -> tuple[Floats, Floats]:
    """r1 and r2 of the choice from the pool once so many of its points are fixed members."""
    chosen = (strata.size - strata.anchored - fixed).astype(np.float64)
    of = (strata.pool - fixed).astype(np.float64)
    r1 = np.where(of > 0, chosen / np.maximum(of, 1.0), 0.0)
    return r1, r1 * np.where(of > 1, (chosen - 1.0) / np.maximum(of - 1.0, 1.0), 0.0)


def _behind(terms: Floats) -> Floats:
    """Sums of each term and all later ones, and 0 at the end."""
    return np.concatenate([np.cumsum(terms[::-1], axis=0)[::-1], np.zeros((1, *terms.shape[1:]))])
