"""Curves against plain loops, and pictures that can be drawn."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from dataworth import DataValues, KNNShapley, TableEncoder, plots

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2))
LABELS = np.where(X[:, 0] + 0.3 * rng.normal(size=60) > 0, "yes", "no")
X_TEST = rng.normal(size=(40, 2))
TESTS = np.where(X_TEST[:, 0] > 0, "yes", "no")
BAD = rng.random(60) < 0.2


@pytest.fixture(scope="module")
def values() -> DataValues:
    return KNNShapley(n_neighbors=3).fit(X, LABELS).value()


@pytest.fixture(autouse=True)
def _canvas() -> None:
    mpl.use("Agg")


def test_detection_curve(values: DataValues) -> None:
    curve = plots.detection_curve(values, BAD)
    order = sorted(range(60), key=lambda i: values.values[i])
    for k in range(61):
        assert curve.checked[k] == k / 60
        assert curve.found[k] == pytest.approx(sum(BAD[i] for i in order[:k]) / BAD.sum())
    pairs = [
        (values.values[b] < values.values[g]) + 0.5 * (values.values[b] == values.values[g])
        for b in np.flatnonzero(BAD)
        for g in np.flatnonzero(~BAD)
    ]
    assert curve.auroc == pytest.approx(np.mean(pairs))
    assert_array_equal(plots.detection_curve(values, pd.Series(BAD)).found, curve.found)


def test_removal_curve(values: DataValues) -> None:
    shares = [0.0, 0.1, 0.25, 0.9]
    curve = plots.removal_curve(values, X, LABELS, X_TEST, TESTS, fractions=shares)
    order = sorted(range(60), key=lambda i: values.values[i])
    for i, share in enumerate(shares):
        n = round(share * 60)
        for rest, score in ((order[n:], curve.least[i]), (order[: 60 - n], curve.most[i])):
            labels = LABELS[sorted(rest)]
            model = KNeighborsClassifier(3).fit(X[sorted(rest)], labels)
            assert score == model.score(X_TEST, TESTS)
    assert curve.removed.tolist() == shares
    assert curve.least[0] == curve.most[0] == curve.random[0]
    again = plots.removal_curve(values, X, LABELS, X_TEST, TESTS, fractions=shares)
    assert_array_equal(again.random, curve.random)


def test_removal_curve_of_another_model(values: DataValues) -> None:
    model = LogisticRegression()
    data = (X, LABELS, X_TEST, TESTS)
    curve = plots.removal_curve(values, *data, model=model, fractions=[0.2])
    kept = np.sort(np.argsort(values.values)[12:])
    assert curve.least[0] == model.fit(X[kept], LABELS[kept]).score(X_TEST, TESTS)
    # Of one class nothing is learnt; it is what is said.
    alone = plots.removal_curve(values, *data, model=model, fractions=[0.99])
    assert alone.least[0] in ((TESTS == "yes").mean(), (TESTS == "no").mean())
    same = plots.removal_curve(values, *data, model=DummyClassifier(), fractions=[0.99])
    assert same.least[0] == alone.least[0]


def test_removal_curve_of_tables_and_of_a_regression(values: DataValues) -> None:
    frame, tests = pd.DataFrame(X * [1, 50]), pd.DataFrame(X_TEST * [1, 50])
    got = plots.removal_curve(values, frame, LABELS, tests, TESTS, fractions=[0.1])
    encoder = TableEncoder().fit(frame)
    kept = np.sort(np.argsort(values.values)[6:])
    model = KNeighborsClassifier(3).fit(encoder.transform(frame.iloc[kept]), LABELS[kept])
    assert got.least[0] == model.score(encoder.transform(tests), TESTS)
    # Encoded once: a column that is constant among the points left is no error.
    rare = pd.DataFrame({"a": [1.0] * 59 + [2.0]})
    ranked = plots.removal_curve(values, rare, LABELS, rare[:9], LABELS[:9], fractions=[0.9])
    assert np.isfinite(ranked.random).all()
    y, y_test = X @ [1.0, 2.0], X_TEST @ [1.0, 2.0]
    numbers = KNNShapley(game="regression").fit(X, y).value()
    curve = plots.removal_curve(
        numbers, X, y, X_TEST, y_test, model=LinearRegression(), fractions=[0.0, 0.5]
    )
    assert_allclose(curve.most, 1.0)
    assert plots.removal_curve(numbers, X, y, X_TEST, y_test, fractions=[0]).least[0] > 0.5


def test_the_grid_is_fine_at_the_bottom(values: DataValues) -> None:
    curve = plots.removal_curve(values, X, LABELS, X_TEST, TESTS)
    assert curve.removed.tolist() == list(plots.FRACTIONS)
    assert sum(0 < share <= 0.05 for share in curve.removed) >= 7
    assert curve.removed[-1] == 0.5


class Counting(KNeighborsClassifier):
    fits: ClassVar[list[int]] = []

    def fit(self, X: Any, y: Any) -> Any:
        Counting.fits.append(len(y))
        return super().fit(X, y)


class CountingEncoder(TableEncoder):
    fits: ClassVar[list[int]] = []

    def fit(self, X: Any, y: Any = None) -> Any:
        CountingEncoder.fits.append(len(X))
        return super().fit(X, y)


def test_models_get_tables_encoded_once(values: DataValues) -> None:
    sides = np.where(X[:, 0] > 0, "left side", "right side")
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(side=sides)
    tests = pd.DataFrame(X_TEST, columns=["a", "b"]).assign(side="left side")
    data = (frame, LABELS, tests, TESTS)
    shares = [0.0, 0.1, 0.2]
    Counting.fits.clear()
    got = plots.removal_curve(values, *data, model=Counting(3), fractions=shares)
    assert sorted(Counting.fits) == [48] * 5 + [54] * 5 + [60]  # all points once
    encoder = TableEncoder().fit(frame)
    encoded = (encoder.transform(frame), LABELS, encoder.transform(tests), TESTS)
    expected = plots.removal_curve(values, *encoded, model=Counting(3), fractions=shares)
    assert_array_equal(got.least, expected.least)
    CountingEncoder.fits.clear()
    piped = make_pipeline(CountingEncoder(), Counting(3))
    again = plots.removal_curve(values, *data, model=piped, fractions=shares)
    assert_array_equal(again.least, expected.least)
    assert CountingEncoder.fits == [60]


def test_the_cutoff_is_marked(values: DataValues, tmp_path: Path) -> None:
    data = (X, LABELS, X_TEST, TESTS)
    ax = drawn(values.plot_removal(*data, fractions=[0, 0.3], cutoff=7), tmp_path)
    assert_allclose(ax.lines[0].get_xdata(), [0, 100 * 7 / 60, 30])
    assert_allclose(ax.lines[-1].get_xdata(), 100 * 7 / 60)
    assert ax.lines[-1].get_label() == "cut-off: 7 points"
    for bad in (-1, 60, 1.5):
        with pytest.raises(ValueError, match="cutoff must be a whole number from 0 to 59"):
            values.plot_removal(*data, cutoff=bad)


def test_bad_calls(values: DataValues) -> None:
    for bad in (BAD[:5], BAD.astype(int)):
        with pytest.raises(ValueError, match="bad must hold True or False for each of the 60"):
            plots.detection_curve(values, bad)
    with pytest.raises(ValueError, match="bad points and good ones; got 0 bad"):
        plots.detection_curve(values, np.zeros(60, dtype=bool))
    for fractions in ([], [1.0], [-0.1], [float("nan")]):
        with pytest.raises(ValueError, match="fractions must be numbers from 0 to below 1"):
            plots.removal_curve(values, X, LABELS, X_TEST, TESTS, fractions=fractions)
    with pytest.raises(ValueError, match="X must be the 60 points valued; got 50"):
        plots.removal_curve(values, X[:50], LABELS[:50], X_TEST, TESTS)
    with pytest.raises(ValueError, match="a regression has none"):
        replace(values, params={"game": "regression"}).plot_classes()


def drawn(ax: Any, path: Path) -> Any:
    ax.figure.savefig(path / "plot.png")
    return ax


def test_pictures(values: DataValues, tmp_path: Path) -> None:
    ax = drawn(values.plot(), tmp_path)
    assert ax.get_xlabel() == "value"
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["no", "yes"]
    ax = drawn(values.plot_classes(), tmp_path)
    counts = {label: LABELS.tolist().count(label) for label in ("no", "yes")}
    assert [t.get_text() for t in ax.get_yticklabels()] == [
        f"{k}  ({n})" for k, n in counts.items()
    ]
    ax = drawn(values.plot_detection(BAD), tmp_path)
    curve = plots.detection_curve(values, BAD)
    assert_allclose(ax.lines[0].get_ydata(), 100 * curve.found)
    assert f"{curve.auroc:.3f}" in ax.get_legend().get_texts()[0].get_text()
    data = (X, LABELS, X_TEST, TESTS)
    ax = drawn(values.plot_removal(*data, model=DummyClassifier(), fractions=[0, 0.3]), tmp_path)
    assert len(ax.lines) == 6
    knn = plots.removal_curve(values, *data, fractions=[0, 0.3])
    assert_array_equal(ax.lines[0].get_ydata(), knn.least)
    assert_array_equal(ax.lines[1].get_ydata(), knn.most)
    assert values.plot_detection(BAD, ax=ax) is ax


def test_labels_that_look_like_formulas(values: DataValues, tmp_path: Path) -> None:
    odd = replace(values, labels=np.where(LABELS == "yes", "$x^$ \\frac", "<b>_{"))
    drawn(odd.plot(), tmp_path)
    drawn(odd.plot_classes(), tmp_path)
    many = replace(values, labels=np.arange(60))
    assert drawn(many.plot(), tmp_path).get_legend() is None
    numbers = replace(values, labels=np.arange(60.0), params={"game": "regression"})
    drawn(replace(numbers, values=np.zeros(60)).plot(), tmp_path)
    ax = drawn(numbers.plot(), tmp_path)
    assert ax.get_xlabel() == "value, as a share of the targets' variance"
    shown = ax.get_xlim()[1] * np.arange(60.0).var()
    assert shown == pytest.approx(values.values.max(), abs=0.1 * np.ptp(values.values))


def test_without_matplotlib() -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from dataworth import KNNShapley\n"
        "values = KNNShapley().fit([[0.0], [1.0]], [0, 1]).value()\n"
        "try: values.plot()\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (
        done.stdout.strip()
        == "a plot needs matplotlib: pip install '.[plot]' in the folder of dataworth's sources"
    )
