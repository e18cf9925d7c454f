"""The experiments of the paper: what they are made of."""

from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dataworth import KNNShapley
from dataworth.baselines import enumerate_neighbours, quadratic
from paper import authors, continuous, detection, methods, paper, protocol, runtime, single, writing
from paper import store as store_module
from paper.datasets import Dataset
from paper.run import Run
from paper.store import Store
from tests import naive


def blobs(n: int, features: int, n_classes: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    centres = 2.0 * rng.normal(size=(n_classes, features))
    return centres[y] + rng.normal(size=(n, features)), y


class TestProtocol:
    def data(self) -> Dataset:
        X, y = blobs(300, 3, 3, 0)
        X[50:100] = X[0:50]  # repeats, of other classes even
        X[7, 1] = np.nan
        return Dataset(X, y)

    def test_no_repeats_and_balanced(self) -> None:
        data = self.data()
        train, val = protocol.split(data, 100, 20, np.random.default_rng(0))
        both = np.concatenate([train, val])
        assert len(np.unique(data.X[both], axis=0)) == both.size == 120
        assert sorted(np.bincount(data.y[train])) == [33, 33, 34]
        assert sorted(np.bincount(data.y[val])) == [6, 7, 7]

    def test_small_class_limits_all(self) -> None:
        X = np.random.default_rng(0).normal(size=(100, 2))
        data = Dataset(X, (np.arange(100) < 22).astype(np.int64))
        train, val = protocol.split(data, 200, 20, np.random.default_rng(0))
        assert np.bincount(data.y[train]).tolist() == [20, 20]
        assert np.bincount(data.y[val]).tolist() == [2, 2]

    def test_signed_zeros_are_repeats(self) -> None:
        X = np.array([[0.0], [-0.0], [1.0]])
        assert protocol.distinct(X, np.array([2, 1, 0])).tolist() == [2, 1]

    def test_flips(self) -> None:
        data = self.data()
        given: dict[str, int] = {"n_train": 100, "n_val": 20, "seed": 3}
        clean = protocol.draw("phoneme", data, "none", **given)
        bad = protocol.draw("phoneme", data, "mislabel", **given)
        assert bad.bad.sum() == 10
        np.testing.assert_array_equal(clean.y_train != bad.y_train, bad.bad)
        np.testing.assert_array_equal(clean.X_train, bad.X_train)

    def test_flips_reach_every_other_class(self) -> None:
        y = np.zeros(3000, np.int64)
        y[-1] = 3
        wrong = protocol.flip(y, np.ones(3000, bool), np.random.default_rng(0))[:-1]
        counts = np.bincount(wrong, minlength=4)
        assert counts[0] == 0
        assert counts[1:].min() > 900

    def test_no_class_is_flipped_away(self) -> None:
        X = np.random.default_rng(0).normal(size=(60, 2))
        data = Dataset(X, np.arange(60) % 14)
        for seed in range(40):
            task = protocol.draw("agnews", data, "mislabel", n_train=28, n_val=14, seed=seed)
            assert np.unique(task.y_train).size == 14

    def test_noise_is_as_strong_as_the_feature(self) -> None:
        X = np.tile([100.0, 1.0], (4000, 1))
        bad = np.arange(4000) < 2000
        noisy = protocol.blur(X, bad, np.abs(X).mean(axis=0), np.random.default_rng(0))
        np.testing.assert_array_equal(noisy[~bad], X[~bad])
        np.testing.assert_allclose((noisy - X)[bad].std(axis=0), [100.0, 1.0], rtol=0.1)

    def test_rows_have_length_one_and_nothing_is_missing(self) -> None:
        task = protocol.draw("phoneme", self.data(), "noisy", n_train=100, n_val=20, seed=0)
        for X in (task.X_train, task.X_val):
            np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1.0)

    def test_text_and_code_damage_the_same_points(self) -> None:
        given: dict[str, int] = {"n_train": 100, "n_val": 20, "seed": 3}
        for name in ("phoneme", "mnist", "agnews"):
            data = Dataset(*blobs(300, 3, 3, 0))
            for damage in protocol.DAMAGES:
                text = protocol.draw(name, data, damage, **given)
                code = protocol.draw(name, data, damage + protocol.CODE, **given)
                for one, other in zip(text[1::2], code[1::2], strict=True):
                    np.testing.assert_array_equal(one, other)  # labels
                np.testing.assert_array_equal(text.bad, code.bad)

    def test_flips_of_the_code_leave_tables_unscaled(self) -> None:
        data = Dataset(*blobs(300, 3, 3, 0))
        task = protocol.draw("phoneme", data, "mislabel-code", n_train=100, n_val=20, seed=0)
        for X in (task.X_train, task.X_val):
            assert {tuple(x) for x in X} <= {tuple(x) for x in data.X}

    def test_noise_of_the_code_grows_with_the_training_set(self) -> None:
        X = np.random.default_rng(0).normal(size=(4000, 2)) * [100.0, 1.0]
        bad = np.arange(4000) < 400
        rng = np.random.default_rng(1)
        got, _ = protocol.as_in_the_code("mnist", "noisy", X, X, bad, rng, X)
        np.testing.assert_allclose(np.linalg.norm(got[~bad], axis=1), 1.0)
        np.testing.assert_allclose(got[bad].std(axis=0), np.sqrt(4000), rtol=0.1)
        table, _ = protocol.as_in_the_code("phoneme", "noisy", X, X, bad, rng, X)
        np.testing.assert_allclose(np.linalg.norm(table, axis=1), 1.0)

    def test_no_noise_of_the_code_reaches_text(self) -> None:
        data = Dataset(*blobs(300, 3, 4, 0))
        given: dict[str, int] = {"n_train": 100, "n_val": 20, "seed": 0}
        noisy, clean = (
            protocol.draw("agnews", data, damage + protocol.CODE, **given)
            for damage in ("noisy", "none")
        )
        np.testing.assert_array_equal(noisy.X_train, clean.X_train)

    def test_seeds(self) -> None:
        data = self.data()
        one, same, other = (
            protocol.draw("phoneme", data, "noisy", n_train=100, n_val=20, seed=s)
            for s in (1, 1, 2)
        )
        np.testing.assert_array_equal(one.X_train, same.X_train)
        assert not np.array_equal(one.X_train, other.X_train)


