"""Bad input to every command and option: one line that names it, code 2, nothing on stdout.

`tests/test_bad_inputs.py` does the same for the functions of the library.
"""

import re
import shlex
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from dataworth.cli import main as cli
from dataworth.files import tables
from tests.commands import N, decided, rows

# What must be named, and what is typed after `dataworth value train.csv --label y`.
OPTIONS = {
    "--validation": [
        "--validation no.csv",
        "--validation folder.csv",
        "--validation text.txt",
    ],
    "--cv": [
        "--validation val.csv --cv 3",
        "--cv 1",
        "--cv 61",
        "--cv 0",
        "--cv two",
        "--cv 2.5",
    ],
    "--id": [
        "--id nme",
    ],
    "--group": [
        "--group ownr",
    ],
    "--features": [
        "--features sise",
        "--features y",
        "--features size --drop size",
    ],
    "--drop": [
        "--drop sizes",
    ],
    "--by": [
        "--by colr --report r.html",
        "--by colour",
    ],
    "--image": [
        "--image pic --report r.html",
        "--image name",
    ],
    "--title": [
        "--title T",
    ],
    "--rows": [
        "--rows 5",
        "--rows 0 --report r.html",
        "--rows 2001 --report r.html",
        "--rows many --report r.html",
    ],
    "--output": [
        "-o v.txt",
        "-o nowhere/v.csv",
        "-o folder.csv",
        '-o ""',
        "-o train.csv",
    ],
    "--report": [
        "--report r.pdf",
        "--report nowhere/r.html",
        "--report folder",
        "-o r.csv --report r.csv",
    ],
    "--top": [
        "--top -1",
        "--top many",
        "--top 1.5",
    ],
    "--neighbors": [
        "-k 0",
        "-k -3",
        "-k five",
        "-k 2.5",
    ],
    "--game": [
        "--game sfot",
        '--game ""',
    ],
    "--ties": [
        "--ties left",
        "--ties half",
    ],
    "--weights": [
        "--weights rfb",
    ],
    "--bandwidth": [
        "--bandwidth 0",
        "--bandwidth wide",
        "--bandwidth nan",
        "--bandwidth inf",
        "--bandwidth=-1",
        "--bandwidth 1 --weights uniform",
    ],
    "--bits": [
        "--bits 0",
        "--bits 11",
        "--bits few",
        "--bits 2.5",
        "--bits none --game hard",
    ],
    "--metric": [
        "--metric euclid",
        "--metric precomputed",
        "--metric mahalanobis",
        "--metric seuclidean",
        "--metric haversine",
        '--metric ""',
    ],
    "--radius": [
        "--radius 0",
        "--radius 1",
        "--radius nan --weights uniform",
        "--radius far",
        "--radius 1 --weights uniform --game hard",
        "--radius 1 --weights uniform --max-rank 3",
        "--radius 1 --weights uniform --support 3",
    ],
    "--semivalue": [
        "--semivalue shaply",
        "--semivalue beta",
        "--semivalue beta:1",
        "--semivalue beta:a,b",
        "--semivalue beta:0,1",
        "--semivalue beta:nan,1",
        "--semivalue shapley:1,2",
    ],
    "--support": [
        "--support 0",
        "--support many",
    ],
    "--max-rank": [
        "--max-rank 0",
        "--max-rank log",
        "--max-rank 1.5",
    ],
    "--encoder": [
        "--encoder frest",
        "--encoder forest",
    ],
    "--jobs": [
        "-j 0",
        "-j all",
    ],
    "--checkpoint": [
        "--checkpoint train.csv",
        "--checkpoint file/state",
        '--checkpoint ""',
    ],
}

