"""Histograms, curves and groups."""

from pathlib import Path

import numpy as np
import pytest

from dataworth.report import cells, summary
from tests.reports import explain, values_of, written


def test_histogram_counts_everyone_and_splits_at_zero() -> None:
    rng = np.random.default_rng(0)
    values = rng.standard_t(2, 5000)
    classes = summary.categories("label", rng.integers(0, 3, 5000).tolist())
    got = summary.histogram(values, classes)
    counts = np.array([one["counts"] for one in got["series"]])
    assert counts.sum(axis=1).tolist() == np.bincount(classes.codes).tolist()
    edges = np.array(got["edges"])
    zero = edges.tolist().index(0)
    assert counts[:, :zero].sum() == (values < 0).sum()
    assert got["below"]
    assert got["above"]
    inner = np.histogram(values, edges)[0]
    assert counts.sum(axis=0)[1:-1].tolist() == inner[1:-1].tolist()


@pytest.mark.parametrize("values", [[0.0] * 5, [3.0] * 5, [-1e-9] * 5, [1.0], [0.0] * 999 + [5.0]])
def test_histogram_of_values_without_spread(values: list[float]) -> None:
    got = summary.histogram(np.array(values), summary.categories("y", [1] * len(values)))
    assert sum(got["series"][0]["counts"]) == len(values)
    assert 1 <= len(got["edges"]) - 1 <= 2 * summary.N_STEPS


def test_curve_is_thinned_but_keeps_its_ends_and_its_peak() -> None:
    values = np.random.default_rng(1).normal(size=10_000)
    got = summary.curve(values)
    assert len(got["sizes"]) <= summary.N_CURVE + 2
    assert (got["sizes"][0], got["sums"][0], got["sizes"][-1]) == (0, 0, 10_000)
    assert got["sums"][-1] == pytest.approx(values.sum(), rel=1e-5)
    assert got["sums"][got["sizes"].index((values > 0).sum())] == max(got["sums"])


def test_groups_of_many_classes_are_the_most_frequent_and_the_rest() -> None:
    labels = [k for k in range(200) for _ in range(200 - k)]
    groups = summary.categories("label", labels)
    assert groups.names[:2] == ["0", "1"]
    assert groups.names[-1] == "189 others"
    assert len(groups.names) == summary.MOST_GROUPS
    values = np.where(np.array(labels) == 0, -1.0, 1.0)
    got = summary.breakdown(values, groups, values < 0)
    assert got["groups"][0][:3] == ["0", 200, 200]
    assert sum(group[1] for group in got["groups"]) == len(labels)
    assert [group[2] for group in got["groups"]][1:] == [0] * 11
    assert len(summary.histogram(values, groups)["series"]) == summary.MOST_COLOURS + 1


def test_low_is_what_is_low_for_its_class() -> None:
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 3, 200)
    values = rng.normal(size=200) - 10.0 * labels
    low = summary.lowest(values, summary.categories("label", labels.tolist()))
    for label in range(3):
        own = values[labels == label]
        expected = np.sort(own)[: own.size // 10]
        assert sorted(own[low[labels == label]]) == expected.tolist()
    assert not summary.lowest(np.zeros(9), summary.categories("label", [1] * 9)).any()


def test_numbers_are_binned_and_missing_ones_are_a_group() -> None:
    column = cells.column("x", [None, *range(60), float("nan")])
    groups = summary.by_column(column)
    assert groups.names == ["0 to 9", *(f"{k}0 to {k}9" for k in range(1, 6)), "missing"]
    assert np.bincount(groups.codes).tolist() == [10] * 6 + [2]
    few = summary.by_column(cells.column("x", [1.0, 2.0, None]))
    assert sorted(few.names) == ["1", "2", "missing"]
    lopsided = summary.by_column(cells.column("x", [0] * 100 + list(range(1, 20))))
    assert lopsided.names[0] == "0"
    assert np.bincount(lopsided.codes).tolist()[0] == 100


def test_regression_targets_are_binned(tmp_path: Path) -> None:
    values = values_of(np.linspace(-1, 1, 30).tolist(), np.arange(30) / 4, game="regression")
    why = explain(values, 0, 1.23456789, near=[1])
    data = written(tmp_path / "r.html", values, explanations=[why])
    assert data["breakdowns"][0]["name"] == "target"
    assert len(data["breakdowns"][0]["groups"]) == summary.N_BINS
    assert data["classes"] == []
    assert data["rows"][0]["s"] == "1.23456789"
    assert data["data"] == "30 labels"
