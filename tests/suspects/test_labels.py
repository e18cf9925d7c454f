"""Suspects that sit in one label."""

import numpy as np

from dataworth import KNNShapley
from dataworth.suspects.labels import one_sided


def test_said_only_where_one_label_is_singled_out() -> None:
    labels = np.array([1] * 40 + [0] * 160)
    nearly = np.concatenate([np.arange(30), [50]])
    assert one_sided(labels, nearly) == (
        "30 of the 31 suspects have the label 1, 75 % of all rows that have it: look at them "
        "before you drop any."
    )
    assert one_sided(labels, np.arange(25, 60)) == ""  # of both
    assert one_sided(labels, np.arange(9)) == ""  # of few
    assert one_sided(labels, np.arange(45, 200)) == ""  # nearly all rows have the other


def test_values_say_it() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [170, 30])
    X = rng.normal(size=(200, 2))
    X[185:] += 6.0  # half of the rare label are among the others
    values = KNNShapley().fit(X, y).value(ruler=2)
    assert values.ruler is not None
    assert values.ruler.cutoff is not None
    suspects = values.suspects_first[: values.ruler.cutoff]
    assert values.one_sided == one_sided(values.labels, suspects) != ""
    assert values.one_sided in values.facts()
    assert KNNShapley().fit(X, y).value().one_sided == ""
