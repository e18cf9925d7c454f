"""scikit-learn's own checks of what an estimator must do."""

from typing import Any

import pytest
from sklearn.utils import estimator_checks

from dataworth import ForestLeaves, KNNShapley, LinearScores, OutOfBagForest, TableEncoder

FORESTS = [ForestLeaves(n_estimators=5), OutOfBagForest(n_estimators=5)]
ESTIMATORS = [*FORESTS, LinearScores(), KNNShapley(), TableEncoder()]
TRANSFORMERS = [estimator for estimator in ESTIMATORS if hasattr(estimator, "transform")]


@estimator_checks.parametrize_with_checks(ESTIMATORS)  # type: ignore[untyped-decorator]
def test_an_estimator_does_what_scikit_learn_expects(estimator: Any, check: Any) -> None:
    check(estimator)


# scikit-learn runs these on its own transformers only.
@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=lambda t: type(t).__name__)
@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_get_feature_names_out_error,
        estimator_checks.check_transformer_get_feature_names_out,
        estimator_checks.check_transformer_get_feature_names_out_pandas,
        estimator_checks.check_set_output_transform,
    ],
)
def test_features_have_names(transformer: Any, check: Any) -> None:
    check(type(transformer).__name__, transformer)


# Not for TableEncoder, nor for LinearScores, which has one: it finds the columns of a data frame by
# name, in any order, and takes no array where it was fitted on a data frame. Here the checks mix
# the two, which makes scikit-learn warn.
@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")
@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_dataframe_column_names_consistency,
        estimator_checks.check_set_output_transform_pandas,
        estimator_checks.check_set_output_transform_polars,
    ],
)
@pytest.mark.parametrize("forest", FORESTS, ids=lambda f: type(f).__name__)
def test_data_frames_go_by_the_order_of_their_columns(check: Any, forest: Any) -> None:
    check(type(forest).__name__, forest)
