"""`dataworth value`: every way to value a file."""

import csv
import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from pyarrow import csv as arrow_csv
from pyarrow import parquet

import dataworth
from dataworth import DataValues, KNNShapley, LinearScores, OutOfBagForest, TableEncoder
from dataworth.cli import options
from dataworth.cli import ruler as rulers
from dataworth.files import tables
from dataworth.games.registry import GAMES
from dataworth.games.ties import TIES
from dataworth.result import read_values
from dataworth.weights.functions import WEIGHTS
from tests.commands import reference, rows


def test_leave_one_out(run: Any) -> None:
    ran = run("value train.csv --label y --id name --drop owner -o values.parquet")
    assert (ran.code, ran.err) == (0, "")
    X, y, _, _ = reference()
    ref = KNNShapley().fit(X, y).value()
    table = parquet.read_table("values.parquet")
    known = ["id", "value", "lower", "upper", "label", "agreement", "suggested", "score"]
    assert table.column_names == known
    assert_array_equal(table["value"], ref.values)
    assert_array_equal(table["agreement"], ref.agreement)
    assert_array_equal(table["suggested"], ref.suggested)
    assert table["id"].to_pylist() == rows()["name"]
    assert "60 training points, 2 features, leave-one-out" in ran.out
    assert_array_equal(table["score"], ref.score)
    worst = np.argsort(ref.score, kind="stable")[:10]
    shown = re.findall(r"p0-(\d+)", ran.out)
    assert shown == [str(i) for i in worst]
    assert "The 10 most suspect" in ran.out
    assert "look wrong" not in ran.out  # 60 points are too few to measure unasked


