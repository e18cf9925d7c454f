"""Legs: the parts of a run, one for each training set that its validation points see."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv

from dataworth import parameters, plans
from dataworth.encoders.choice import is_supervised
from dataworth.inputs import frames
from dataworth.neighbors.blocks import Blocks, Picked
from dataworth.neighbors.dask import ShardedPoints
from dataworth.run.job import Leg


def of(v: Any, X_val: Any, y_val: Any, cv: Any) -> tuple[list[Leg], list[Any]]:
    """The parts of a run that share a training set, and the folds where there are any."""
    parameters.check_partial(v, plans.is_partial(v, X_val))
    if cv is None and (X_val is not None or y_val is not None):
        queries = v._check_queries(X_val)
        targets = v._check_val_targets(y_val, queries.shape[0])
        whole = (queries, targets, None)
        return [Leg(queries.shape[0], lambda: (plans.task(v, queries), *whole), None)], []
    if v._points is None:
        raise ValueError("X_val must hold distances with metric='precomputed'; got none.")
    if cv is None:
        if v._targets.size < 2:
            raise ValueError("X must hold at least two points to value them without X_val.")
        if hasattr(v.encoder, "fit") and is_supervised(v.encoder, v._raw):
            raise ValueError(
                "encoder must not learn from labels in leave-one-out, where it has seen the "
                "label of each validation point; use value(cv=5)."
            )
        everyone = np.arange(v._targets.size)
        opened = (v._points, v._targets, everyone)
        return [Leg(everyone.size, lambda: (plans.task(v, None), *opened), None, everyone)], []
    if X_val is not None or y_val is not None:
        raise ValueError("cv must be None where X_val and y_val are given.")
    if isinstance(v._points, ShardedPoints):
        raise ValueError("cv must be None where X is a Dask array.")
    labels = v._labels()
    splitter = check_cv(cv, labels, classifier=v.game != "regression")
    like = labels if isinstance(v._points, Blocks) else v._raw
    folds = [(np.asarray(train), np.asarray(val)) for train, val in splitter.split(like, labels)]
    for train, val in folds:
        if train.dtype.kind not in "iu" or val.dtype.kind not in "iu":
            raise TypeError("cv must give the positions of points; got something else.")
        missing = np.setdiff1d(labels[val], labels[train])
        if v.game != "regression" and missing.size:
            raise ValueError(
                "cv must leave every class in each training part; "
                f"{missing.tolist()[0]!r} is missing."
            )
    return [Leg(len(val), _fold(v, train, val), train, val) for train, val in folds], folds


def _fold(v: Any, train: NDArray[np.int64], val: NDArray[np.int64]) -> Callable[[], Any]:
    """A leg of cross-valuation; nothing is fitted or read before it is opened.

    Where nothing is learned from the points they stay where they are, and the distances to
    those of the training part are picked.
    """

    def opened() -> Any:
        if not hasattr(v, "encoder_") and v._index is None:
            targets = v._targets[val]
            if v.game != "regression":  # classes are numbered among those of the training part
                targets = np.searchsorted(np.unique(v._targets[train]), targets)
            return plans.task(v, None, train), Picked(v._points, val), targets, None
        labels = v._labels()
        part = clone(v).fit(frames.take(v._raw, train), labels[train])
        queries = part._check_queries(frames.take(v._raw, val))
        targets = part._check_val_targets(labels[val], len(val))
        return plans.task(part, queries), queries, targets, None

    return opened
