"""Comparisons against models trained by hand, and intervals against formulas."""

from dataclasses import astuple
from pathlib import Path
from typing import Any

import matplotlib as mpl
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    mean_absolute_error,
    r2_score,
    roc_auc_score,
)
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from dataworth import TableEncoder, compare, decisions
from dataworth.comparison import Comparison, Score
from dataworth.comparison.plan import untouched
from dataworth.errors import ReadingWarning


def table(n: int = 120, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    colour = rng.choice(["red", "green", "blue"], n)
    y = np.where(a + (colour == "red") > 0.3, "yes", "no")
    return pd.DataFrame({"name": [f"{seed}-{i}" for i in range(n)], "a": a, "c": colour, "y": y})


BEFORE, TEST = table(), table(200, seed=1)
FLIPPED = np.random.default_rng(2).random(120) < 0.25
BEFORE.loc[FLIPPED, "y"] = np.where(BEFORE["y"][FLIPPED] == "yes", "no", "yes")
AFTER = BEFORE[~FLIPPED].reset_index(drop=True)
TREE = {"tree": DecisionTreeClassifier(max_depth=3)}


def tree(train: pd.DataFrame, asked: pd.DataFrame, seed: int) -> NDArray[Any]:
    model = make_pipeline(TableEncoder(), DecisionTreeClassifier(max_depth=3, random_state=seed))
    return np.asarray(model.fit(train[["a", "c"]], train["y"]).predict(asked[["a", "c"]]))


def test_on_test_rows() -> None:
    got = compare(BEFORE, AFTER, label="y", test=TEST, id="name", models=TREE, seeds=3)
    for side, score in ((BEFORE, got.headline.before), (AFTER, got.headline.after)):
        by_seed = [balanced_accuracy_score(TEST["y"], tree(side, TEST, s)) for s in range(3)]
        assert score == pytest.approx(np.mean(by_seed))
    assert got.headline.difference == pytest.approx(got.headline.after - got.headline.before)
    assert (got.n_before, got.n_after, got.n_judged) == (120, len(AFTER), 200)
    assert got.how == "200 test rows, 3 seeds"
    assert got.notes == ()
    assert got.verdict == "better"
    assert str(got).startswith("better: balanced accuracy 0.")
    again = compare(BEFORE, AFTER, label="y", test=TEST, id="name", models=TREE, seeds=3)
    assert again == got


def test_without_test_rows_no_decision_may_touch_what_is_judged() -> None:
    got = compare(BEFORE, AFTER, label="y", id="name", models=TREE, seeds=2, folds=4)
    kept = BEFORE[~FLIPPED]
    scores = []
    for seed in range(2):
        sides: dict[str, list[Any]] = {"before": [], "after": [], "truth": []}
        splitter = StratifiedKFold(4, shuffle=True, random_state=seed)
        for _, fold in splitter.split(kept, kept["y"]):
            judged = kept.iloc[fold]
            sides["truth"] += judged["y"].tolist()
            for name, side in (("before", BEFORE), ("after", kept)):
                sides[name] += tree(side.drop(judged.index), judged, seed).tolist()
        scores.append(
            [balanced_accuracy_score(sides["truth"], sides[n]) for n in ("before", "after")]
        )
    assert [got.headline.before, got.headline.after] == pytest.approx(np.mean(scores, axis=0))
    assert got.n_judged == len(kept)
    assert "favours the cleaned data" in got.notes[0]


def test_relabelled_rows_are_not_judged() -> None:
    relabelled = BEFORE.assign(y=np.where(FLIPPED, "no", BEFORE["y"]))
    changed = int((relabelled["y"] != BEFORE["y"]).sum())
    got = compare(BEFORE, relabelled, label="y", models=TREE, seeds=1, drop=["name"])
    assert changed > 0
    assert got.n_judged == 120 - changed


def by_hand(before: list[Any], after: list[Any]) -> list[tuple[int, int]]:
    left = list(range(len(after)))
    pairs = []
    for i, row in enumerate(before):
        at = next((j for j in left if after[j] == row), None)
        if at is not None:
            left.remove(at)
            pairs.append((i, at))
    return pairs


def test_untouched_rows() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        before = rng.integers(0, 3, (8, 2)).tolist()
        after = rng.integers(0, 3, (6, 2)).tolist()
        frames = [nw.from_native(pd.DataFrame(t, columns=["a", "y"])) for t in (before, after)]
        own, others = untouched(frames[0], frames[1], None)
        assert list(zip(own.tolist(), others.tolist(), strict=True)) == by_hand(before, after)
    gap = nw.from_native(pd.DataFrame({"a": [1.0, np.nan], "l": [[1], [2]]}))
    assert untouched(gap, gap, None)[0].tolist() == [0, 1]


def test_the_interval_is_that_of_paired_rows() -> None:
    """With one seed, the bootstrap draws rows within classes, whose variance has a formula."""
    models = {"logistic": LogisticRegression()}
    got = compare(BEFORE, AFTER, label="y", test=TEST, id="name", models=models, seeds=1).headline
    truth = TEST["y"].to_numpy()
    hits = []
    for side in (BEFORE, AFTER):
        model = make_pipeline(TableEncoder(), LogisticRegression())
        hits.append(model.fit(side[["a", "c"]], side["y"]).predict(TEST[["a", "c"]]) == truth)
    change = hits[1].astype(float) - hits[0].astype(float)
    parts = [change[truth == label] for label in ("no", "yes")]
    error = np.sqrt(sum(part.var() / part.size for part in parts)) / 2
    assert (got.upper - got.lower) / 2 == pytest.approx(1.96 * error, rel=0.15)
    assert got.lower <= got.difference <= got.upper


def test_the_same_data_make_no_difference() -> None:
    got = compare(BEFORE, BEFORE, label="y", test=TEST, id="name", models=TREE, seeds=2).headline
    assert (got.difference, got.lower, got.upper) == (0.0, 0.0, 0.0)
    assert got.verdict == "no clear difference"


def test_numbers() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    frame = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": (1e5 + 2e4 * x @ [1, 2]).round()})
    train, test = frame[:200], frame[200:]
    spoilt = train.copy()
    spoilt.loc[:20, "y"] *= 30
    line = {"line": LinearRegression()}
    got = compare(spoilt, train, label="y", test=test, models=line, seeds=2)
    assert [s.metric for s in got.scores] == ["MAE", "MAE", "R²", "R²"]
    for score, metric in ((got.scores[1], mean_absolute_error), (got.scores[3], r2_score)):
        for side, found in ((spoilt, score.before), (train, score.after)):
            model = LinearRegression().fit(side[["a", "b"]], side["y"])
            assert found == pytest.approx(metric(test["y"], model.predict(test[["a", "b"]])))
    assert got.verdict == "better"
    assert got.headline.difference < 0
    assert compare(train, spoilt, label="y", test=test, models=line).verdict == "worse"
    few = frame.assign(y=frame["y"] > 1e5).astype({"y": int})
    for task, metric in (("auto", "balanced accuracy"), ("classes", "balanced accuracy")):
        models = {"logistic": LogisticRegression()}
        got = compare(few[:200], few[:150], label="y", test=few[200:], models=models, task=task)
        assert got.headline.metric == metric
    got = compare(few[:200], few[:150], label="y", test=few[200:], models=line, task="numbers")
    assert got.headline.metric == "MAE"


def test_our_own_models() -> None:
    got = compare(BEFORE, AFTER, label="y", test=TEST, id="name", seeds=2)
    names = ["all models", "boosting", "forest", "logistic"]
    assert [s.model for s in got.scores] == 3 * names
    mean = np.mean([s.difference for s in got.in_headline[1:]])
    assert got.headline.difference == pytest.approx(mean)
    numbers = BEFORE.assign(y=BEFORE["a"] * 3)
    got = compare(numbers[:90], numbers[:60], label="y", test=numbers[90:], drop=["name"], seeds=1)
    assert [s.model for s in got.scores[:4]] == ["all models", "boosting", "forest", "ridge"]


def test_tables_of_every_kind() -> None:
    wanted = compare(BEFORE, AFTER, label="y", test=TEST, id="name", models=TREE, seeds=1)
    for kind in (pl.from_pandas, lambda f: f.to_dict("list")):
        parts = [kind(part) for part in (BEFORE, AFTER, TEST)]
        got = compare(*parts[:2], label="y", test=parts[2], id="name", models=TREE, seeds=1)
        assert got == wanted
    made = decisions.Decisions((decisions.Decision(0, "remove", BEFORE["y"][0]),), "y")
    cleaned = decisions.apply(made, BEFORE.to_dict("list"))
    assert compare(BEFORE, cleaned, label="y", id="name", models=TREE, seeds=1).n_judged == 119


def test_a_column_may_become_one_of_numbers() -> None:
    """The only entry that was text is gone after cleaning."""
    before = BEFORE.astype({"a": object})
    before.loc[0, "a"] = "n.k."
    after = before[1:].astype({"a": float})
    with pytest.warns(ReadingWarning, match="column 'a' is nearly numeric: 1 of 120") as caught:
        got = compare(before, after, label="y", test=TEST, id="name", models=TREE, seeds=1)
    assert got.n_after == 119
    assert len(caught) == 1
    with pytest.warns(ReadingWarning) as caught:
        compare(before, after, label="y", id="name", models=TREE, seeds=2)
    assert len(caught) == 1  # not one for every fold


def test_rare_and_single_classes() -> None:
    rare = BEFORE.copy()
    rare.loc[5, "y"] = "odd"
    assert compare(rare, rare[1:], label="y", id="name", models=TREE, seeds=1).n_judged == 119
    alone = BEFORE[BEFORE["y"] == "yes"]
    got = compare(BEFORE, alone, label="y", test=TEST, id="name", models=TREE, seeds=1)
    assert got.headline.after == pytest.approx(0.5)
    assert got.verdict == "worse"


def rare(n: int, seed: int, kinds: int = 2) -> pd.DataFrame:
    """Rows of which few have the label "1"."""
    rng = np.random.default_rng(seed)
    y = np.minimum((rng.random(n) * 12).astype(int), kinds) % kinds
    return pd.DataFrame({"a": rng.normal(size=n) + y, "b": rng.normal(size=n) - y, "y": y})


LINE = {"line": LogisticRegression()}


@pytest.mark.parametrize("kinds", [2, 3])
def test_rankings_against_scikit_learn(kinds: int) -> None:
    train, test = rare(400, 0, kinds), rare(300, 1, kinds)
    after = train.drop(index=train.index[train["a"] > 1.5])
    got = compare(train, after, label="y", test=test, models=LINE, task="classes", seeds=1)
    found = {score.metric: score for score in got.in_headline + list(got.scores)}
    assert got.headline.metric == "AUROC"
    for side in ("before", "after"):
        table = train if side == "before" else after
        model = make_pipeline(TableEncoder(), LogisticRegression()).fit(
            table[["a", "b"]], table["y"]
        )
        p = model.predict_proba(test[["a", "b"]])
        if kinds == 2:
            auroc = roc_auc_score(test["y"], p[:, 1])
            precision = found["average precision of '1'"]
            wanted = average_precision_score(test["y"], p[:, 1])
            assert getattr(precision, side) == pytest.approx(wanted, rel=1e-12)
        else:
            auroc = roc_auc_score(test["y"], p, multi_class="ovr")
            assert set(found) == {"AUROC", "balanced accuracy"}
        assert getattr(found["AUROC"], side) == pytest.approx(auroc, rel=1e-12)


def test_intervals_of_rankings_are_those_of_a_plain_bootstrap() -> None:
    train, test = rare(400, 0), rare(600, 1)
    after = train.assign(a=np.where(train["a"] > 1, 0.0, train["a"]))
    got = compare(train, after, label="y", test=test, models=LINE, task="classes", seeds=1)
    sides = []
    for table in (train, after):
        model = make_pipeline(TableEncoder(), LogisticRegression()).fit(
            table[["a", "b"]], table["y"]
        )
        sides.append(model.predict_proba(test[["a", "b"]])[:, 1])
    y, rng = test["y"].to_numpy(), np.random.default_rng(5)
    parts = [np.flatnonzero(y == label) for label in (0, 1)]
    draws = [np.concatenate([rng.choice(part, part.size) for part in parts]) for _ in range(1000)]
    metrics = {"AUROC": roc_auc_score, "average precision of '1'": average_precision_score}
    for name, metric in metrics.items():
        changes = [metric(y[i], sides[1][i]) - metric(y[i], sides[0][i]) for i in draws]
        low, high = np.quantile(changes, [0.025, 0.975])
        score = next(s for s in got.scores if s.metric == name)
        assert score.upper - score.lower == pytest.approx(high - low, rel=0.15)
        assert (score.lower + score.upper) / 2 == pytest.approx(
            (low + high) / 2, abs=0.2 * (high - low)
        )


def test_a_rare_class_is_judged_by_its_ranking() -> None:
    train, test = rare(400, 0), rare(300, 1)
    assert test["y"].mean() < 0.2
    cut = train.drop(index=train.index[train["y"] == 1][:20])
    got = compare(train, cut, label="y", test=test, models=LINE, task="classes", seeds=1)
    assert [s.metric for s in got.scores[::2]] == [
        "AUROC",
        "balanced accuracy",
        "average precision of '1'",
    ]
    share = 100 * test["y"].mean()
    assert got.notes[0].startswith(f"The label '1' is rare ({share:.1f} % of the judged rows)")
    shares = [f"{100 * side['y'].mean():.1f} %" for side in (train, cut)]
    assert f"'1' {shares[0]} → {shares[1]}" in got.notes[1]
    even = compare(BEFORE, AFTER, label="y", test=TEST, id="name", models=LINE, seeds=1)
    assert even.headline.metric == "balanced accuracy"
    assert not any("rare" in note for note in even.notes)
    line = {"line": RidgeClassifier()}  # which has no probabilities
    got = compare(train, cut, label="y", test=test, models=line, task="classes", seeds=1)
    assert [s.metric for s in got.scores] == ["balanced accuracy"] * 2
    alone = test[test["y"] == 0]
    got = compare(train, cut, label="y", test=alone, models=LINE, task="classes", seeds=1)
    assert [s.metric for s in got.scores] == ["balanced accuracy"] * 2
    # A class that no model was shown has no probability, and is found by chance alone.
    got = compare(train, train[train["y"] == 0], label="y", test=test, models=LINE, task="classes")
    assert got.headline.after == pytest.approx(0.5, rel=1e-12)


def test_a_feature_that_names_rows_is_noted() -> None:
    parts = [part.assign(pid=[n * 7919 % 100_003 for n in part.index]) for part in (BEFORE, AFTER)]
    test = TEST.assign(pid=TEST.index)
    got = compare(*parts, label="y", test=test, drop=["name"], models=TREE, seeds=1)
    assert got.notes == (
        "column 'pid' seems to name rows: hardly any entry comes twice; give it as id, or drop it, "
        "if it does.",
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"label": "z"}, "label must name a column of before; 'z' is not among"),
        ({"id": "nam"}, "id must name a column of before.* Did you mean 'name'?"),
        ({"drop": ["z"]}, "drop must name a column of before"),
        ({"drop": ["a", "c"]}, "before must have a column of features; it has none"),
        ({"id": "c"}, "id must name each row of before once; 117 are repeated"),
        ({"after": AFTER.drop(columns="a")}, "after must have the columns of before; missing: 'a'"),
        ({"test": TEST.drop(columns="y")}, "test must have the columns of before; missing: 'y'"),
        ({"after": AFTER.assign(name="x", a=7.0)}, "id must name each row of after once"),
        ({"after": TEST}, "after must share at least 10 unchanged rows with before; it shares 0"),
        ({"after": AFTER[:0]}, "after must have rows and columns; got shape"),
        ({"before": None}, "before must be a data frame or a mapping of columns; got None"),
        ({"after": 3}, "after must be a data frame or a mapping of columns; got int"),
        ({"test": [3]}, "test must be a data frame"),
        ({"task": "sums"}, "task must be one of 'auto', 'classes', 'numbers'; got 'sums'"),
        ({"task": "numbers"}, "'y' of before must hold real numbers"),
        ({"seeds": 0}, "seeds must be a whole number of at least 1; got 0"),
        ({"folds": 1}, "folds must be a whole number of at least 2; got 1"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"models": {}}, "models must map names to models"),
        ({"models": {"x": 3}}, "models must hold classifiers or regressors; got 3"),
        ({"after": AFTER.assign(a=1.0, c="red")}, "after must have a column that differs"),
    ],
)
def test_bad_calls(given: dict[str, Any], message: str) -> None:
    usual = {"before": BEFORE, "after": AFTER, "label": "y", "id": "name", "models": TREE}
    if "differs" in message:
        usual["test"] = TEST
    with pytest.raises(ValueError, match=message):
        compare(**{**usual, **given})


