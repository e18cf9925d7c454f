"""Weights: one row of neighbours in, ranked and weighted neighbours out.

`functions` lists the weight functions by name, `weighting` turns distances into weights, and
`ranked` is what it hands on to the games.
"""