# What must be named, and the whole line. What is wrong with a file is said of the file.
LINES = {
    "frobnicate": [
        "frobnicate",
    ],
    "valu": [
        "valu train.csv",
    ],
    "TRAIN": [
        "value",
        "value no.csv --label y",
        "value folder.csv --label y",
        "value folder --label y",
        'value "" --label y',
        "value text.txt --label y",
        "report v.csv",
        "report v.csv no.csv --label y -o r.html",
        "apply d.csv no.csv -o c.csv",
        "apply d.csv folder.csv -o c.csv",
        "apply d.csv good.npz -o c.csv",
    ],
    "--label": [
        "value train.csv",
        "value train.csv --label",
        "value train.csv --label Y",
        'value train.csv --label ""',
        "value good.npz --label z",
        "value short.npz",
        "value good.npy",
        "value good.npy --label 9",
        "value good.npy --label=-9",
        "value x.npy --label y5.npy",
        "value x.npy --label no.npy",
        "value train.csv --label y.npy",
        "report v.csv train.csv --label Y -o r.html",
        "report v.csv train.csv --label colour -o r.html",
        "apply d.csv train.csv -o c.csv --label Y",
    ],
    "--labl": [
        "value train.csv --labl y",
    ],
    "extra.csv": [
        "value train.csv --label y extra.csv",
    ],
    "v.csv": [
        "info v.csv v.csv",
    ],
    "extra": [
        "demo extra",
    ],
    "empty.csv": [
        "value empty.csv --label y",
        "value train.csv --label y --validation empty.csv",
        "info empty.csv",
    ],
    "blank.csv": [
        "value blank.csv --label y",
    ],
    "header.csv": [
        "value header.csv --label y",
        "value train.csv --label y --validation header.csv",
    ],
    "latin.csv": [
        "value latin.csv --label y",
    ],
    "utf16.csv": [
        "value utf16.csv --label y",
    ],
    "noise.csv": [
        "value noise.csv --label y",
        "info noise.csv",
        "report v.csv train.csv --label y -o r.html --validation noise.csv",
        "apply d.csv noise.csv -o c.csv",
    ],
    "noise.parquet": [
        "value noise.parquet --label y",
        "info noise.parquet",
    ],
    "empty.parquet": [
        "value empty.parquet --label y",
    ],
    "noise.npz": [
        "value noise.npz",
    ],
    "empty.npz": [
        "value empty.npz",
    ],
    "noise.npy": [
        "value noise.npy --label 0",
    ],
    "noise.feather": [
        "value noise.feather --label y",
    ],
    "twice.csv": [
        "value twice.csv --label y",
        "apply d.csv twice.csv -o c.csv",
    ],
    "ragged.csv": [
        "value ragged.csv --label y",
    ],
    "column 'y' of gaps.csv": [
        "value gaps.csv --label y",
    ],
    "one.csv": [
        "value one.csv --label y",
    ],
    "only.csv": [
        "value only.csv --label y",
    ],
    "single.csv": [
        "value single.csv --label y",
    ],
    "column 'y' of number.csv": [
        "value number.csv --label y",
    ],
    "inf.csv": [
        "value inf.csv --label y",
    ],
    "column 'y' of train.csv": [
        "value train.csv --label y --game regression",
    ],
    "noX.npz": [
        "value noX.npz",
    ],
    "flat.npz": [
        "value flat.npz",
    ],
    "X_val of wide.npz": [
        "value wide.npz",
    ],
    "y_val of noval.npz": [
        "value noval.npz",
    ],
    "halfval.npz": [
        "value halfval.npz",
    ],
    "obj.npz": [
        "value obj.npz",
    ],
    "nan.npz": [
        "value nan.npz",
    ],
    "cube.npy": [
        "value cube.npy --label 0",
    ],
    "words.npy": [
        "value words.npy --label 0",
    ],
    "--validation": [
        "value x.npy --label y.npy --validation val.csv",
        "report v.csv train.csv --label y -o r.html --validation no.csv",
    ],
    "few.csv": [
        "value train.csv --label y --validation few.csv",
        "report v.csv few.csv --label y -o r.html",
    ],
    "column 'y' of odd.csv": [
        "value train.csv --label y --validation odd.csv",
    ],
    "--cv": [
        "value few.csv --label y --cv 4",
        "value few.csv --label y --cv 3",
    ],
    "--id": [
        "report v.csv train.csv --label y -o r.html --id nam",
        "apply d.csv train.csv -o c.csv --id nme",
    ],
    "--group": [
        "value gaps.csv --label a --group y",
        "report v.csv train.csv --label y -o r.html --group ownr",
    ],
    "train.csv": [
        "value train.csv --label y --drop size --drop colour --drop owner --drop name",
        "value train.csv --label y --metric jaccard",
        "value train.csv --label y --encoder none",
    ],
    "--by": [
        "report v.csv train.csv --label y -o r.html --by sizze",
    ],
    "--image": [
        "report v.csv train.csv --label y -o r.html --image imgs",
    ],
    "--output": [
        "report v.csv train.csv --label y",
        "report v.csv train.csv --label y -o r.pdf",
        "report v.csv train.csv --label y -o nowhere/r.html",
        "report v.csv train.csv --label y -o folder",
        "apply d.csv train.csv",
        "apply d.csv train.csv -o c.parquet",
        "apply d.csv train.csv -o c.txt",
        "apply d.csv train.csv -o nowhere/c.csv",
        "apply d.csv train.csv -o folder.csv",
        "apply d.csv train.csv -o train.csv",
    ],
    "--top": [
        "info v.csv --top -1",
        "info v.csv --top x",
    ],
    "VALUES": [
        "info",
        "info no.csv",
        "info folder.csv",
        "info text.txt",
        "info empty.npz",
        "info noise.npz",
        "info good.npz",
        "report no.csv train.csv --label y -o r.html",
    ],
    "vother.csv": [
        "info vother.csv",
    ],
    "vbad.csv": [
        "info vbad.csv",
        "report vbad.csv train.csv --label y -o r.html",
    ],
    "vgap.csv": [
        "info vgap.csv",
    ],
    "DECISIONS": [
        "apply",
        "apply no.csv train.csv -o c.csv",
        "apply folder.csv train.csv -o c.csv",
        "apply dbad.csv train.csv -o c.csv",
        "apply empty.csv train.csv -o c.csv",
        "apply noise.csv train.csv -o c.csv",
        "apply latin.csv train.csv -o c.csv",
        "apply dtwice.csv train.csv -o c.csv",
        "apply dfar.csv train.csv -o c.csv",
        "apply d.csv val.csv -o c.csv",
    ],
    "--speed": [
        "demo --speed fast",
    ],
}

