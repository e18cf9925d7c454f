"""A sampler of ours for one validation point, to measure permutation sampling against.

The library has no use for it, since its kernels are exact. `benchmarks/sampling.py` compares it
with `dataworth.baselines.monte_carlo`. The way through is `strata` (which sets there are, and what
each of them tells about every point) -> `control` (predicted utilities, whose share in every value
is known without sampling) -> `stratified`, which plans the sample and puts the estimate together.
"""

from paper.sampling.stratified import stratified_monte_carlo

__all__ = ["stratified_monte_carlo"]
