"""Copies, copies with another label, near copies between groups, and rows far from all others."""

import pickle
import re
from typing import Any

import numpy as np
import pandas
import polars
import pytest
from scipy.sparse import csr_array
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import StandardScaler

from dataworth import ForestLeaves, KNNShapley, noticing
from dataworth.files.values import ARRAYS
from dataworth.training.copies import equal_rows


def plain(rows: list[Any]) -> list[int]:
    """The first equal row of each, by comparing all of them."""
    return [next(j for j in range(i + 1) if rows[j] == rows[i]) for i in range(len(rows))]


@pytest.mark.parametrize("seed", range(20))
def test_equal_rows_of_every_kind(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 40)), int(rng.integers(1, 4))
    X = rng.integers(-1, 2, (n, d)) * rng.choice([1.0, 0.1])
    ref = plain(X.tolist())
    sparse = csr_array(X)
    sparse.data[rng.random(sparse.data.size) < 0.2] = 0.0  # stored zeros are zeros
    names = [f"f{k}" for k in range(d)]
    frame = pandas.DataFrame(X, columns=names).assign(
        word=["a" if x > 0 else None for x in X[:, 0]]
    )
    for rows in (X, X.astype("f4"), np.asfortranarray(X), X.tolist(), frame, csr_array(X)):
        found = equal_rows(rows)
        assert found is not None
        assert found.tolist() == ref
    assert equal_rows(polars.from_pandas(frame)).tolist() == ref  # type: ignore[union-attr]
    assert equal_rows(sparse).tolist() == plain(sparse.toarray().tolist())  # type: ignore[union-attr]


def test_missing_entries_negative_zeros_and_odd_things_are_equal_to_themselves() -> None:
    frame = pandas.DataFrame(
        {
            "size": [1.0, np.nan, 1.0, np.nan, 0.0, -0.0],
            "day": pandas.to_datetime(["2026-01-01", None, "2026-01-01", None, None, None]),
            "list": [[1], [2], [1], [2], None, None],
        }
    )
    assert equal_rows(frame).tolist() == [0, 1, 0, 1, 4, 4]  # type: ignore[union-attr]
    assert equal_rows([{"a": 1}, {"a": 2}, {"a": 1}]).tolist() == [0, 1, 0]  # type: ignore[union-attr]
    assert equal_rows([[1, 2], [3]]) is None
    pictures = np.zeros((3, 4, 4, 3))
    pictures[1, 2, 2, 1] = 1
    assert equal_rows(pictures).tolist() == [0, 1, 0]  # type: ignore[union-attr]


def cloud(n: int = 60, d: int = 3, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] > 0).astype(int)


def test_copies_and_their_labels_in_the_result() -> None:
    X, y = cloud()
    X = np.vstack([X, X[[4, 4, 9]]])
    y = np.concatenate([y, y[[4, 4]], 1 - y[[9]]])
    values = KNNShapley().fit(X, y).value()
    assert values.notes is not None
    assert values.notes.duplicate_of[60:].tolist() == [4, 4, 9]
    assert (values.notes.duplicate_of[:60] == -1).all()
    assert np.flatnonzero(values.notes.conflict).tolist() == [9, 62]
    assert str(values.notes) == ("3 rows are exact copies of others, 1 of them with another label.")
    frame = values.to_frame("pandas")
    assert frame["duplicate_of"][60:].tolist() == [4, 4, 9]
    assert frame["duplicate_of"][:60].isna().all()
    assert frame.index[frame["conflict"]].tolist() == [9, 62]
    assert not frame["outlier"].any()


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_of_every_library_take_the_notes(library: str) -> None:
    X, y = cloud()
    values = KNNShapley().fit(np.vstack([X, X[:1]]), np.append(y, y[0])).value()
    table = values.to_frame(library)
    first = table["duplicate_of"][60]
    assert (first.as_py() if library == "pyarrow" else first) == 0


def test_conflicts_are_for_classes() -> None:
    """Two measurements of one thing may differ; two classes of it may not."""
    X, y = cloud()
    X, y = np.vstack([X, X[:1]]), np.append(y, 1 - y[0])
    assert KNNShapley().fit(X, y).notes().conflict.sum() == 2
    assert not KNNShapley(game="regression").fit(X, y * 1.0).notes().conflict.any()


