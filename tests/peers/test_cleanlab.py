"""The hand-over to cleanlab; runs where cleanlab is installed (`make test-peers`)."""

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dataworth import DataValues, KNNShapley

pytest.importorskip("cleanlab", reason="cleanlab is not installed; make test-peers has it")

import pandas as pd
from cleanlab import Datalab

from dataworth.integrations.cleanlab import add_values, scores
from tests.peers.pages import example


def points() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(-2, 1, (60, 2)), rng.normal(2, 1, (60, 2))])
    y = np.repeat([0, 1], 60)
    planted = rng.choice(120, 6, replace=False)
    y[planted] = 1 - y[planted]
    return X, y, planted


def valued() -> tuple[Datalab, DataValues, np.ndarray]:
    X, y, planted = points()
    lab = Datalab({"y": y.tolist()}, label_name="y", verbosity=0)
    return lab, KNNShapley().fit(X, y).value(), planted


def test_values_are_in_the_issue_table() -> None:
    lab, values, planted = valued()
    add_values(lab, values, n_worst=6)
    table = lab.get_issues("data_value")
    assert set(np.flatnonzero(table["is_data_value_issue"])) == set(planted)
    score = table["data_value_score"].to_numpy()
    np.testing.assert_array_equal(np.argsort(score), np.argsort(values.values))
    assert score.min() >= 0.0
    assert score.max() <= 1.0
    np.testing.assert_array_equal(lab.get_info("data_value")["values"], values.values)
    assert lab.get_info("data_value")["n_validation"] == 120
    summary = lab.get_issue_summary("data_value")
    assert summary["num_issues"].tolist() == [6]


def test_beside_other_issues_and_in_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    X, *_ = points()
    lab, values, _ = valued()
    lab.find_issues(features=X, issue_types={"outlier": {}})
    add_values(lab, values, n_worst=3)
    assert set(lab.get_issue_summary()["issue_type"]) == {"outlier", "data_value"}
    lab.report(verbosity=4)
    said = capsys.readouterr().out
    assert "data_value issues" in said
    assert "Number of examples with this issue: 3" in said


def test_added_twice_is_replaced() -> None:
    lab, values, _ = valued()
    add_values(lab, values, n_worst=6)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="Overwriting")
        add_values(lab, values, n_worst=2)
    assert lab.get_issue_summary("data_value")["num_issues"].tolist() == [2]
    assert lab.get_issues("data_value")["is_data_value_issue"].sum() == 2


def test_saved_and_loaded_elsewhere(tmp_path: Path) -> None:
    lab, values, _ = valued()
    add_values(lab, values, n_worst=6)
    lab.save(str(tmp_path / "lab"))
    code = (
        "import sys, dataworth.integrations.cleanlab\n"
        "from cleanlab import Datalab\n"
        "lab = Datalab.load(sys.argv[1])\n"
        "print(lab.get_issues('data_value').shape)\n"
        "lab.report(verbosity=4)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "lab")], capture_output=True, text=True
    )
    assert "Number of examples with this issue: 6" in done.stdout, done.stderr


def test_words_as_labels_beside_label_issues() -> None:
    X, y, planted = points()
    words = np.array(["cat", "dog"])[y]
    lab = Datalab({"y": words.tolist()}, label_name="y", verbosity=0)
    lab.find_issues(features=X)
    add_values(lab, KNNShapley().fit(X, words).value(), n_worst=6)
    assert set(np.flatnonzero(lab.get_issues("data_value")["is_data_value_issue"])) == set(planted)


@pytest.mark.parametrize("names", [list(range(119, -1, -1)), [f"row {i}" for i in range(120)]])
def test_rows_of_a_frame_are_marked_by_position(names: list[Any]) -> None:
    X, y, planted = points()
    frame = pd.DataFrame(X, index=names, columns=["a", "b"])
    lab = Datalab(frame.assign(y=y), label_name="y", verbosity=0)
    add_values(lab, KNNShapley().fit(frame, y).value(), n_worst=6)
    assert set(np.flatnonzero(lab.get_issues("data_value")["is_data_value_issue"])) == set(planted)


def test_what_datalab_cannot_take_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    lab, values, planted = valued()
    add_values(lab, values, n_worst=6)
    monkeypatch.setattr("dataworth.integrations.cleanlab.scores", lambda values: values[:3])
    with pytest.raises(RuntimeError, match="Datalab could not take the values"):
        add_values(lab, values, n_worst=1)
    table = lab.get_issues("data_value")  # what was there before stays
    assert set(np.flatnonzero(table["is_data_value_issue"])) == set(planted)
    np.testing.assert_array_equal(lab.get_info("data_value")["values"], values.values)


def test_regression() -> None:
    X, *_ = points()
    y = X[:, 0] + 0.1
    y[7] += 9.0
    lab = Datalab({"y": y.tolist()}, label_name="y", task="regression", verbosity=0)
    add_values(lab, KNNShapley(game="regression").fit(X, y - y.mean()).value(), n_worst=1)
    assert lab.get_issues("data_value")["is_data_value_issue"].tolist().index(True) == 7


def test_the_example_of_the_page() -> None:
    names: dict[str, Any] = {}
    exec(example("from cleanlab"), names)
    table = names["lab"].get_issues("data_value")
    worst = np.argsort(names["values"].values)[:50]
    assert set(np.flatnonzero(table["is_data_value_issue"])) == set(worst)


def test_scores() -> None:
    np.testing.assert_array_equal(scores(np.zeros(3)), [0.5, 0.5, 0.5])
    np.testing.assert_array_equal(scores(np.array([-1.0, 4.0])), [0.375, 1.0])


def test_what_does_not_fit_is_refused() -> None:
    lab, values, _ = valued()
    other = Datalab({"y": [0, 1, 1]}, label_name="y", verbosity=0)
    with pytest.raises(ValueError, match="values must be of the 3 points of lab; they are of 120"):
        add_values(other, values, n_worst=1)
    with pytest.raises(ValueError, match="n_worst must be a whole number from 0 to 120; got 121"):
        add_values(lab, values, n_worst=121)
    with pytest.raises(TypeError, match="values must be a DataValues, .*; got ndarray"):
        add_values(lab, values.values, n_worst=1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="lab must be a Datalab; got dict"):
        add_values({}, values, n_worst=1)
    assert lab.data_issues.issue_summary.empty
