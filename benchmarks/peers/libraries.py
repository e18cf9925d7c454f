"""How each library is called, on arrays in memory, in an environment where it is installed.

A function here takes the data and what it is to do, prepares what the library wants to be given,
and returns the call that is measured.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Data = dict[str, NDArray[Any]]
Call = Callable[[], Values]


def dataworth(
    data: Data,
    *,
    cv: int | None = None,
    alone: bool | int = False,
    forest: bool = False,
    **params: Any,
) -> Call:
    """Ours; `alone` is without the validation points, or by that many training points."""
    from dataworth import ForestLeaves, KNNShapley

    encoder = ForestLeaves() if forest else None
    valuator = KNNShapley(encoder=encoder, n_jobs=1, progress=False, **params)

    def call() -> Values:
        fitted = valuator.fit(data["X_train"], data["y_train"])
        if alone is True or cv is not None:
            return fitted.value(cv=cv).values
        if alone:
            return fitted.value(data["X_train"][:alone], data["y_train"][:alone]).values
        return fitted.value(data["X_val"], data["y_val"]).values

    return call


def recipe(data: Data, *, balanced: bool = False) -> Call:
    """Our recipe for label errors without a validation set, ranked by its score."""
    from dataworth import KNNShapley, LinearScores, OutOfBagForest

    valuator = KNNShapley(
        encoder=["auto", OutOfBagForest(), LinearScores()],
        n_neighbors=10,
        class_weight="balanced" if balanced else None,
        n_jobs=1,
        progress=False,
    )
    return lambda: valuator.fit(data["X_train"], data["y_train"]).value().score


def shapiq(data: Data, *, n_neighbors: int, n_bits: int | None = None) -> Call:
    """The mean over the validation points of shapiq's values; weighted where there are bits."""
    from shapiq.explainer.nn import KNNExplainer, WeightedKNNExplainer
    from sklearn.neighbors import KNeighborsClassifier

    X_val, y_val = data["X_val"], data["y_val"]

    def call() -> Values:
        weights = "uniform" if n_bits is None else "distance"
        model = KNeighborsClassifier(n_neighbors, weights=weights)
        model.fit(data["X_train"], data["y_train"])
        total = np.zeros(len(data["y_train"]))
        for label in np.unique(y_val):
            at = int(np.searchsorted(model.classes_, label))
            if n_bits is None:
                explainer = KNNExplainer(model, class_index=at)
            else:
                explainer = WeightedKNNExplainer(model, class_index=at, n_bits=n_bits)
            for x in X_val[y_val == label]:
                total += explainer.explain(x).get_n_order_values(1)
        return total / len(y_val)

    return call


def pydvl(data: Data, *, n_neighbors: int) -> Call:
    """Unweighted values of pyDVL."""
    from pydvl.valuation import Dataset, KNNShapleyValuation
    from sklearn.neighbors import KNeighborsClassifier

    train = Dataset(data["X_train"], data["y_train"])
    test = Dataset(data["X_val"], data["y_val"])

    def call() -> Values:
        model = KNeighborsClassifier(n_neighbors)
        valuation = KNNShapleyValuation(model, test, progress=False)
        result = valuation.fit(train).result
        return np.asarray(result.values)[np.argsort(result.indices)]

    return call


def cleanlab(data: Data, *, n_neighbors: int, metric: str | None = None) -> Call:
    """The training set valued on itself by cleanlab; its metric is cosine from 4 features on."""
    from cleanlab.data_valuation import data_shapley_knn

    X, y = data["X_train"], data["y_train"]
    return lambda: data_shapley_knn(y, features=X, metric=metric, k=n_neighbors)


