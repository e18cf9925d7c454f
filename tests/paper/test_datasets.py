"""Loading data sets: archives in a folder, and OpenML by a stand-in for its answers."""

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paper import datasets


@pytest.fixture(autouse=True)
def _no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(datasets.DATA_VARIABLE, raising=False)


def save(folder: Path, file: str, **arrays: Any) -> None:
    np.savez(folder / f"{file}.npz", **arrays)


def test_features_are_cast_up(tmp_path: Path) -> None:
    huge = np.float32(1.8e19)
    save(tmp_path, "click", X=np.array([[huge], [0.0]], "f4"), y=np.array([0, 1]))
    X, y, is_train = datasets.load("click", data_dir=tmp_path)
    assert X.dtype == np.float64
    assert np.isfinite(X.var())
    assert y.tolist() == [0, 1]
    assert is_train is None


def test_missing_values_and_official_split_are_kept(tmp_path: Path) -> None:
    save(tmp_path, "wnli_minilm", X=[[np.nan], [1.0]], y=[1, 0], is_train=[True, False])
    data = datasets.load("wnli", data_dir=tmp_path)
    assert np.isnan(data.X[0, 0])
    assert data.is_train is not None
    assert data.is_train.tolist() == [True, False]


def test_pixels_stay_bytes(tmp_path: Path) -> None:
    save(tmp_path, "cifar10_pixels", X=np.zeros((2, 3072), "u1"), y=[0, 1])
    assert datasets.load("cifar10-pixels", data_dir=tmp_path).X.dtype == np.uint8


def test_folder_argument_goes_before_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("a", 1.0), ("b", 2.0)):
        (tmp_path / name).mkdir()
        save(tmp_path / name, "wind", X=[[value], [0.0]], y=[0, 1])
    monkeypatch.setenv(datasets.DATA_VARIABLE, str(tmp_path / "a"))
    assert datasets.load("wind").X[0, 0] == 1.0
    assert datasets.load("wind", data_dir=tmp_path / "b").X[0, 0] == 2.0


def test_unknown_name() -> None:
    with pytest.raises(ValueError, match="name must be one of '2dplanes'.*got 'iris'"):
        datasets.load("iris")


def test_missing_folder_and_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="data_dir must name a folder"):
        datasets.load("wind", data_dir=tmp_path / "none")
    with pytest.raises(FileNotFoundError, match="data_dir must hold 'vehicle.npz'"):
        datasets.load("vehicle", data_dir=tmp_path)


@pytest.mark.parametrize(
    "arrays",
    [
        {"X": [[1.0], [2.0]], "y": [0, 2]},
        {"X": [[1.0], [2.0]], "y": [0.0, 1.0]},
        {"X": [[1.0], [2.0], [3.0]], "y": [0, 1]},
        {"X": [1.0, 2.0], "y": [0, 1]},
        {"X": [["a"], ["b"]], "y": [0, 1]},
        {"X": [[1.0], [2.0]], "y": [0, 1], "is_train": [1, 0]},
    ],
)
def test_archives_that_do_not_fit(tmp_path: Path, arrays: dict[str, Any]) -> None:
    save(tmp_path, "wind", **arrays)
    with pytest.raises(ValueError, match="wind.npz' is not one"):
        datasets.load("wind", data_dir=tmp_path)


def test_archives_without_labels_are_refused(tmp_path: Path) -> None:
    save(tmp_path, "wind", X=np.eye(2))
    with pytest.raises(ValueError, match=r"archives with X and y; '.+wind.npz' lacks one"):
        datasets.load("wind", data_dir=tmp_path)


def test_damaged_archives_and_pickles_are_refused(tmp_path: Path) -> None:
    (tmp_path / "wind.npz").write_bytes(b"PK but no archive")
    with pytest.raises(ValueError, match="wind.npz' is not one"):
        datasets.load("wind", data_dir=tmp_path)
    save(tmp_path, "wind", X=np.array([[{}], [{}]], dtype=object), y=[0, 1])
    with pytest.raises(ValueError, match="wind.npz' is not one"):
        datasets.load("wind", data_dir=tmp_path)


