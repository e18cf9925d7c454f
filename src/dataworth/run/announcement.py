"""Says before a long run how long it will take, and what would make it cheaper."""

import warnings
from collections.abc import Sequence

from dataworth.run import workers
from dataworth.run.owners import OwnerPlan
from dataworth.training.representations import Representation

LONG = 60.0  # seconds that a run may take without a word


def announce(
    shown: Sequence[Representation], times: int = 1, owners: Sequence[OwnerPlan] = ()
) -> None:
    """Warn of work that will take long, and say what would make it cheaper.

    Parameters
    ----------
    shown : sequence of Representation
        What is valued.
    times : int
        How often.
    owners : sequence of OwnerPlan
        The plan for each representation, if owners are valued.
    """
    settings = shown[0].settings
    n_val = sum(fold.size for fold in shown[0].folds)
    each = sum(one.seconds for one in shown) + sum(one.seconds for one in owners)
    seconds = times * each * n_val / workers.count(settings.n_jobs)
    if seconds < LONG:
        return
    cheaper = ["a smaller n_neighbors"]
    if not settings.weighting.equal:
        cheaper.append("fewer n_bits" if settings.weighting.n_bits else "n_bits=8")
    if owners:
        cheaper.append("method='sampling'")
    elif settings.max_rank is None:
        cheaper.append("max_rank='sqrt', which gives bounds")
    if times > 1:
        cheaper.append("a smaller ruler" if times > 2 else "no ruler")
    often = "" if times == 1 else f", {times} times"
    warnings.warn(
        f"this run will take about {duration(seconds)}, as each of {n_val:,} validation points "
        f"takes {each:.2g} s{often}; it would be cheaper with {' or '.join(cheaper)}.",
        stacklevel=3,
    )


def duration(seconds: float) -> str:
    """Return a length of time in words, to two digits."""
    for size, name in ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 1.5 * size:
            return f"{float(f'{seconds / size:.2g}'):,g} {name}"
    return f"{seconds:.2g} seconds"
