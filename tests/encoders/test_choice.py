"""What the package asks about an encoder."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.ensemble import VotingClassifier
from sklearn.manifold import Isomap
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from dataworth import ForestLeaves, OutOfBagForest, TableEncoder
from dataworth.encoders.choice import (
    encoder_for,
    encoder_of,
    fitted_without_labels,
    own_metric,
    weighs,
)
from dataworth.errors import InputError


class Angles(BaseEstimator):
    """Names its metric after it has been made."""

    def __init__(self) -> None:
        self.metric = "cosine"


@pytest.mark.parametrize("table", [pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]})])
def test_data_frames_get_an_encoder_of_tables(table: Any) -> None:
    assert isinstance(encoder_for(table), TableEncoder)
    assert isinstance(encoder_of("auto", table), TableEncoder)
    assert encoder_of(None, table) is None


def test_arrays_are_used_as_they_are() -> None:
    assert encoder_for(np.eye(2)) is None
    assert encoder_of("auto", [[1.0]]) is None
    given = PCA()
    assert encoder_of(given, np.eye(2)) is given


@pytest.mark.parametrize(
    ("encoder", "metric"),
    [
        (ForestLeaves(), "hamming"),
        (make_pipeline(TableEncoder(), ForestLeaves()), "hamming"),
        (make_pipeline(TableEncoder(), make_pipeline(ForestLeaves(), "passthrough")), "hamming"),
        (make_pipeline(ForestLeaves(), StandardScaler()), None),
        (Pipeline([("nothing", "passthrough")]), None),
        (Angles(), "cosine"),
        (TableEncoder(), None),
        (Isomap(metric="manhattan"), None),
        (KNeighborsTransformer(metric="cosine"), None),
        ("auto", None),
        (None, None),
    ],
)
def test_the_metric_of_an_encoder(encoder: Any, metric: str | None) -> None:
    assert own_metric(encoder) == metric


class Broken(BaseEstimator):
    """Cannot be fitted without labels, for a reason of its own."""

    def fit(self, X: Any, y: Any = None) -> "Broken":
        if y is None:
            raise RuntimeError("disk full")
        return self


def test_why_an_encoder_could_not_be_fitted_is_kept() -> None:
    with pytest.raises(InputError, match="encoder must not learn from labels") as caught:
        fitted_without_labels(Broken(), [[0.0], [1.0]], [0, 1])
    assert str(caught.value.__cause__) == "disk full"


def test_who_weighs_points_itself() -> None:
    assert weighs(OutOfBagForest())
    voting = VotingClassifier([("a", StandardScaler())], weights=[1.0])
    for other in (None, "auto", ForestLeaves(), make_pipeline(PCA(), ForestLeaves()), voting):
        assert not weighs(other)
    with pytest.raises(InputError, match="a Pipeline hides the weights of OutOfBagForest"):
        weighs(make_pipeline(PCA(), OutOfBagForest()))
