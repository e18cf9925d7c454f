"""Suspects: which labels look wrong, and how many of them are.

`scores` makes one number per training point from its value and from the others' agreement with its
label. `ruler` measures on planted errors how far such scores can be trusted.
"""
