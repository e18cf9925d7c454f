"""The evaluator for OpenDataVal; runs where that is installed (`make test-peers`)."""

from typing import Any

import numpy as np
import pytest

from dataworth import KNNShapley

pytest.importorskip("opendataval", reason="opendataval is not installed; make test-peers has it")

import torch
from opendataval.dataloader import DataFetcher, mix_labels
from opendataval.dataval import DataEvaluator
from opendataval.experiment import ExperimentMediator, noisy_detection
from opendataval.model import ClassifierSkLearnWrapper
from sklearn.linear_model import LogisticRegression

from dataworth.integrations.opendataval import Dataworth
from tests.peers.pages import example


def fetcher(n_classes: int = 3) -> DataFetcher:
    rng = np.random.default_rng(0)
    labels = np.arange(240) % n_classes
    x = (rng.normal(size=(240, 2)) + 4.0 * labels[:, None]).astype(np.float32)
    y = np.eye(n_classes, dtype=np.float32)[labels]
    made = DataFetcher.from_data_splits(
        x[:150], y[:150], x[150:200], y[150:200], x[200:], y[200:], one_hot=True, random_state=0
    )
    return made.noisify(mix_labels, noise_rate=0.1)


def test_values_are_ours() -> None:
    data = fetcher()
    got = Dataworth(KNNShapley(n_neighbors=3, weights="uniform")).train(data).data_values
    x, y, x_valid, y_valid, *_ = (np.asarray(part) for part in data.datapoints)
    ours = KNNShapley(n_neighbors=3, weights="uniform").fit(x, y.argmax(axis=1))
    ref = ours.value(x_valid, y_valid.argmax(axis=1)).values
    np.testing.assert_array_equal(got, ref)
    alone = Dataworth(leave_one_out=True).train(data).data_values
    ref = KNNShapley().fit(x, y.argmax(axis=1)).value().values
    np.testing.assert_array_equal(alone, ref)


def test_trained_again_on_other_data() -> None:
    evaluator, data = Dataworth(), fetcher()
    first = evaluator.train(data).data_values
    x, y, x_valid, y_valid, *_ = data.datapoints
    evaluator.input_data(x[:40], y[:40], x_valid, y_valid)
    with pytest.raises(ValueError, match="train_data_values must be called before"):
        evaluator.evaluate_data_values()
    again = evaluator.train_data_values().data_values
    assert first.shape == (150,)
    np.testing.assert_array_equal(again, evaluator.evaluate_data_values())
    assert again.shape == (40,)


def test_in_an_experiment() -> None:
    data = fetcher()
    model = ClassifierSkLearnWrapper(LogisticRegression, 3)
    mediator = ExperimentMediator(data, model, raises_error=True)
    evaluators = [Dataworth(), Dataworth(leave_one_out=True)]
    mediator.compute_data_values(data_evaluators=evaluators)
    table = mediator.evaluate(noisy_detection)
    assert table["kmeans_f1"].astype(float).min() > 0.9
    assert DataEvaluator.Evaluators["dataworth"] is Dataworth


def test_the_example_of_the_page() -> None:
    names: dict[str, Any] = {}
    exec(example("import numpy"), names)
    assert len(names["evaluators"][0].result.worst(20)) == 20
    planted = set(names["fetcher"].noisy_train_indices)
    assert len(planted & set(names["evaluators"][1].result.worst(30)["index"])) > 15


def test_regression() -> None:
    x = torch.linspace(-1, 1, 40)[:, None]
    y = x.clone()
    y[5] += 5.0
    evaluator = Dataworth(KNNShapley(game="regression")).input_data(x, y, x, x)
    assert evaluator.train_data_values().evaluate_data_values().argmin() == 5


def test_images_are_flattened() -> None:
    x = torch.rand(20, 2, 3, generator=torch.Generator().manual_seed(0))
    y = torch.nn.functional.one_hot(torch.arange(20) % 2).float()
    got = Dataworth().input_data(x, y, x[:4], y[:4]).train_data_values().data_values
    flat = Dataworth().input_data(x.reshape(20, 6), y, x[:4].reshape(4, 6), y[:4])
    np.testing.assert_array_equal(got, flat.train_data_values().data_values)


def test_what_does_not_fit_is_refused() -> None:
    x, soft = torch.arange(12.0).reshape(6, 2), torch.full((6, 2), 0.5)
    with pytest.raises(ValueError, match="y_train must hold one-hot rows"):
        Dataworth().input_data(x, soft, x, soft).train_data_values()
    regression = Dataworth(KNNShapley(game="regression"))
    with pytest.raises(ValueError, match="y_train must hold one number a row"):
        regression.input_data(x, soft, x, soft).train_data_values()
    with pytest.raises(TypeError, match="x_train must be a tensor or array; got list"):
        Dataworth().input_data([1, 2], soft, x, soft).train_data_values()
    with pytest.raises(TypeError, match="must be a dataworth.KNNShapley or None; got builtins.str"):
        Dataworth("soft")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="train_data_values must be called before"):
        Dataworth().evaluate_data_values()
    with pytest.raises(ValueError, match="input_data must be called before"):
        Dataworth().train_data_values()