ROWS = [
    *((named, f"value train.csv --label y {rest}") for named in OPTIONS for rest in OPTIONS[named]),
    *((named, line) for named in LINES for line in LINES[named]),
]


@pytest.fixture(scope="module")
def bad_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of good files and of bad ones, which no test changes."""
    folder = tmp_path_factory.mktemp("files")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, seed in (("train", 0), ("val", 1)):
            tables.write_table(f"{name}.csv", pa.table(rows(seed=seed)))
        tables.write_table("odd.csv", pa.table({**rows(), "y": ["maybe"] * N}))
        _write_texts()
        _write_bytes()
        _write_arrays()
    return folder


def _write_texts() -> None:
    head = "index,value,lower,upper,label\n"
    values = [f"{i},0.1,0.1,0.1,{label}\n" for i, label in enumerate(rows()["y"])]
    decided("train.csv", "3,remove,")
    made = Path("d.csv").read_text()
    for name, text in {
        "empty.csv": "",
        "blank.csv": "\n\n\n",
        "header.csv": "a,y\n",
        "gaps.csv": "a,b,y\n1,1,p\n2,2,\n3,3,q\n",
        "one.csv": "a,y\n1,p\n1,q\n",
        "only.csv": "y\np\nq\n",
        "twice.csv": "a,a,y\n1,2,p\n2,3,q\n",
        "ragged.csv": "a,y\n1,p\n1,q,3\n",
        "single.csv": "a,y\n1,p\n",
        "number.csv": "a,y\n1,0.5\n2,1.5\n3,2.5\n",
        "inf.csv": "a,y\n1,p\ninf,q\n3,p\n",
        "few.csv": "a,y\n1,p\n2,q\n3,p\n4,p\n",
        "text.txt": "a,y\n1,p\n",
        "file": "",
        "v.csv": head + "".join(values),
        "vbad.csv": f"{head}0,much,1,1,a\n",
        "vgap.csv": f"{head}0,,1,1,a\n",
        "vother.csv": "a,b\n1,2\n",
        "dbad.csv": "a,b\n1,2\n",
        "dtwice.csv": made + made.splitlines()[1] + "\n",
        "dfar.csv": made.replace("3,remove", "99,remove"),
    }.items():
        Path(name).write_text(text)


def _write_bytes() -> None:
    noise = bytes(range(256))
    for name, content in {
        "latin.csv": b"a,y\n1,caf\xe9\n",
        "utf16.csv": "a,y\n1,p\n".encode("utf-16"),
        "noise.csv": noise,
        "noise.parquet": b"PAR1" + noise,
        "noise.feather": noise,
        "noise.npz": noise,
        "noise.npy": noise,
        "empty.parquet": b"",
        "empty.npz": b"",
    }.items():
        Path(name).write_bytes(content)
    Path("folder.csv").mkdir()
    Path("folder").mkdir()


def _write_arrays() -> None:
    X, y = np.random.default_rng(0).normal(size=(12, 3)), np.arange(12) % 2
    np.savez("good.npz", X=X, y=y)
    np.savez("noX.npz", y=y)
    np.savez("flat.npz", X=X[:, 0], y=y)
    np.savez("short.npz", X=X, y=y[:5])
    np.savez("wide.npz", X=X, y=y, X_val=np.ones((2, 4)), y_val=[0, 1])
    np.savez("noval.npz", X=X, y=y, X_val=X[:2], y_val=[0])
    np.savez("halfval.npz", X=X, y=y, X_val=X[:2])
    np.savez("obj.npz", X=np.array([[{}]], object))
    np.savez("nan.npz", X=X * np.nan, y=y)
    np.save("good.npy", np.column_stack([X, y]))
    np.save("cube.npy", np.ones((2, 2, 2)))
    np.save("words.npy", np.array([["a", "b"]]))
    np.save("x.npy", X)
    np.save("y.npy", y)
    np.save("y5.npy", y[:5])


def test_there_are_many() -> None:
    assert len(ROWS) >= 200


@pytest.mark.parametrize(("named", "line"), ROWS, ids=[line for _, line in ROWS])
def test_one_line_names_what_is_wrong(
    named: str,
    line: str,
    bad_files: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(bad_files)
    before = sorted(bad_files.iterdir())
    code = cli.main(shlex.split(line))
    out, err = capsys.readouterr()
    assert code == 2, err
    assert out == ""
    assert err.startswith("dataworth: error: ")
    assert err.count("\n") == 1
    assert err.endswith((".\n", "?\n", ")\n"))
    assert re.search(rf"(?<![\w.]){re.escape(named)}(?!\w)", err), err
    assert "Traceback" not in err
    assert not re.search(r"\w=['\d]|None|Value error|Input should", err), err  # options, not Python
    assert sorted(bad_files.iterdir()) == before
