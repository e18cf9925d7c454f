"""The experiments by name. Their modules are imported when they run, not before."""

from importlib import import_module
from typing import NamedTuple

from paper.run import Run


class Experiment(NamedTuple):
    """An experiment.

    Attributes
    ----------
    about : str
        What it measures, in one line.
    minutes : float
        How long it takes, measured with one thread on two cores shared with others.
    module, function : str
        The module of this package and its function that run the experiment.
    paper_setting : bool
        Whether it can also run in the setting that the paper's figures imply.
    seeds : bool
        Whether the number of seeds can be chosen.
    """

    about: str
    minutes: float
    module: str
    function: str
    paper_setting: bool = False
    seeds: bool = True


EXPERIMENTS = {
    "mislabel": Experiment(
        "finding 10 % flipped labels, 13 data sets", 5, "detection", "detect", True
    ),
    "noisy": Experiment(
        "finding 10 % points with noisy features, 13 data sets", 7, "detection", "detect", True
    ),
    "continuous": Experiment(
        "real against rounded weights at K = 2, both tasks", 16, "continuous", "compare", True
    ),
    "runtime": Experiment("seconds against N, K = 5, 3 bits", 8, "runtime", "plain", seeds=False),
    "runtime-k": Experiment(
        "seconds against N for K = 3, 5, 10", 25, "runtime", "by_k", seeds=False
    ),
    "runtime-bits": Experiment(
        "seconds against N for 3, 5, 7 bits", 25, "runtime", "by_bits", seeds=False
    ),
    "vary-k": Experiment("AUROC against K, both tasks", 8, "sweeps", "by_k"),
    "vary-bits": Experiment("AUROC against bits, both tasks", 10, "sweeps", "by_bits"),
    "vary-rank": Experiment("AUROC against the error bound, both tasks", 3, "sweeps", "by_rank"),
    "discretisation": Experiment("values at b and b + 1 bits", 2, "shapes", "discretisation"),
    "distribution": Experiment(
        "histograms of values at several N", 1, "shapes", "distribution", seeds=False
    ),
    "qualitative": Experiment(
        "50 points, 5 mislabelled, one by one", 1, "shapes", "qualitative", seeds=False
    ),
    "selection": Experiment(
        "models trained on the most valuable points", 25, "selection", "select"
    ),
}


def reproduce(run: Run) -> None:
    """Run an experiment and write its result files to `run.out`."""
    experiment = EXPERIMENTS[run.name]
    if run.paper_setting and not experiment.paper_setting:
        raise ValueError(f"--paper-setting is not for {run.name!r}.")
    if run.seeds is not None and not experiment.seeds:
        raise ValueError(f"--seeds is not for {run.name!r}.")
    module = import_module(f"paper.{experiment.module}")
    getattr(module, experiment.function)(run)