def test_chart(tmp_path: Path) -> None:
    mpl.use("Agg")
    scores = (
        Score("all models", "MAE", 84197.0, 38254.0, -45943.0, -48000.0, -43000.0),
        Score("tree", "MAE", 10.0, 12.0, 2.0, 1.0, 3.0),
        Score("line", "MAE", 10.0, 10.1, 0.1, -1.0, 1.2),
        Score("all models", "R²", 0.1, 0.9, 0.8, 0.7, 0.9),
    )
    made = Comparison(scores, 100, 90, 30, "30 test rows")
    assert str(made) == "better: MAE 84,197 → 38,254 (−45,943 ± 2,500)"
    falls = Score("all models", "R²", 0.9, 0.1, -0.8, -0.9, -0.7)
    but = Comparison((*scores[:3], falls), 100, 90, 30, "30 test rows")
    assert str(but) == f"{made}; but worse: R² 0.900 → 0.100 (−0.800 ± 0.100)"
    unclear = Comparison((scores[2], scores[3]), 100, 90, 30, "30 test rows")
    said = "no clear difference: MAE 10.00 → 10.10 (+0.10 ± 1.10)"
    assert str(unclear) == said  # R² is of other models
    unclear = Comparison((Score("all models", *astuple(scores[2])[1:]), scores[3]), 100, 90, 30, "")
    assert str(unclear) == f"{said}; but better: R² 0.100 → 0.900 (+0.800 ± 0.100)"
    assert repr(unclear) == f"Comparison({unclear})"
    assert [s.verdict for s in scores] == ["better", "worse", "no clear difference", "better"]
    ax = made.plot()
    ax.figure.savefig(tmp_path / "chart.png")
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == ["all models\n84,197 → 38,254", "tree\n10.00 → 12.00", "line\n10.00 → 10.10"]
    assert ax.get_xlabel() == "MAE, after less before (left of 0 is better)"
    assert made.plot(ax=ax) is ax


def test_a_notebook_shows_all_scores() -> None:
    scores = (
        Score("all models", "MAE", 10.0, 12.0, 2.0, 1.0, 3.0),
        Score("<tree>", "R²", 0.1, 0.9, 0.8, 0.7, 0.9),
    )
    page = Comparison(scores, 1200, 90, 30, "30 test rows", ("a <note>",))._repr_html_()
    for shown in ("worse: MAE 10.00", "1,200 rows before and 90 after, judged on 30 test rows"):
        assert shown in page
    for shown in ("&lt;tree&gt;", "0.700 to 0.900", "a &lt;note&gt;", "better", "worse"):
        assert shown in page
    assert "<tree>" not in page