def test_ids_that_repeat_are_told_and_copies_are_named_by_them() -> None:
    X, y = cloud()
    frame = pandas.DataFrame(np.vstack([X, X[:1]]), columns=["a", "b", "c"])
    frame.index = pandas.Index([f"row {i}" for i in range(60)] + ["row 7"])
    values = KNNShapley().fit(frame, np.append(y, y[0])).value()
    assert values.notes is not None
    assert values.notes.repeated_id is not None
    assert np.flatnonzero(values.notes.repeated_id).tolist() == [7, 60]
    shown = values.to_frame()
    assert shown["duplicate_of"].iloc[60] == "row 0"
    assert shown["repeated_id"].sum() == 2
    assert "2 rows share their id with another row" in str(values.notes)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_near_copies_between_groups(scale: float) -> None:
    """Somebody else's row with an error of 1e-9 is a copy; one's own is one's own business."""
    X, y = cloud(80, 4)
    X[70] = X[3] * (1 + 1e-9)
    X[71] = X[5] * (1 + 1e-9)
    X[72] = X[6] * 1.01
    groups = np.where(np.arange(80) < 40, "Ann", "Bob")
    groups[71] = "Ann"
    notes = KNNShapley().fit(X * scale, y).notes(groups)
    assert notes.near_copy_of is not None
    assert {p: int(q) for p, q in enumerate(notes.near_copy_of) if q >= 0} == {3: 70, 70: 3}
    assert str(notes) == "2 rows are nearly the same as a row of another group."
    assert notes.reasons(70, range(80)) == ["nearly a copy of 3 in another group"]


def birds(n: int = 120) -> tuple[pandas.DataFrame, Any]:
    """Measurements of birds of 365 to 515 g, one of which lost a digit."""
    rng = np.random.default_rng(3)
    kind = np.array(["sparrow", "finch"])[rng.integers(0, 2, n)]
    weight = np.clip(rng.normal(440, 35, n) + 20 * (kind == "finch"), 365, 515).round()
    frame = pandas.DataFrame(
        {
            "weight": weight,
            "wing": rng.normal(200, 10, n).round(1),
            "bill": rng.normal(44, 4, n).round(1),
            "island": rng.choice(["north", "south"], n),
        }
    )
    frame.loc[17, "weight"] = 56
    return frame, kind


@pytest.mark.parametrize("how", [{}, {"cv": 4}])
def test_a_bird_of_56_grams_is_far_from_all_others(how: dict[str, Any]) -> None:
    frame, kind = birds()
    values = KNNShapley().fit(frame, kind).value(**how)
    assert values.notes is not None
    assert np.flatnonzero(values.notes.outlier).tolist() == [17]
    assert "1 row is far from all others: outlier." in str(values.notes)
    assert values.to_frame()["outlier"].sum() == 1
    assert values.order.tolist().index(17) > 12  # its value alone would not show it


@pytest.mark.parametrize(("d", "most"), [(1, 0.02), (2, 0.005), (4, 0.001), (30, 0.0)])
@pytest.mark.parametrize("law", ["normal", "random"])
def test_little_is_noticed_where_nothing_is_odd(law: str, d: int, most: float) -> None:
    rng = np.random.default_rng(d)
    X, groups = getattr(rng, law)(size=(2000, d)), rng.integers(0, 5, 2000)
    notes = KNNShapley().fit(X, rng.integers(0, 2, 2000)).notes(groups)
    assert notes.outlier.mean() <= most
    assert (notes.duplicate_of == -1).all()
    assert notes.near_copy_of is not None
    assert (notes.near_copy_of == -1).all()


def test_same_bits_however_it_is_computed() -> None:
    X, y = cloud(300)
    groups = np.arange(300) % 3
    ref = KNNShapley().fit(X, y).notes(groups)
    assert ref.farness is not None
    for params in ({"n_jobs": 2}, {"working_memory": 1e-9}):
        got = KNNShapley(**params).fit(X, y).notes(groups)
        for name in ("farness", "near_copy_of", "duplicate_of", "conflict"):
            np.testing.assert_array_equal(getattr(got, name), getattr(ref, name))
    sparse = KNNShapley(metric="manhattan").fit(csr_array(X), y).notes()
    dense = KNNShapley(metric="manhattan").fit(X, y).notes()
    assert sparse.farness is not None
    assert dense.farness is not None
    np.testing.assert_allclose(sparse.farness, dense.farness, rtol=1e-9)


