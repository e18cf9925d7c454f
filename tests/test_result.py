import copy
import pickle
import zipfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

from dataworth import DataValues, Ruler
from dataworth.errors import InputError
from dataworth.files import values as files
from dataworth.files.values import ARRAYS
from dataworth.suspects.scores import score


class _Clear(Exception):
    """The error that damage is meant to raise."""


@pytest.fixture
def values() -> DataValues:
    return DataValues(
        values=np.array([0.5, -1.0, 0.5, 0.0, -2.0]),
        lower=np.array([0.4, -1.0, 0.5, 0.0, -2.0]),
        upper=np.array([0.5, -0.9, 0.5, 0.0, -2.0]),
        index=np.arange(5),
        labels=np.array(["a", "b", "é<b>", "a", "b"]),
        params={"n_neighbors": 5, "weights": "rbf"},
        n_validation=3,
        weight_error=1e-10,
        version="0.1.0",
    )


def test_worst_and_best(values: DataValues) -> None:
    assert values.worst(2).tolist() == [(4, -2.0, "b"), (1, -1.0, "b")]
    assert values.best(3)["index"].tolist() == [0, 2, 3]
    assert len(values.worst(99)) == len(values) == 5
    with pytest.raises(ValueError, match="n must be a whole number of at least 0; got -1"):
        values.worst(-1)
    said = "5 points, judged by 3 validation points; values from -2 to 0.5"
    assert repr(values) == f"DataValues({said})"


def test_a_notebook_shows_the_worst_points_as_text(values: DataValues) -> None:
    labels = np.array(["<script>alert(1)</script>", "b", "c", "d", "&amp;"])
    page = replace(values, labels=labels, values=values.values - 1.0)._repr_html_()
    assert "5 points, judged by 3 validation points; values from -3 to -0.5" in page
    assert page.count("<tr>") == 6
    assert "<td>4</td><td>-3</td><td>&amp;amp;</td>" in page
    assert "&lt;script&gt;" in page
    assert "<script" not in page
    assert page.count("<rect") == 4  # of five values two are equal
    assert "negative" not in page
    one = replace(values, **{n: getattr(values, n)[:1] for n in files.ARRAYS})
    assert one._repr_html_().count("<rect") == 1


def test_a_notebook_writes_targets_as_people_do(values: DataValues) -> None:
    targets = np.linspace(1e6, 3.37e6, len(values))
    numbers = replace(values, labels=targets, params={"game": "regression"})
    page = replace(numbers, agreement=values.values, suggested=targets / 8)._repr_html_()
    assert "<th>target</th>" in page
    assert "<td>3,370,000</td>" in page
    assert "<td>421,250</td>" in page


def test_numbers_of_a_result(values: DataValues) -> None:
    np.testing.assert_array_equal(np.asarray(values), values.values)
    assert np.asarray(values, np.float32).dtype == np.float32
    assert np.array(values).flags.writeable
    assert np.mean(values) == values.values.mean()


def judged(values: DataValues, ruler: Ruler | None = None) -> DataValues:
    """The same, as if training points had judged each other."""
    agreement = np.array([0.5, 0.0, 0.5, np.nan, 0.25])
    suggested = np.array(["a", "a", "é<b>", "a", "b"])
    return replace(values, agreement=agreement, suggested=suggested, ruler=ruler)


def test_suspects_come_by_value_and_agreement(values: DataValues) -> None:
    known = judged(values)
    got = known.suspects(3)
    assert got.dtype.names == ("index", "score", "label", "suggested", "value", "agreement")
    np.testing.assert_array_equal(known.score, score(values.values, known.agreement))
    assert known.suspects_first.tolist() == [1, 4, 3, 0, 2]  # ties by position
    assert got["index"].tolist() == [1, 4, 3]
    assert got["suggested"].tolist() == ["a", "b", "a"]
    assert got["value"].tolist() == [-1.0, -2.0, 0.0]
    np.testing.assert_array_equal(got["score"], known.score[[1, 4, 3]])
    np.testing.assert_array_equal(got["agreement"], [0.0, 0.25, np.nan])
    np.testing.assert_array_equal(known.order, values.order)  # the value stays the value
    assert len(known.suspects(99)) == 5


def test_suspects_without_agreement_come_by_value(values: DataValues) -> None:
    assert values.suspects(5).dtype.names == ("index", "score", "label", "value")
    tiny = replace(values, values=1.0 + np.array([4, 3, 2, 1, 0]) * 2.0**-52)
    assert tiny.suspects(5)["index"].tolist() == [4, 3, 2, 1, 0]


def test_the_ruler_says_how_many_suspects(values: DataValues) -> None:
    with pytest.raises(InputError, match="for values without a ruler; got None. Give n, or let"):
        values.suspects()
    known = judged(values)
    arrays: dict[str, Any] = {
        name: np.tile(getattr(known, name), 40) for name in (*ARRAYS, "agreement", "suggested")
    }
    many = replace(known, **arrays, ruler=Ruler(200, 3, (tuple(range(20)),) * 3))
    assert many.ruler is not None
    assert many.ruler.cutoff is not None
    assert 5 < many.ruler.cutoff < 100
    listed = many.suspects()
    assert len(listed) == many.ruler.cutoff
    assert repr(many).startswith(f"DataValues({many.ruler.sentence}")
    frame = many.to_frame("pandas")
    assert list(frame.columns[-4:]) == ["agreement", "suggested", "score", "suspect"]
    np.testing.assert_array_equal(
        np.flatnonzero(frame["suspect"]), np.sort(many.suspects_first[: len(listed)])
    )
    blind = replace(many, ruler=Ruler(200, 3, (tuple(range(0, 180, 9)),)))
    with pytest.raises(InputError, match="^n must be a whole number if the ruler cannot tell"):
        blind.suspects()
    assert "look wrong" not in repr(blind)
    assert "suspect" not in blind.to_frame("pandas")
    assert "score" not in values.to_frame("pandas")