def clusters(path: str, n: int) -> KNNShapley:
    """A file of two classes that are apart, a tenth of whose labels are wrong."""
    rng = np.random.default_rng(3)
    y = np.arange(n) % 2
    x = rng.normal(size=n) + 8 * y
    y[rng.permutation(n)[: n // 10]] ^= 1
    labels = np.array(["no", "yes"])[y]
    tables.write_table(path, pa.table({"x": x, "y": labels}))
    table = arrow_csv.read_csv(path)
    return KNNShapley().fit(table.select(["x"]), table["y"])


@pytest.mark.parametrize(
    ("options", "how", "repeats"),
    [
        ("", {}, 3),
        ("--ruler 1", {}, 1),
        ("--cv 3 --ruler 2", {"cv": 3}, 2),
        ("--ruler 0", {}, None),
        ("--checkpoint state", {}, 3),
    ],
)
def test_labels_that_look_wrong_are_counted(
    run: Any, options: str, how: dict[str, Any], repeats: int | None
) -> None:
    ref = clusters("many.csv", 150).value(**how, ruler=repeats)
    ran = run(f"value many.csv --label y {options} -o v.parquet")
    assert ran.code == 0, ran.err
    values = DataValues.load("v.parquet")
    assert values.ruler == ref.ruler
    names = parquet.read_table("v.parquet").column_names
    if ref.ruler is None:
        assert "wrong" not in ran.out
        assert "suspect" not in names
        return
    times = "once" if repeats == 1 else f"{repeats} times"
    said = f"{ref.ruler.sentence} (Measured on errors planted {times}.)"
    assert said in ran.out
    assert said in run("info v.parquet").out
    flags = parquet.read_table("v.parquet")["suspect"].to_numpy()
    assert set(np.flatnonzero(flags)) == set(np.asarray(ref.suspects()["index"]))
    run("value many.csv --label y --ruler 1 -o v.csv")
    assert "suspect" in Path("v.csv").read_text().splitlines()[0]
    if options.startswith("--checkpoint"):
        assert {path.name for path in Path("state").glob("ruler-*")} == {
            f"ruler-{number}" for number in range(3)
        }


def test_long_runs_are_not_measured_unasked(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dataworth.cli.ruler.PAIR", 0.01)  # seconds
    clusters("many.csv", 150)
    ran = run("value many.csv --label y")
    assert ran.code == 0
    assert "look wrong" not in ran.out
    note = (
        "dataworth: note: --ruler 3 says how many labels look wrong, and may take 11 minutes more."
    )
    assert note in ran.err


@pytest.mark.parametrize("ruler", [0, 1])
def test_a_run_that_takes_long_says_so_first(
    run: Any, monkeypatch: pytest.MonkeyPatch, ruler: int
) -> None:
    clusters("many.csv", 150)
    line = f"value many.csv --label y --ruler {ruler}"
    assert run(line).err == ""
    monkeypatch.setattr("dataworth.cli.ruler.seconds", lambda *_, **__: 600.0)
    ran = run(line)
    assert (ran.code, ran.err) == (
        0,
        f"dataworth: note: this may take {10 + 10 * ruler} minutes.\n",
    )


@pytest.mark.parametrize("options", ["", "--validation val.csv"])
def test_without_a_progress_bar_a_long_run_says_so_first(
    run: Any, monkeypatch: pytest.MonkeyPatch, options: str
) -> None:
    line = f"value train.csv --label y --features size {options}"
    assert run(line).err == ""
    monkeypatch.setattr("dataworth.cli.ruler.seconds", lambda *_, **__: 600.0)
    note = "dataworth: note: this may take 10 minutes.\n"
    ran = run(line)
    assert (ran.code, ran.err) == (0, note)
    with monkeypatch.context() as patch:
        patch.setattr("sys.stderr.isatty", lambda: True)
        assert run(line).err == ""

    def stopped(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(KNNShapley, "value", stopped)
    ran = run(line)
    assert (ran.code, ran.err) == (130, f"{note}dataworth: error: interrupted.\n")


def test_the_time_of_a_run_goes_with_its_validation_points() -> None:
    how = {"forest": False, "plain": True}
    assert rulers.seconds(8000, 2000, 10, **how) == rulers.seconds(8000, 8000, 10, **how) / 4


def test_the_ruler_is_on_where_it_takes_little_time(run: Any) -> None:
    """However many rows there are."""
    clusters("many.csv", 2200)
    ran = run("value many.csv --label y -o v.parquet")
    assert (ran.code, ran.err) == (0, "")
    assert DataValues.load("v.parquet").ruler is not None
    X, y = np.zeros((3000, 4)), np.arange(3000) % 2
    for valuator, forest, times in (
        (KNNShapley(), False, 3),
        (KNNShapley(), True, 3),
        (KNNShapley(metric="manhattan"), False, 3),
    ):
        assert rulers.repeats(valuator, X, y, forest=forest) == times
    X, y = np.zeros((30_000, 4)), np.arange(30_000) % 2
    assert rulers.repeats(KNNShapley(), X, y, forest=False) == 3
    assert rulers.repeats(KNNShapley(), X, y, forest=True) == 0
    assert rulers.repeats(KNNShapley(metric="manhattan"), X, y, forest=False) == 0
    assert rulers.repeats(KNNShapley(n_bits=None), X, y, forest=False) == 0


def test_the_recipe_is_that_of_python(run: Any) -> None:
    tables.write_table("train.csv", pa.table(rows(60)))
    ran = run(
        "value train.csv --label y --features size --features colour --encoder recipe -o v.npz"
    )
    assert ran.code == 0, ran.err
    X, y, _, _ = reference()
    encoders = ["auto", OutOfBagForest(n_jobs=-1), LinearScores()]
    recipe = KNNShapley(encoder=encoders, n_neighbors=10, n_jobs=-1)
    expected = recipe.fit(X, y).value()
    got = DataValues.load("v.npz")
    assert_array_equal(got.values, expected.values)
    assert_array_equal(got.score, expected.score)
    assert got.params["n_neighbors"] == 10
    run("value train.csv --label y --features size --encoder recipe -k 3 -o v.npz")
    assert DataValues.load("v.npz").params["n_neighbors"] == 3


def test_the_recipe_for_numbers(run: Any) -> None:
    """Prices that nobody said are numbers: the run finds out, and takes no model of classes."""
    size = np.random.default_rng(0).random(130)
    price = (1000 * size).astype(int) + np.arange(130) % 7
    tables.write_table("houses.csv", pa.table({"size": size, "price": price}))
    ran = run("value houses.csv --label price --encoder recipe --ruler 0 -o v.npz")
    assert ran.code == 0, ran.err
    assert "different numbers" in ran.err
    encoders = ["auto", OutOfBagForest(n_jobs=-1)]
    recipe = KNNShapley(encoder=encoders, n_neighbors=10, game="regression", n_jobs=-1)
    expected = recipe.fit(pa.table({"size": size}), price).value()
    assert_array_equal(DataValues.load("v.npz").values, expected.values)


def test_the_recipe_where_labels_stand_alone(run: Any) -> None:
    size = np.random.default_rng(0).random(30)
    one = pa.table({"size": size, "y": ["a"] * 15 + ["b"] * 14 + ["c"]})
    tables.write_table("one.csv", one)
    ran = run("value one.csv --label y --encoder recipe -o v.npz")
    assert ran.code == 0, ran.err
    assert "only one row has some label, so the recipe goes without linear models." in ran.err
    by_encoder = DataValues.load("v.npz").by_encoder
    assert by_encoder is not None
    assert by_encoder.keys() == {"auto", "OutOfBagForest"}
    tables.write_table("same.csv", pa.table({"size": size, "y": ["a"] * 30}))
    ran = run("value same.csv --label y --encoder recipe -o v.npz")
    assert ran.code == 0, ran.err
    assert "all labels are the same, so every value is 0." in ran.err


@pytest.mark.parametrize("labels", [["a"] * 150, [f"c{i // 3}" for i in range(150)]])
def test_labels_that_cannot_be_measured_are_not(run: Any, labels: list[str]) -> None:
    tables.write_table("many.csv", pa.table({"x": np.arange(150.0), "y": labels}))
    ran = run("value many.csv --label y --encoder none")
    assert ran.code == 0, ran.err
    assert "wrong" not in ran.out


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("train.csv --label y --validation val.csv --ruler 3", "--ruler must be left out with --v"),
        ("train.csv --label y --ruler=-1", "--ruler"),
        ("train.csv --label y --ruler many", "--ruler"),
        ("few.csv --label y --ruler 2", "--ruler must be left out with fewer than 4 training"),
        ("same.csv --label y --ruler 2", "--ruler must be left out if no error can be planted"),
    ],
)
def test_bad_rulers(run: Any, line: str, said: str) -> None:
    tables.write_table("few.csv", pa.table({"x": [1.0, 2.0, 3.0], "y": ["a", "b", "a"]}))
    tables.write_table("same.csv", pa.table({"x": np.arange(9.0), "y": ["a"] * 9}))
    run.refused(f"value {line}", 2, said)


def test_balanced_classes(run: Any) -> None:
    ran = run("value train.csv --label y --drop owner --drop name --class-weight balanced -o v.npz")
    assert ran.code == 0, ran.err
    X, y, _, _ = reference()
    ref = KNNShapley(class_weight="balanced").fit(X, y).value()
    got = DataValues.load("v.npz")
    assert_array_equal(got.values, ref.values)
    assert not np.array_equal(got.values, KNNShapley().fit(X, y).value().values)
    ran = run("value train.csv --label size --features y --task numbers --class-weight balanced")
    assert ran.code == 2
    assert "--class-weight" in ran.err


def test_every_option_reaches_the_valuator(run: Any) -> None:
    line = (
        "value train.csv --label y --features size --validation val.csv -k 3 --game hard "
        "--weights rbf --bandwidth 0.5 --bits 2 --metric manhattan --max-rank 20 --jobs 1 "
        "--semivalue beta:4,1 --encoder none -o v.npz --top 0"
    )
    ran = run(line)
    assert ran.code == 0, ran.err
    X, y, X_val, y_val = reference(("size",))
    ref = KNNShapley(
        n_neighbors=3,
        game="hard",
        bandwidth=0.5,
        n_bits=2,
        metric="manhattan",
        max_rank=20,
        semivalue=("beta", 4, 1),
        encoder=None,
    )
    expected = ref.fit(X, y).value(X_val, y_val)
    got = dataworth.DataValues.load("v.npz")
    for name in ("values", "lower", "upper"):
        assert_array_equal(getattr(got, name), getattr(expected, name))
    assert "least valuable" not in ran.out
    ran = run(
        "value train.csv --label y --features size --radius 0.7 --weights uniform --cv 3 "
        "--bits none --semivalue banzhaf -o r.csv"
    )
    assert ran.code == 0, ran.err
    again = KNNShapley(radius=0.7, weights="uniform", n_bits=None, semivalue="banzhaf")
    got, _ = read_values("r.csv")
    assert_array_equal(got.values, again.fit(X, y).value(cv=3).values)
    assert "3 folds" in ran.out


def test_groups_are_paid(run: Any) -> None:
    ran = run("value train.csv --label y --id name --group owner -o v.csv")
    values, owners = read_values("v.csv")
    assert owners is not None
    assert owners.tolist() == rows()["owner"]
    for row in values.by(owners):
        cells = rf"{row['group']}\s+{row['count']}\s+{row['sum']:.6g}\s+{100 * row['share']:.1f} %"
        assert re.search(cells, ran.out)
    assert re.search(r"Ann\s+\d+", run("info v.csv").out)


def test_owners_are_paid_to_the_cent(run: Any) -> None:
    ran = run(
        "value train.csv --label y --id name --owners owner --validation val.csv --budget 1000 "
        "--payouts paid.csv --report r.html --checkpoint state -o v.csv"
    )
    assert ran.code == 0, ran.err
    X, y, X_val, y_val = reference()
    whose = rows()["owner"]
    paid = KNNShapley().fit(X, y).value_owners(whose, X_val, y_val)
    with Path("paid.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [line["owner"] for line in lines] == paid.owners[paid.best_first].tolist()
    assert [float(line["value"]) for line in lines] == paid.values[paid.best_first].tolist()
    amounts = [float(line["amount"]) for line in lines]
    assert round(sum(amounts), 2) == 1000.0
    for line, amount in zip(lines, amounts, strict=True):
        cells = rf"{line['owner']}\s+{line['n_points']}\s+\S+\s+\S+\s+\S+ %\s+\S+ %\s+{amount:,.2f}"
        assert re.search(cells, ran.out), ran.out
    assert "What the owners are worth is in paid.csv." in ran.out
    assert '"amounts"' in Path("r.html").read_text()
    values, groups = read_values("v.csv")
    assert groups is not None
    assert groups.tolist() == whose
    assert_array_equal(values.values, KNNShapley().fit(X, y).value(X_val, y_val).values)


def test_harmful_owners_are_noted(run: Any) -> None:
    table = rows()
    wrong = [
        {"yes": "no", "no": "yes"}[label] if owner == "Bob" else label
        for label, owner in zip(table["y"], table["owner"], strict=True)
    ]
    tables.write_table("bad.csv", pa.table({**table, "y": wrong}))
    line = "value bad.csv --label y --id name --owners owner --validation train.csv --features size"
    ran = run(line + " -k 1 --weights uniform")
    assert ran.code == 0, ran.err
    assert re.search(r"Bob\s+\d+\s+-", ran.out), ran.out
    assert "predictions are better without" in ran.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--owners owner --group owner", "--owners must not be given with --group"),
        ("--budget 100", "--budget must come with --owners"),
        ("--payouts p.csv", "--payouts must come with --owners"),
        ("--owners owner --budget 1.005", "--budget must be a positive amount in whole cents"),
        ("--owners owner --payouts p.parquet", r"--payouts must end in one of"),
        ("--owners whose", "--owners must"),
        ("--owners owner --max-rank 5", "--max-rank must"),
    ],
)
def test_bad_options_for_owners(run: Any, options: str, said: str) -> None:
    run.refused(f"value train.csv --label y --id name {options}", 2, said)


def test_standard_output_is_csv_only(run: Any) -> None:
    ran = run("value train.csv --label y --drop name --drop owner -o -")
    lines = list(csv.DictReader(io.StringIO(ran.out)))
    X, y, _, _ = reference()
    ref = KNNShapley().fit(X, y).value()
    assert [float(line["value"]) for line in lines] == ref.values.tolist()
    assert ran.code == 0
    assert "60 training points" in ran.err


def test_a_forest_judged_out_of_bag_needs_no_folds(run: Any) -> None:
    assert run("value train.csv --label y --encoder out-of-bag -o v.npz").code == 0
    assert DataValues.load("v.npz").params["weights"] == "encoder"
    refused = "value train.csv --label y --encoder out-of-bag --weights linear"
    run.refused(refused, 2, "--weights must be 'auto' with an encoder that weighs the points")


def test_forest(run: Any) -> None:
    run.refused("value train.csv --label y --encoder forest", 2, "give --validation or --cv")
    ran = run("value train.csv --label y --encoder forest --cv 3 -o v.npz")
    assert ran.code == 0, ran.err
    values, _ = read_values("v.npz")
    assert values.params["metric"] == "hamming"
    assert TableEncoder.__name__ in values.params["encoder"]


def test_a_validation_file_is_read_once(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read, seen = tables.read_table, []

    def counted(path: Any, **options: Any) -> Any:
        seen.append(str(path))
        return read(path, **options)

    monkeypatch.setattr(tables, "read_table", counted)
    got: dict[str, Any] = {}
    monkeypatch.setattr("dataworth.report.write", lambda *a, **options: got.update(options))
    ran = run("value train.csv --label y --validation val.csv --report r.html")
    assert ran.code == 0, ran.err
    assert sorted(seen) == ["train.csv", "val.csv"]
    assert got["validation"] == arrow_csv.read_csv("val.csv").to_pydict()


def test_output_replaces_a_file_whole(
    run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "v.csv"
    path.write_text("old")
    before = sorted(folder.iterdir())
    monkeypatch.setattr(tables, "write_csv", lambda *a: 1 / 0)
    assert run("value train.csv --label y -o v.csv").code == 1
    assert path.read_text() == "old"
    assert sorted(folder.iterdir()) == before


def test_every_choice_is_in_the_help(run: Any) -> None:
    shown = " ".join(re.sub("[│╭╰─╮╯]", " ", run("value --help").out).split())
    registries: tuple[Mapping[str, Any], ...] = (GAMES, WEIGHTS, TIES, options.ENCODERS)
    for choices in registries:
        assert re.search(rf"[<\[]{re.escape('|'.join(choices))}[>\]]", shown)  # by typer's version
        for name, entry in choices.items():
            assert f"{name}: {getattr(entry, 'short', entry.words)}" in shown


def test_notes_and_limits(run: Any) -> None:
    Path("one.csv").write_text("a,y\n1,p\n2,p\n3,p\n")
    ran = run("value one.csv --label y")
    assert ran.code == 0
    assert "all labels are the same, so every value is 0" in ran.err
    run.refused("value train.csv --label y --cv 61", 2, "--cv must be at most the number of points")
    Path("d.csv").write_text("position\n1\n")
    run.refused("apply d.csv train.csv -o c.csv", 2, "DECISIONS must name a file with the columns")


def prices(path: str, n: int = 60) -> None:
    rng = np.random.default_rng(0)
    size = rng.normal(size=n)
    price = (1000 * (300 + 50 * size).round()).astype(int)
    tables.write_table(path, pa.table({"size": size, "y": price}))


def test_many_whole_numbers_are_quantities(run: Any) -> None:
    prices("p.csv")
    ran = run("value p.csv --label y -o v.npz")
    assert ran.code == 0
    assert "dataworth: note: the targets are " in ran.err
    assert "numbers (--game regression); --task classes takes each for a class." in ran.err
    table = arrow_csv.read_csv("p.csv")
    expected = KNNShapley(game="regression").fit(table.select(["size"]), table["y"]).value()
    assert_array_equal(DataValues.load("v.npz").values, expected.values)
    for typed, game in (
        ("--task classes", "soft"),
        ("--game soft", "soft"),
        ("--task numbers", "regression"),
        ("--task numbers --game regression", "regression"),
    ):
        ran = run(f"value p.csv --label y {typed} -o v.npz")
        assert (ran.code, ran.err) == (0, "")
        assert DataValues.load("v.npz").params["game"] == game
    for typed in ("--task classes --game regression", "--task numbers --game soft"):
        run.refused(f"value p.csv --label y {typed}", 2, "--task must fit --game; got ")


def test_one_word_among_quantities_is_refused(run: Any) -> None:
    prices("p.csv")
    lines = Path("p.csv").read_text().splitlines()
    lines[3] = lines[3].partition(",")[0] + ",n.a."
    Path("p.csv").write_text("\n".join(lines) + "\n")
    said = "column 'y' of p.csv must hold numbers or classes; it holds text: 59 numbers, and 1 "
    run.refused("value p.csv --label y", 2, f"{said}entry that is none, such as 'n.a.' in row 2")
    run.refused("value p.csv --label y --log", 2, "must hold real numbers; row 2 is 'n.a.'. Mend")
    run.refused("compare p.csv p.csv --label y", 2, said)
    assert run("value p.csv --label y --task classes -o v.npz").code == 0


def test_every_run_says_what_columns_were_taken_for(run: Any) -> None:
    table = rows()
    table["size"] = [f"{x:.3f}" for x in table["size"]]
    table["size"][2] = "n.k."
    table["same"] = ["x"] * len(table["y"])
    tables.write_table("odd.csv", pa.table(table))
    ran = run("value odd.csv --label y")
    assert ran.code == 0
    said = ran.out.splitlines()[0]
    assert said == "4 features: 1 number, 2 categories, 1 text."
    assert ran.err.splitlines() == [
        "dataworth: note: column 'name' seems to name rows: hardly any entry comes twice; "
        "use --id name or --drop name if it does.",
        "dataworth: note: column 'size' is nearly numeric: 1 of 60 entries are not numbers, "
        "such as 'n.k.', and count as missing.",
        "dataworth: note: 1 column is not used, as all entries are the same, missing, or "
        "categories that come only once: 'same'.",
    ]
    ran = run("value odd.csv --label y --id name --drop same --cv 3 -o -")
    assert ran.err.startswith("3 features: 1 number, 2 categories.\n")
    assert ran.err.count("dataworth: note: ") == 1
    assert ran.out.startswith("id,value")
    again = run("value train.csv --label y --features size --validation val.csv")
    assert again.out.startswith("1 feature: 1 number.\n60 training points, 1 feature, ")


def test_the_next_command_has_the_same_columns(run: Any) -> None:
    ran = run("value train.csv --label y --id name --drop owner -o v.csv")
    then = "dataworth compare train.csv train-cleaned.csv --label y --id name --drop owner"
    assert ran.out.splitlines()[-1].endswith(f": {then}")
    ran = run("value train.csv --label y --features size --group owner -o v.csv")
    then = "--label y --drop name --drop colour --drop owner"
    assert ran.out.splitlines()[-1].endswith(then)
    assert "dataworth compare" not in run("value train.csv --label y --id name").out


def test_text_and_skewed_numbers_get_a_word(run: Any) -> None:
    rng = np.random.default_rng(0)
    words = [" ".join(rng.choice(["good", "bad", "long", "late"], 9)) for _ in range(60)]
    table = rows() | {"words": words, "price": np.exp(2 * rng.normal(size=60)).tolist()}
    tables.write_table("odd.csv", pa.table(table))
    note = "dataworth: note: text is the main feature"
    assert note in run("value odd.csv --label y --features words").err
    assert note in run("value odd.csv --label y --features words --features size").err
    for features in ("words --features size --features colour", "size"):
        assert note not in run(f"value odd.csv --label y --features {features}").err
    note = "dataworth: note: the numbers to predict are positive, and few of them are far larger"
    line = "value odd.csv --label price --task numbers --features colour"
    told = next(said for said in run(line).err.splitlines() if said.startswith(note))
    assert told.endswith(": --log values their logarithms.")
    assert "positive" not in run(f"{line} --log").err
    for label in ("size", "even"):
        table["even"] = np.linspace(1.0, 9.0, 60).tolist()
        tables.write_table("odd.csv", pa.table(table))
        ran = run(f"value odd.csv --label {label} --task numbers --features colour")
        assert (ran.code, "positive" in ran.err) == (0, False)


def test_a_validation_file_with_the_training_rows_is_noted(run: Any) -> None:
    ran = run("value train.csv --label y --features size --validation train.csv")
    assert ran.code == 0
    assert ran.err == (
        "dataworth: note: 60 of the 60 validation points are training points too, and judge "
        "themselves; leaving out --validation lets each judge only the others.\n"
    )


def test_copies_and_outliers_are_a_line_of_the_run(run: Any) -> None:
    table = rows()
    for name, column in table.items():
        column[31] = column[12] if name != "name" else "p0-0"  # a copy, under a used id
    table["y"][31] = "no" if table["y"][12] == "yes" else "yes"
    table["owner"][12], table["owner"][31] = "Ann", "Bob"
    table["size"][40] = 1e4
    tables.write_table("odd.csv", pa.table(table))
    ran = run("value odd.csv --label y --id name --group owner -o v.csv --report r.html")
    assert ran.code == 0, ran.err
    assert (
        "1 row is an exact copy of another, with another label; 2 rows are nearly the same as a "
        "row of another group; 1 row is far from all others: outlier; 2 rows share their id with "
        "another row.\n"
    ) in ran.out
    assert "exact copy" in Path("r.html").read_text()
    usual = run("value train.csv --label y --id name --drop owner")
    assert "copy" not in usual.out
    assert "outlier" not in usual.out


def test_numbers_are_shown_as_shares_of_their_variance(run: Any) -> None:
    table = rows()
    table["y"] = [round(1000 * x + 5e5) for x in table["size"]]
    tables.write_table("prices.csv", pa.table(table))
    ran = run("value prices.csv --label y --task numbers --features colour --owners owner -o v.csv")
    assert ran.code == 0, ran.err
    values = read_values("v.csv")[0].values
    scale = np.var(table["y"])
    ends = f"{values.min() / scale:.4g} to {values.max() / scale:.4g}"
    assert f"values from {ends} of the targets' variance" in ran.out
    assert "Values are shown as shares of the targets' variance." in ran.out
    assert "58 rows are exact copies of others (2 different rows in all)" in ran.out
    assert f"{values.min() / scale:.6g}" in ran.out
    assert f"{values.min():.6g}" not in ran.out


def test_logarithms_from_values_to_a_comparison(run: Any) -> None:
    """Prices with a zero too many or too few are found, and shown and applied in their units."""
    rng = np.random.default_rng(1)
    size = rng.uniform(40, 200, 160).round(1)
    price = (2000 * size * np.exp(0.1 * rng.normal(size=160))).round(-1).astype(int)
    wrong = {7: 10 * price[7], 40: price[40] // 10, 99: 10 * price[99], 120: price[120] // 10}
    price[list(wrong)] = list(wrong.values())
    tables.write_table("h.csv", pa.table({"size": size, "price": price}))
    ran = run("value h.csv --label price --log --ruler 0 -o v.parquet --report r.html")
    assert (ran.code, ran.err) == (0, "")
    ref = KNNShapley(game="regression").fit(pa.table({"size": size}), np.log(price)).value()
    values = DataValues.load("v.parquet")
    assert_array_equal(values.values, ref.values)
    assert_array_equal(values.labels, price)
    assert set(values.suspects_first[:4]) == set(wrong)
    assert "Values are shown as shares of the logarithms' variance." in ran.out
    assert values.suggested is not None
    for at in wrong:
        assert re.search(rf"^ {at} .* {price[at]:,} +{values.suggested[at]:,.0f} ", ran.out, re.M)
    assert run("value h.csv --label price --log --ruler 0 -o v.csv").code == 0
    assert "variance" not in run("info v.csv").out  # such a file does not say of what
    page = Path("r.html").read_text()
    assert f'"y":"{price[7]}.0"' in page.replace(" ", "")
    assert "logarithms" in page
    ran = run("apply v.parquet h.csv --label price --remove --suspects 4 -o h-cleaned.csv")
    assert ran.code == 0, ran.err
    kept = arrow_csv.read_csv("h-cleaned.csv")["price"].to_pylist()
    assert kept == [p for at, p in enumerate(price.tolist()) if at not in wrong]
    ran = run("compare h.csv h-cleaned.csv --label price --seeds 1 --folds 2")
    assert (ran.code, "MAE" in ran.out) == (0, True)