def self_confidence(data: Data, *, model: str) -> Call:
    """cleanlab's label quality: the probability of the given label, by five-fold prediction."""
    from cleanlab.rank import get_label_quality_scores
    from sklearn.ensemble import (
        ExtraTreesClassifier,
        HistGradientBoostingClassifier,
        RandomForestClassifier,
    )
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.neighbors import KNeighborsClassifier

    models = {
        "knn": KNeighborsClassifier(10),
        "logistic": LogisticRegression(max_iter=1000),
        # The models of its tutorials on tables, as they stand there.
        "extra trees": ExtraTreesClassifier(random_state=0),
        "boosting": HistGradientBoostingClassifier(random_state=0),
        "forest": RandomForestClassifier(500, random_state=0),
        # The trees of ForestLeaves.
        "stout forest": RandomForestClassifier(200, min_samples_leaf=5, random_state=0),
    }
    X, y = data["X_train"], data["y_train"]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)

    def call() -> Values:
        chances = cross_val_predict(models[model], X, y, cv=folds, method="predict_proba")
        scores = get_label_quality_scores(y, chances, method="self_confidence")
        return np.asarray(scores, np.float64)

    return call


def out_of_bag(data: Data, *, min_samples_leaf: int) -> Call:
    """The chance of the given label by a random forest, from the trees that did not see it."""
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(
        500, min_samples_leaf=min_samples_leaf, oob_score=True, random_state=0
    )
    X, y = data["X_train"], data["y_train"]

    def call() -> Values:
        chances = forest.fit(X, y).oob_decision_function_
        return np.asarray(chances[np.arange(len(y)), np.searchsorted(forest.classes_, y)])

    return call


def label_issues(data: Data) -> Call:
    """How many labels cleanlab takes for wrong: its estimate, and how many it would list."""
    from cleanlab.count import num_label_issues
    from cleanlab.filter import find_label_issues
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    X, y = data["X_train"], data["y_train"]
    forest = RandomForestClassifier(200, min_samples_leaf=5, random_state=0)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)

    def call() -> Values:
        chances = cross_val_predict(forest, X, y, cv=folds, method="predict_proba")
        listed = find_label_issues(y, chances, n_jobs=1)
        return np.array([num_label_issues(y, chances), listed.sum()], np.float64)

    return call


def opendataval(data: Data, *, n_neighbors: int) -> Call:
    """Unweighted values of OpenDataVal, which takes float32 and labels as one-hot rows."""
    from opendataval.dataval import KNNShapley

    tensors = _tensors(data)
    # Larger batches than its own 32 are faster.
    return lambda: _evaluated(KNNShapley(n_neighbors, batch_size=1000).input_data(*tensors))


def data_oob(data: Data, *, n_models: int) -> Call:
    """Data-OOB of bagged decision trees, by OpenDataVal."""
    from opendataval.dataval import DataOob
    from opendataval.metrics import accuracy
    from opendataval.model import ClassifierSkLearnWrapper
    from sklearn.tree import DecisionTreeClassifier

    tensors = _tensors(data)
    n_classes = tensors[1].shape[1]

    def call() -> Values:
        tree = ClassifierSkLearnWrapper(DecisionTreeClassifier, n_classes, random_state=0)
        evaluator = DataOob(num_models=n_models, random_state=0).input_data(*tensors)
        return _evaluated(evaluator.input_model_metric(tree, accuracy))

    return call


def _tensors(data: Data) -> tuple[Any, ...]:
    import torch

    classes = np.unique(data["y_train"])

    def one_hot(y: NDArray[Any]) -> Any:
        return torch.from_numpy((y[:, None] == classes).astype(np.float32))

    def features(X: NDArray[Any]) -> Any:
        return torch.from_numpy(X.astype(np.float32))

    return (
        features(data["X_train"]),
        one_hot(data["y_train"]),
        features(data["X_val"]),
        one_hot(data["y_val"]),
    )


def _evaluated(evaluator: Any) -> Values:
    evaluator.train_data_values()
    return np.asarray(evaluator.evaluate_data_values(), np.float64)


CALLS: dict[str, Callable[..., Call]] = {
    "dataworth": dataworth,
    "recipe": recipe,
    "out_of_bag": out_of_bag,
    "shapiq": shapiq,
    "pydvl": pydvl,
    "cleanlab": cleanlab,
    "self_confidence": self_confidence,
    "label_issues": label_issues,
    "opendataval": opendataval,
    "data_oob": data_oob,
}