def test_order_keeps_ties_in_training_order(values: DataValues) -> None:
    assert values.order.tolist() == [4, 1, 3, 0, 2]
    assert values.best_first.tolist() == [0, 2, 3, 1, 4]


def test_the_game_says_whether_targets_are_numbers(values: DataValues) -> None:
    floats = np.arange(5.0)
    for game, labels, expected in (
        ("regression", floats, True),
        ("soft", floats, False),
        (None, floats, True),
        (None, values.labels, False),
    ):
        params = {} if game is None else {"game": game}
        assert replace(values, params=params, labels=labels).numeric is expected


def test_save_and_load(values: DataValues, tmp_path: Path) -> None:
    path = tmp_path / "values"
    values.save(path)
    again = DataValues.load(path)
    for name in ("values", "lower", "upper", "index", "labels"):
        np.testing.assert_array_equal(getattr(again, name), getattr(values, name))
    for name in ("params", "n_validation", "weight_error", "version"):
        assert getattr(again, name) == getattr(values, name)
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(FileNotFoundError, match="path must be in a folder that exists"):
        values.save(tmp_path / "no" / "values")
    with pytest.raises(IsADirectoryError, match="path must name a file"):
        values.save(tmp_path)


def test_save_honours_the_ending_of_the_name(values: DataValues, tmp_path: Path) -> None:
    for ending, first in ((".parquet", b"PAR1"), (".csv", b"index,value"), (".npz", b"PK")):
        path = tmp_path / f"v{ending}"
        values.save(path)
        assert path.read_bytes().startswith(first)
        np.testing.assert_array_equal(DataValues.load(path).values, values.values)
    assert DataValues.load(tmp_path / "v.parquet").params == values.params
    for bad in ("v.json", "v.pkl", "v.xlsx"):
        with pytest.raises(ValueError, match=r"path must end in one of \.csv, .*; got"):
            values.save(tmp_path / bad)
        assert not (tmp_path / bad).exists()


def test_save_keeps_permissions_and_links(values: DataValues, tmp_path: Path) -> None:
    path, link = tmp_path / "values", tmp_path / "link"
    values.save(path)
    path.chmod(0o600)
    link.symlink_to(path)
    values.save(link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o600


def test_result_cannot_be_changed(values: DataValues) -> None:
    with pytest.raises(ValueError, match="read-only"):
        values.values[0] = 1.0
    with pytest.raises(TypeError):
        values.params["n_neighbors"] = 1  # type: ignore[index]


def test_any_damage_is_a_clear_error(values: DataValues, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    path = tmp_path / "values"
    values.save(path)
    whole = path.read_bytes()
    for _ in range(300):
        damaged = bytearray(whole)
        for at in rng.integers(0, len(whole), 2):
            damaged[at] = rng.integers(0, 256)
        path.write_bytes(damaged)
        with suppress(_Clear):
            try:
                DataValues.load(path)
            except ValueError as error:
                raise (_Clear if "written by DataValues.save" in str(error) else error) from None


def test_failed_save_leaves_the_old_file(values: DataValues, tmp_path: Path) -> None:
    path = tmp_path / "values.npz"
    values.save(path)
    before = path.read_bytes()
    broken = replace(values, index=np.array([object()] * 5))
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        broken.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_load_refuses_other_files(values: DataValues, tmp_path: Path) -> None:
    message = "path must name a file written by DataValues.save"
    text, cut, other, pickled = (tmp_path / n for n in ("text", "cut", "other.npz", "pickled.npz"))
    text.write_text("hello")
    values.save(cut)
    cut.write_bytes(cut.read_bytes()[:-100])
    np.savez(other, values=np.arange(3))
    np.savez(pickled, facts=np.array({"format": "x"}, dtype=object), allow_pickle=True)
    (tmp_path / "empty").write_bytes(b"")
    for path in (text, cut, other, pickled, tmp_path / "empty"):
        with pytest.raises(ValueError, match=message):
            DataValues.load(path)
    with pytest.raises(FileNotFoundError):
        DataValues.load(tmp_path / "nothing")


def test_file_is_a_plain_archive(values: DataValues, tmp_path: Path) -> None:
    values.save(tmp_path / "v.npz")
    assert sorted(zipfile.ZipFile(tmp_path / "v.npz").namelist()) == [
        "facts.npy",
        "index.npy",
        "labels.npy",
        "lower.npy",
        "upper.npy",
        "values.npy",
    ]


def test_copies_and_other_processes(values: DataValues, tmp_path: Path) -> None:
    for again in (
        pickle.loads(pickle.dumps(values)),
        copy.deepcopy(values),
        joblib.Parallel(n_jobs=2)(joblib.delayed(_returned)(values) for _ in range(2))[0],
        joblib.Memory(tmp_path, verbose=0).cache(_returned)(values),
    ):
        np.testing.assert_array_equal(again.values, values.values)
        assert dict(again.params) == dict(values.params)
        assert not again.values.flags.writeable
        params: Any = again.params
        with pytest.raises(TypeError):
            params["game"] = "other"


def _returned(values: DataValues) -> DataValues:
    return values