def stand_in(
    home: Path, number: int, target: tuple[str, str], rows: list[str], columns: dict[str, str]
) -> None:
    """What OpenML would answer, where scikit-learn keeps its answers."""
    attributes = {**columns, target[0]: target[1]}
    arff = "@RELATION stand-in\n"
    arff += "".join(f"@ATTRIBUTE {n} {kind}\n" for n, kind in attributes.items())
    arff += "@DATA\n" + "\n".join(rows) + "\n"
    features = [
        {
            "index": str(k),
            "name": name,
            "data_type": "numeric" if kind == "REAL" else "nominal",
            "is_target": str(name == target[0]).lower(),
            "is_ignore": "false",
            "is_row_identifier": "false",
            "number_of_missing_values": "0",
        }
        for k, (name, kind) in enumerate(attributes.items())
    ]
    description = {
        "id": str(number),
        "name": "stand-in",
        "version": "1",
        "format": "ARFF",
        "file_id": str(number),
        "status": "active",
        "description": "A stand-in.",
        "default_target_attribute": target[0],
        "url": f"https://www.openml.org/data/v1/download/{number}/stand-in.arff",
        "md5_checksum": hashlib.md5(arff.encode()).hexdigest(),
    }
    quality = {"name": "NumberOfInstances", "value": str(len(rows))}
    answers = {
        f"api/v1/json/data/{number}": json.dumps({"data_set_description": description}),
        f"api/v1/json/data/features/{number}": json.dumps({"data_features": {"feature": features}}),
        f"api/v1/json/data/qualities/{number}": json.dumps(
            {"data_qualities": {"quality": [quality]}}
        ),
        f"data/v1/download/{number}/stand-in.arff": arff,
    }
    for path, text in answers.items():
        kept = home / "openml" / "openml.org" / f"{path}.gz"
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(gzip.compress(text.encode()))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where scikit-learn keeps what it downloads."""
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    return tmp_path


def test_openml_columns_of_names_and_missing_values(home: Path) -> None:
    columns = {"speed": "REAL", "month": "{3,12,7}", "sky": "{clear,grey}"}
    rows = ["1.5,12,grey,P", "?,3,clear,N", "2.5,?,grey,N", "0,7,?,P"]
    stand_in(home, 847, ("binaryClass", "{P,N}"), rows, columns)
    X, y, _ = datasets.load("wind")
    assert X.dtype == np.float64
    nan = np.nan
    np.testing.assert_array_equal(
        X, [[1.5, 12.0, 1.0], [nan, 3.0, 0.0], [2.5, nan, 1.0], [0.0, 7.0, nan]]
    )
    assert y.tolist() == [0, 1, 1, 0]  # the second of the names declared is 1


def test_openml_labels_that_are_numbers(home: Path) -> None:
    stand_in(home, 42397, ("Class", "REAL"), ["5,0", "6,1", "7,2"], {"Time": "REAL"})
    assert datasets.load("fraud").y.tolist() == [0, 1, 0]


def test_openml_labels_that_are_numerals(home: Path) -> None:
    stand_in(home, 1489, ("Class", "{1,2}"), ["5,1", "6,2"], {"V1": "REAL"})
    assert datasets.load("phoneme").y.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("rows", "message"), [(["5,0", "6,0"], "two classes"), (["5,0", "6,?"], "complete")]
)
def test_openml_labels_that_do_not_serve(home: Path, rows: list[str], message: str) -> None:
    stand_in(home, 42397, ("Class", "REAL"), rows, {"Time": "REAL"})
    with pytest.raises(ValueError, match=f"labels of 'fraud' at OpenML must .*{message}"):
        datasets.load("fraud")


def test_what_openml_does_not_have() -> None:
    with pytest.raises(FileNotFoundError, match="data_dir must be given for 'agnews'"):
        datasets.load("agnews")
