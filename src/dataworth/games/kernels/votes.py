"""The vote of the nearest points on a validation point, and what it is worth in each game.

The voters are the first `voters` points of a row. A row of `order` and `weights` belongs to each
validation point; its first `sizes` entries count. `worth` receives one utility per row, and `votes`
what the voters say. Cost: O(voters + C) for each row.
"""

import numpy as np

from dataworth.arrays import Array, Floats, Ints
from dataworth.compiled import compiled


@compiled()
def tally(
    codes: Ints, order: Ints, weights: Array, sizes: Ints, voters: int, votes: Floats
) -> None:
    """Add up the weights of the voters by class; `votes` has a column for each class."""
    for r in range(sizes.size):
        votes[r, :] = 0.0
        for i in range(min(sizes[r], voters)):
            votes[r, codes[order[r, i]]] += weights[r, i]


@compiled()
def share(votes: Floats, labels: Ints, empty: float, worth: Floats) -> None:
    """Return the share of the label in the weight of the voters, or `empty` without weight."""
    for r in range(labels.size):
        total = 0.0
        for c in range(votes.shape[1]):
            total += votes[r, c]
        worth[r] = votes[r, labels[r]] / total if total > 0.0 else empty


@compiled()
def win(votes: Floats, labels: Ints, tie: float, worth: Floats) -> None:
    """Return 1 if no class has as much weight as the label, `tie` if the best has, else 0."""
    for r in range(labels.size):
        own = votes[r, labels[r]]
        worth[r] = 1.0
        for c in range(votes.shape[1]):
            if c != labels[r] and votes[r, c] >= own:
                worth[r] = min(worth[r], tie if votes[r, c] == own else 0.0)


@compiled()
def pair_wins(
    codes: Ints,
    n_classes: int,
    order: Ints,
    weights: Array,
    sizes: Ints,
    labels: Ints,
    voters: int,
    tie: float,
    worth: Floats,
) -> None:
    """Return the mean over the rivals of `win` among the first voters of the label and the rival.

    Cost: O(n + C voters) for a row of n points.
    """
    seen, lead = np.empty(n_classes, np.int64), np.empty(n_classes)
    for r in range(labels.size):
        label, own = labels[r], 0
        seen[:] = 0
        lead[:] = 0.0
        for i in range(sizes[r]):
            c, weight = codes[order[r, i]], float(weights[r, i])
            if c != label:
                seen[c] += 1
                if own + seen[c] <= voters:
                    lead[c] -= weight
                continue
            own += 1
            for rival in range(n_classes):
                if own + seen[rival] <= voters:
                    lead[rival] += weight
            if own == voters:
                break  # nobody behind is among the first voters of any pair
        won = 0.0
        for rival in range(n_classes):
            if rival != label and lead[rival] >= 0.0:
                won += tie if lead[rival] == 0.0 else 1.0
        worth[r] = won / (n_classes - 1) if n_classes > 1 else 1.0


@compiled()
def squared_error(
    targets: Floats,
    order: Ints,
    weights: Array,
    sizes: Ints,
    labels: Floats,
    voters: int,
    nothing: Floats,
    worth: Floats,
    votes: Floats,
) -> None:
    """Return minus the squared error of the weighted mean.

    `nothing` holds the error for each row if the voters have no weight. `votes` receives the
    weighted sum of the targets and the weight.
    """
    for r in range(labels.size):
        total = error = value = 0.0
        for i in range(min(sizes[r], voters)):
            weight, target = weights[r, i], targets[order[r, i]]
            total += weight
            value += weight * target
            error += weight * (target - labels[r])
        error = error / total if total > 0.0 else nothing[r]
        worth[r] = -(error * error)
        votes[r, 0] = value
        votes[r, 1] = total