class TestStore:
    def test_goes_on_after_a_kill(self, tmp_path: Path) -> None:
        path = tmp_path / "units.jsonl"
        store = Store(path)
        assert store.get({"seed": 0}, lambda: [0.1 + 0.2]) == [0.1 + 0.2]
        store.get({"seed": 1}, lambda: 1)
        path.write_bytes(path.read_bytes()[:-9])  # what a kill leaves of a line
        again = Store(path)
        assert again.get({"seed": 0}, lambda: pytest.fail("kept")) == [0.1 + 0.2]
        assert again.get({"seed": 1}, lambda: 2) == 2
        assert Store(path).get({"seed": 1}, lambda: pytest.fail("kept")) == 2

    def test_another_setting_or_version_is_another_unit(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store = Store(tmp_path / "units.jsonl")
        assert store.get({"K": 5}, lambda: 1) == 1
        assert store.get({"K": 6}, lambda: 2) == 2
        monkeypatch.setattr("dataworth.__version__", "another")
        assert store.get({"K": 5}, lambda: 3) == 3

    def test_changed_sources_are_another_unit(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "units.jsonl"
        monkeypatch.setattr(store_module, "__file__", str(tmp_path / "store.py"))
        for share in (0.1, 0.3):
            (tmp_path / "protocol.py").write_text(f"SHARE_BAD = {share}")
            store = Store(path, sources=("protocol.py",))
            assert store.get({"K": 5}, [share].pop) == share


class TestPaper:
    @pytest.mark.parametrize(("rank", "n", "k"), [(6, 30, 5), (12, 100, 3), (45, 2000, 40)])
    def test_error_bound_by_its_formula(self, rank: int, n: int, k: int) -> None:
        behind = sum(1 / (m - k) - 1 / m for m in range(rank + 1, n + 1))
        small = sum((comb(n, j) - comb(rank, j)) / (n * comb(n - 1, j)) for j in range(1, k))
        assert paper.error_bound(rank, n, k) == pytest.approx(behind + small, rel=1e-12)

    def test_error_bound_holds(self) -> None:
        rng = np.random.default_rng(0)
        right, weights = rng.random(40) < 0.6, np.sort(rng.integers(1, 8, 40))[::-1]
        exact = quadratic(right, weights, n_neighbors=3)
        cut = quadratic(right, weights, n_neighbors=3, max_rank=7)
        assert 0 < np.abs(exact - cut).max() <= paper.error_bound(7, 40, 3)

    def test_error_bound_needs_a_rank_beyond_k(self) -> None:
        with pytest.raises(ValueError, match="rank must be more than n_neighbors, 5; got 5"):
            paper.error_bound(5, 100, 5)

    def test_multiples_of_the_issue_at_hand(self) -> None:
        tables = {n: v for n, v in paper.MISLABEL.items() if n not in ("agnews", "dbpedia")}
        hits, total, chance = paper.multiples(tables, 1 / 225)
        assert (hits, total) == (43, 44)
        assert chance == pytest.approx(0.226, abs=1e-3)

    def test_multiples_of_the_tables_at_two_neighbours(self) -> None:
        counts = [
            paper.multiples(paper.without_text(t), 1 / 225)[:2]
            for t in (paper.CONTINUOUS_MISLABEL, paper.CONTINUOUS_NOISY)
        ]
        assert counts == [(34, 44), (40, 44)]

    def test_standing(self) -> None:
        said = paper.standing(paper.MISLABEL)
        assert "soft one on 13 of 13 data sets, above both unweighted ones on 12" in said
        assert "level with one of them on 1" in said  # CIFAR10


class TestAuthors:
    def task(self, n_classes: int, seed: int) -> protocol.Task:
        X, y = blobs(11, 2, n_classes, seed)
        X_val, y_val = blobs(5, 2, n_classes, seed + 1)
        return protocol.Task(X, y, X_val, y_val, np.arange(11) < 2)

    def strict_vote(
        self, order: list[int], labels: list[int], weight: list[int], y: int, k: int
    ) -> naive.Utility:
        """Mean over the rivals c of: do the K nearest labelled y or c vote for y, no tie?"""
        rivals = sorted(set(labels) - {y})

        def utility(members: frozenset[int]) -> float:
            won = 0
            for rival in rivals:
                voters = [i for i in order if i in members and labels[i] in (y, rival)][:k]
                won += sum(weight[i] * (1 if labels[i] == y else -1) for i in voters) > 0
            return won / len(rivals)

        return utility

    def plain(self, task: protocol.Task, weights: str, k: int, *, strict: bool) -> Any:
        """By going through all sets of training points."""
        total = np.zeros(task.y_train.size)
        labels = task.y_train.tolist()
        for x, y in zip(task.X_val, task.y_val.tolist(), strict=True):
            d = np.linalg.norm(task.X_train - x, axis=1)
            unit = (d.max() - d) / (d.max() - d.min())
            if weights == "temp":
                unit = np.exp(-(d / d.max()) / 0.1)
                unit = unit / unit.max()
            integers = [round(7 * u) if weights != "uniform" else 1 for u in unit.tolist()]
            order = naive.ranking(d.tolist())
            vote = self.strict_vote if strict else naive.hard_vote
            total += naive.shapley(len(labels), vote(order, labels, integers, y, k))
        return total / task.y_val.size

    @pytest.mark.parametrize("n_classes", [2, 3])
    @pytest.mark.parametrize("weights", ["temp", "linear", "uniform"])
    def test_votes_against_enumeration(self, n_classes: int, weights: str) -> None:
        task = self.task(n_classes, 3)
        games = {}
        for strict in (False, True):
            games[strict] = authors.votes(task, weights, strict=strict, n_neighbors=3)
            ref = self.plain(task, weights, 3, strict=strict)
            np.testing.assert_allclose(games[strict], ref, rtol=0, atol=1e-12)
        assert np.abs(games[True] - games[False]).max() > 0.01

    def test_cut_is_the_approximation_of_the_paper(self, monkeypatch: pytest.MonkeyPatch) -> None:
        task = self.task(3, 4)
        exact, cut = (authors.votes(task, "temp", strict=True, cut=c) for c in (False, True))
        assert np.abs(exact - cut).max() > 0
        ranks = []

        def whole(*arguments: Any, max_rank: int, **options: Any) -> Any:
            ranks.append((len(arguments[0]), max_rank))
            return quadratic(*arguments, **options)

        monkeypatch.setattr(authors, "quadratic", whole)
        again = authors.votes(task, "temp", strict=True, cut=True)
        np.testing.assert_allclose(again, exact, rtol=0, atol=1e-12)
        assert set(ranks) == {(8, 3), (7, 3)}  # of 11 points, those of two classes

    def test_weights_of_the_code(self) -> None:
        d = np.sort(np.random.default_rng(0).random(30))
        unit = np.exp(-(d / d.max()) / 0.1)
        np.testing.assert_allclose(authors._of_ranked(d), unit / unit.max(), rtol=1e-12)
        np.testing.assert_array_equal(authors._of_ranked(np.zeros(3)), np.ones(3))

    def test_wins_everywhere_at_once(self) -> None:
        scores = {
            "phoneme": {"soft-uniform": [0.5, 0.5, 0.5], "hard-linear": [0.6, 0.6, 0.4]},
            "apsfail": {"soft-uniform": [0.5, 0.5, 0.5], "hard-linear": [0.6, 0.5, 0.6]},
        }
        said = single.won(scores, "hard-linear", paper.MISLABEL)
        assert "on 67 % of the data sets in the mean over draws, and at most on 100 %" in said
        assert "on all 1 tables that the paper has too at once in 2;" in said
        assert said.endswith("on all 2 data sets here at once in 1.")


class TestMethods:
    def test_names_are_valuators(self) -> None:
        for name in detection.METHODS:
            if name != "soft-chosen":
                params = methods.valuator(name).get_params()
                assert name == f"{params['game']}-{params['weights']}" + (
                    "-sqrt" if params["max_rank"] else ""
                )

    def test_the_candidate_of_share_03_is_the_default(self) -> None:
        d = np.sort(np.random.default_rng(0).random(50))
        given = {"metric": "precomputed", "n_bits": None, "progress": False}
        y = np.arange(50) % 2
        one = KNNShapley(**given).fit(None, y).value(d[None], [1])  # type: ignore[arg-type]
        two = KNNShapley(weights=methods._rbf(0.3), **given)  # type: ignore[arg-type]
        np.testing.assert_allclose(two.fit(None, y).value(d[None], [1]).values, one.values)

    def test_chosen_never_sees_which_points_are_bad(self) -> None:
        X, y = blobs(200, 4, 2, 0)
        task = protocol.draw("phoneme", Dataset(X, y), "mislabel", n_train=100, n_val=20, seed=0)
        other = task._replace(bad=~task.bad)
        name, score = methods.chosen(task)
        same, opposite = methods.chosen(other)
        assert name == same
        assert opposite == pytest.approx(1 - score)


class TestContinuous:
    @pytest.mark.parametrize("n", [1, 2, 3, 4, 12])
    def test_pairs_against_enumeration(self, n: int) -> None:
        rng = np.random.default_rng(n)
        for _ in range(5):
            right, weights = rng.random(n) < 0.5, rng.choice([0.0, 0.25, 0.5, 0.8], n)
            got = continuous.hard_pairs(np.where(right, weights, -weights))
            ref = enumerate_neighbours(right, weights, n_neighbors=2, game="hard")
            np.testing.assert_allclose(got, ref, rtol=0, atol=1e-14)

    def test_one_vs_one_is_the_game_of_the_library(self) -> None:
        X, y = blobs(90, 3, 3, 1)
        task = protocol.draw("agnews", Dataset(X, y), "mislabel", n_train=60, n_val=9, seed=0)

        def rounded(right: Any, weights: Any) -> Any:
            return continuous.enumerated(right, np.rint(7 * weights))

        def rounded_strictly(right: Any, weights: Any) -> Any:
            return continuous.enumerated_strictly(right, np.rint(7 * weights))

        got = continuous.one_vs_one(task, rounded)
        np.testing.assert_allclose(
            got, methods.values_of("hard-linear", task, n_neighbors=2), rtol=0, atol=1e-14
        )
        got = continuous.one_vs_one(task, rounded_strictly)
        ref = authors.votes(task, "linear", strict=True, n_neighbors=2)
        np.testing.assert_allclose(got, ref, rtol=0, atol=1e-14)

    def test_sampled_is_the_soft_game(self, monkeypatch: pytest.MonkeyPatch) -> None:
        X, y = blobs(60, 3, 3, 1)
        task = protocol.draw("agnews", Dataset(X, y), "mislabel", n_train=30, n_val=6, seed=0)
        exact = methods.values_of("soft-linear", task, n_neighbors=2, n_bits=None)
        monkeypatch.setattr(continuous, "PERMUTATIONS", 4000)
        np.testing.assert_allclose(continuous.sampled(task), exact, rtol=0, atol=0.01)


class TestRuntime:
    def test_algorithms_compute_the_same(self) -> None:
        problem = runtime.Problem.draw(30)
        order = np.argsort(((problem.X - problem.x) ** 2).sum(axis=1))
        run = {name: a.run(problem, 3, 3) for name, a in runtime.ALGORITHMS.items()}
        exact = run["quadratic"]
        np.testing.assert_allclose(run["enumeration"], exact, atol=1e-12)
        np.testing.assert_allclose(run["hard"].values[order], exact, atol=1e-12)
        bound = paper.error_bound(6, 30, 3)
        for approximate in (
            run["sampling"].values,
            run["quadratic-root"],
            run["hard-root"].values[order],  # not the same: points of weight 0 are left out first
        ):
            assert 0 < np.abs(approximate - exact).max() <= bound

    def test_extrapolation_follows_the_cost(self) -> None:
        beyond = runtime.extrapolated("quadratic", {100: 1.0, 200: 5.0}, 5, [100, 400])
        assert beyond == {400: 20.0}
        sets = runtime.extrapolated("enumeration", {10: 1.0}, 2, [20])[20]
        assert sets == pytest.approx(19 * (1 + 18) / (9 * (1 + 8)))

    def test_growth_needs_two_points(self) -> None:
        assert runtime.growth({10: 1.0, 100: 1.0, 1_000: 10.0, 10_000: 100.0}) == "N^1.00"
        assert runtime.growth({100: 1.0}) == "–"

    def test_what_would_take_too_long_is_not_started(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        started = []

        def timed(name: str, problem: runtime.Problem, k: int, bits: int) -> dict[str, float]:
            started.append((name, len(problem.y)))
            return {"seconds": len(problem.y) ** 2 / 1e6, "load": 0.0}

        monkeypatch.setattr(runtime, "timed", timed)
        run = Run("runtime", tmp_path)
        found, _ = runtime.measure(run, ["quadratic"], 3, 3, longest=20.0)
        assert list(found["quadratic"]) == [100, 316, 1000, 3162]
        assert started.count(("quadratic", 316)) == runtime.REPEATS
        assert started.count(("quadratic", 3162)) == 1  # longer than LONG: once is enough


def test_sign_test_and_interval() -> None:
    assert writing.sign_test([0.0, 0.0]).p == 1.0
    assert writing.sign_test([1.0] * 13).p == pytest.approx(2 / 2**13)
    low = writing.interval([1.0, 2.0, 3.0])
    assert low.half == pytest.approx(4.302653 / np.sqrt(3), rel=1e-6)


def test_tables_escape_what_would_break_them() -> None:
    assert writing.table(["a"], [["x|y\nz"]]).splitlines()[-1] == "| x\\|y z |"


@pytest.mark.parametrize(("model", "n", "steps"), [("cnn", 40, 12), ("resnet18", 4, 2)])
def test_networks_learn(model: str, n: int, steps: int) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    from paper import networks

    rng = np.random.default_rng(0)
    labels = np.arange(n + 4) % 2
    images = rng.integers(0, 120, (n + 4, 3072), np.uint8)
    images[labels == 1] += np.uint8(120)
    given = (model, images[:n], labels[:n], images[n:], labels[n:])
    got = networks.accuracy(*given, n_classes=2, seed=0, steps=steps)
    assert got == networks.accuracy(*given, n_classes=2, seed=0, steps=steps)
    if model == "cnn":
        assert got == 1.0
