"""Every table and figure of the paper (arXiv 2401.11103), run again.

`command` is what `dataworth reproduce` calls and `experiments` lists what there is. The way
through an experiment is one way: `protocol` (splits, planted errors) -> `methods` (values) ->
`store` (finished units, so that a killed run goes on) -> `writing` and `plots` (the result files).
`paper` holds the figures that the paper prints.
"""
