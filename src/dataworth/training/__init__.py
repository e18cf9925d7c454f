"""Training: the points that are valued, and the folds of a run.

`training_set` brings points, targets and encoder together, and `folds` says which validation points
judge which training points.
"""
