"""Files of values: everything comes back, and other files are refused."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from pyarrow import feather, parquet

from dataworth import DataValues, KNNShapley, Ruler
from dataworth.errors import InputError
from dataworth.files import tables
from dataworth.files import values as value_files
from dataworth.inputs.frames import Origin
from dataworth.result import read_values, write_values


@pytest.fixture
def values() -> DataValues:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), rng.choice(["ä", "b,c"], 20)
    return KNNShapley(max_rank=8).fit(X, y).value()


@pytest.mark.parametrize("ending", value_files.ENDINGS)
@pytest.mark.parametrize("ids", [True, False])
def test_values_come_back_as_they_were(
    values: DataValues, ending: str, ids: bool, tmp_path: Path
) -> None:
    path = tmp_path / f"v{ending}"
    owners = np.array(["p", "q"] * 10)
    write_values(path, values, ids=ids, groups=owners)
    again, groups = read_values(path)
    for name in (*value_files.ARRAYS, *value_files.OPTIONAL):
        assert_array_equal(getattr(again, name), getattr(values, name))
    if ending in tables.SEPARATORS:
        assert (again.params, again.version) == ({}, "")
    else:
        assert dict(again.params) == dict(values.params)
        assert again.n_validation == 20
        assert again.version == values.version
    if ending != ".npz":
        assert groups is not None
        assert_array_equal(groups, owners)
        first = tables.read_table(path).column_names[0]
        assert first == ("id" if ids else "index")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("ending", [".npz", ".parquet", ".arrow", ".feather"])
def test_every_fact_comes_back(values: DataValues, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"v{ending}"
    ruler = Ruler(20, 2, ((0, 0, 3, 16), (1, 2, 2, 15)))
    known = replace(values, recall=0.75, weight_error=1e-9, origin=Origin("polars"), ruler=ruler)
    write_values(path, known)
    again, _ = read_values(path)
    for name in ("ruler", "params", "n_validation", "weight_error", "version", "recall", "origin"):
        assert getattr(again, name) == getattr(known, name)
    assert type(again.to_frame()).__module__.startswith("polars")


@pytest.mark.parametrize("ending", [".npz", ".parquet"])
@pytest.mark.parametrize(
    "ruler", [Ruler(21, 2, ((0, 1),)), Ruler(20, 1, ((0, 1),)), Ruler(20, 2, ((1, 0),))], ids=repr
)
def test_a_ruler_that_does_not_fit_is_refused(
    values: DataValues, ending: str, ruler: Ruler, tmp_path: Path
) -> None:
    path = tmp_path / f"v{ending}"
    bad = value_files.Facts(ruler=ruler, version="0.1.0")
    value_files.write(path, replace(values.contents(), facts=bad))
    with pytest.raises(InputError, match="written by"):
        read_values(path)


def test_files_without_a_ruler_are_as_before(values: DataValues) -> None:
    assert "ruler" not in json.loads(values.contents().facts.to_json())


def test_files_that_are_not_values(values: DataValues, tmp_path: Path) -> None:
    path = tmp_path / "v.parquet"
    write_values(path, values)
    table = parquet.read_table(path)
    parquet.write_table(table.drop_columns(["lower"]), path)
    with pytest.raises(ValueError, match="must be a file of values .* no column 'lower'"):
        read_values(path)
    for facts in ("{", "[]", '{"params": {}}', '{"format": 1, "more": 2}'):
        parquet.write_table(table.replace_schema_metadata({"dataworth": facts}), path)
        with pytest.raises(ValueError, match="must be a file of values written by dataworth"):
            read_values(path)
    deep = '{"params": ' + 100_000 * "[" + 100_000 * "]" + "}"
    parquet.write_table(table.replace_schema_metadata({"dataworth": deep}), path)
    with pytest.raises(ValueError, match="it does not fit: its facts are nested too deeply"):
        read_values(path)
    feather.write_feather(pa.table({k: ["x"] for k in table.column_names}), tmp_path / "v.arrow")
    with pytest.raises(ValueError, match="must be a file of values written by dataworth"):
        read_values(tmp_path / "v.arrow")