def test_farness_by_its_definition() -> None:
    X, y = cloud(50)
    X[11] *= 20
    rows = np.sqrt(np.square(X[:, None] - X[None]).sum(axis=2))
    np.fill_diagonal(rows, np.inf)
    logs = np.log(np.sort(rows, axis=1)[:, 2])
    middle = np.median(logs)
    spread = 1.4826 * np.median(np.abs(logs - middle))
    notes = KNNShapley(n_neighbors=3).fit(X, y).notes()
    assert notes.farness is not None
    np.testing.assert_allclose(notes.farness, (logs - middle) / spread, rtol=1e-12)
    assert np.flatnonzero(notes.outlier).tolist() == [11]


def test_what_is_not_looked_for() -> None:
    X, y = cloud(40)
    fitted = KNNShapley(metric="precomputed").fit(None, y)
    assert fitted.value(np.ones((2, 40)), y[:2]).notes is None
    with pytest.raises(ValueError, match="X must be in memory to look for copies"):
        fitted.notes()
    few = KNNShapley().fit(X[:19], y[:19]).value().notes
    assert few is not None
    assert few.farness is None
    # Leaves of a forest say what is near for predictions, and equal leaves are no copies.
    leaves = KNNShapley(encoder=ForestLeaves()).fit(X, y).value(cv=2).notes
    assert leaves is not None
    assert leaves.farness is None
    assert (leaves.duplicate_of == -1).all()
    own = KNNShapley(encoder=StandardScaler()).fit(X, y)
    run = own.value(cv=2).notes  # fits no encoder that the run does not need
    assert run is not None
    assert run.farness is None
    assert own.notes().farness is not None
    needy = KNNShapley(encoder=LinearDiscriminantAnalysis()).fit(X, y).notes()
    assert needy.farness is None
    by_hand = KNNShapley(metric=lambda a, b: float(np.abs(a - b).sum())).fit(X, y)
    slow = by_hand.value(X[:2] + 1, y[:2]).notes
    assert slow is not None
    assert slow.farness is None


def test_texts() -> None:
    texts = [f"word{i} and word{i * i % 7}" for i in range(30)] + ["word3 and word2"]
    y = [i % 2 for i in range(30)] + [0]
    values = KNNShapley(encoder=TfidfVectorizer()).fit(texts, y).value()
    assert values.notes is not None
    assert values.notes.duplicate_of[-1] == 3
    assert np.flatnonzero(values.notes.conflict).tolist() == [3, 30]


def test_all_rows_equal() -> None:
    notes = KNNShapley().fit(np.ones((30, 2)), [0, 1] * 15).notes([0, 1] * 15)
    assert notes.duplicate_of.tolist() == [-1] + [0] * 29
    assert notes.conflict.all()
    assert not notes.outlier.any()
    assert notes.near_copy_of is not None
    assert (notes.near_copy_of >= 0).all()


def test_files_of_values_keep_no_notes_and_read_as_before(tmp_path: Any) -> None:
    X, y = cloud()
    values = KNNShapley().fit(X, y).value()
    values.save(tmp_path / "values.npz")
    again = type(values).load(tmp_path / "values.npz")
    assert again.notes is None
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(again, name), getattr(values, name))
    assert re.match("No copies, and no rows far", str(values.notes))


def test_distances_wait_until_somebody_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = cloud(40)
    looked: list[int] = []
    measure = noticing._distances

    def counted(*args: Any) -> Any:
        looked.append(1)
        return measure(*args)

    monkeypatch.setattr(noticing, "_distances", counted)
    values = KNNShapley().fit(X, y).value()
    assert values.notes is not None
    assert values.notes.duplicate_of.size == 40
    assert not looked
    kept = KNNShapley().fit(X, y).notes().farness
    looked.clear()
    X[5] += 100.0  # too late to matter
    travelled = pickle.loads(pickle.dumps(values))
    assert len(pickle.dumps(values.notes)) < 3000  # and so no training points
    np.testing.assert_array_equal(travelled.notes.farness, kept)
    np.testing.assert_array_equal(travelled.notes.farness, values.notes.farness)
    assert values.to_frame("polars")["outlier"].sum() == 0
    assert looked == [1]
    # Values of many points keep none of them in memory.
    many = KNNShapley().fit(*cloud(2001)).value(X[:1], y[:1])
    assert many.notes is not None
    assert many.notes.surroundings is None
