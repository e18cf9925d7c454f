"""Files of earlier versions are read, or refused in words that say what to do."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import dataworth
from dataworth import DataValues, decisions
from dataworth.errors import InputError
from dataworth.files import archives, tables
from dataworth.files import values as value_files
from dataworth.result import read_values
from dataworth.run.checkpoints import Checkpoint
from tests.upgrades import FIXTURES, OWNERS, points, valued

VERSIONS = sorted(FIXTURES.iterdir())


def test_there_are_files_of_a_version() -> None:
    assert VERSIONS


@pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.name)
@pytest.mark.parametrize("ending", value_files.ENDINGS)
def test_files_of_values_are_read(folder: Path, ending: str) -> None:
    got, owners = read_values(folder / f"values{ending}")
    now = valued()
    for name in ("values", "lower", "upper"):
        np.testing.assert_allclose(getattr(got, name), getattr(now, name), rtol=0, atol=1e-12)
    for name in ("index", "labels"):
        np.testing.assert_array_equal(getattr(got, name), getattr(now, name))
    if ending != ".npz":
        assert owners is not None
        np.testing.assert_array_equal(owners, OWNERS)
    if ending not in tables.SEPARATORS:
        assert got.version == folder.name
        assert got.n_validation == 24
        assert got.params["n_neighbors"] == 3


@pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.name)
def test_decisions_are_carried_out(folder: Path) -> None:
    made = decisions.read(folder / "decisions.csv")
    labels = points()[1].tolist()
    assert decisions.apply(made, {"y": labels})["y"] == labels[:1] + labels[2:]


@pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.name)
def test_checkpoints_go_on_or_are_refused(folder: Path, tmp_path: Path) -> None:
    """Another version, also of numpy or joblib, may see another run in it; it must say so."""
    shutil.copytree(folder / "checkpoint", tmp_path / "run")
    before = {p.name: p.read_bytes() for p in (tmp_path / "run").iterdir()}
    said = ""
    try:
        got = valued(checkpoint=tmp_path / "run")
    except InputError as error:
        said = str(error)
    if said:
        assert re.match(
            "checkpoint must be (of|in) .* Name another folder, or remove this one.$", said
        )
        assert {p.name: p.read_bytes() for p in (tmp_path / "run").iterdir()} == before
    else:
        np.testing.assert_allclose(got.values, valued().values, rtol=0, atol=1e-12)


def test_a_checkpoint_of_another_version_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(dataworth, "__version__", "9.1.0")
        ref = valued(checkpoint=tmp_path)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    message = r"checkpoint must be of dataworth 0\.1\.0; '.*' is of 9\.1\.0\. Name another folder"
    with pytest.raises(InputError, match=message):
        valued(checkpoint=tmp_path)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before
    np.testing.assert_array_equal(valued().values, ref.values)


def test_a_checkpoint_of_another_format_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no damaged one: to begin again would lose what it holds."""
    with monkeypatch.context() as patch:
        patch.setattr("dataworth.run.checkpoints.FORMAT", "dataworth checkpoint 9")
        valued(checkpoint=tmp_path)
    message = "must be in the format 'dataworth checkpoint 2'; '.*' is in 'dataworth checkpoint 9'"
    with pytest.raises(InputError, match=message):
        valued(checkpoint=tmp_path)


@pytest.mark.parametrize("ending", [".npz", ".parquet", ".arrow", ".feather"])
def test_files_of_a_later_format_are_refused(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if they keep more facts than we know."""
    path, now = tmp_path / f"v{ending}", valued()
    facts: Any = json.loads(now.contents().facts.to_json())
    later = json.dumps({**facts, "format": "dataworth values 9", "more": 1})
    if ending == ".npz":
        with path.open("wb") as file:
            archives.save(file, {**now.contents().arrays, "facts": np.array(later)})
    else:
        columns = value_files.columns(now.contents(), ids=False)
        table = pa.table({k: v.tolist() for k, v in columns.items()}, metadata={"dataworth": later})
        write = parquet.write_table if ending == ".parquet" else feather.write_feather
        write(table, path)
    message = "it has the format 'dataworth values 9', and this version reads 'dataworth values 1'"
    with pytest.raises(ValueError, match=message):
        read_values(path)
    if ending == ".npz":
        with pytest.raises(ValueError, match=message):
            DataValues.load(path)


def test_states_say_which_version_wrote_them(tmp_path: Path) -> None:
    valued(checkpoint=tmp_path)
    with np.load(next(tmp_path.glob("state-*.npz"))) as file:
        assert json.loads(str(file["facts"]))["version"] == dataworth.__version__
    assert Checkpoint(tmp_path, "other run").every > 0
