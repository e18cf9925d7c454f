import zipfile
from pathlib import Path

import numpy as np
import pytest

from dataworth import DataValues


@pytest.fixture
def values() -> DataValues:
    return DataValues(
        values=np.array([0.5, -1.0, 0.5, 0.0, -2.0]),
        index=np.arange(5),
        labels=np.array(["a", "b", "é<b>", "a", "b"]),
        params={"n_neighbors": 5, "weights": "rbf"},
        n_validation=3,
        version="0.1.0",
    )


def test_worst_and_best(values: DataValues) -> None:
    assert values.worst(2).tolist() == [(4, -2.0, "b"), (1, -1.0, "b")]
    assert values.best(3)["index"].tolist() == [0, 2, 3]
    assert len(values.worst(99)) == len(values) == 5
    with pytest.raises(ValueError, match="n must be a whole number at least 0; got -1"):
        values.worst(-1)
    assert "5 points, 3 validation points" in repr(values)
    assert "2 negative" in repr(values)


def test_save_and_load(values: DataValues, tmp_path: Path) -> None:
    path = tmp_path / "values.dw"
    values.save(path)
    again = DataValues.load(path)
    for name in ("values", "index", "labels"):
        np.testing.assert_array_equal(getattr(again, name), getattr(values, name))
    assert (again.params, again.n_validation, again.version) == (
        values.params,
        values.n_validation,
        values.version,
    )
    assert list(tmp_path.iterdir()) == [path]


def test_failed_save_leaves_the_old_file(values: DataValues, tmp_path: Path) -> None:
    path = tmp_path / "values.npz"
    values.save(path)
    before = path.read_bytes()
    broken = DataValues(
        values.values, np.array([object()] * 5), values.labels, values.params, 3, "0.1.0"
    )
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
        "values.npy",
    ]
