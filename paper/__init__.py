"""Every table and figure of the paper (arXiv 2401.11103), run again: `python -m paper`, in a clone.

`command` reads the command line, and `experiments` lists the experiments. Each of them goes the
same way: `datasets` (where data come from) -> `protocol` (splits, planted errors) -> `methods`
(values) -> `store` (finished units, so that a killed run goes on) -> `writing` and `plots` (result
files). `paper` holds the figures that the paper prints, and `sampling` a sampler that only a
benchmark uses.
"""
