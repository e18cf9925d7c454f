"""Weights: they turn a row of neighbours into ranked and weighted neighbours.

`functions` lists the weight functions by name, `weighting` turns distances into weights, and
`ranked` defines what is handed on to the games.
"""
