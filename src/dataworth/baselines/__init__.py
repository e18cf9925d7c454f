"""Algorithms of the literature for one validation point, to study and to compare with.

The rest of dataworth does not use this package. Every function takes the training points nearest
first: which of them have the right label, and their weights. U(S), the utility of a set S, depends
only on the min(K, |S|) nearest members of S:

- `"hard"`: 1 if the weight of right labels is at least that of wrong ones, else 0; U(empty) = 1.
- `"soft"`: the share of right labels in the total weight; 1 / n_classes if the total weight is 0.

| function | computes | cost |
|---|---|---|
| `quadratic` | the binary hard game, integer weights; exact, or cut off at a rank | O(N² K² W) |
| `enumerate_neighbours` | both games, real weights, exact | O(N^K) |
| `monte_carlo` | both games, real weights, by random permutations | error ~ 1/√evaluations |
"""

from dataworth.baselines.counting import quadratic
from dataworth.baselines.enumeration import enumerate_neighbours
from dataworth.baselines.permutations import Sampled, monte_carlo, permutations_needed

__all__ = [
    "Sampled",
    "enumerate_neighbours",
    "monte_carlo",
    "permutations_needed",
    "quadratic",
]
