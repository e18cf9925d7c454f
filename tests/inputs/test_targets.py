"""Targets with errors planted: how many, where, and which classes keep a point."""

import numpy as np
import pytest

from dataworth.errors import InputError
from dataworth.inputs.targets import Labels, Logarithms, Numbers

WHOLE = [slice(None)]


def generator(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("n", [0, 1, 7, 30])
def test_so_many_labels_are_changed_and_no_others(n: int) -> None:
    labels = Labels.of(["a", "b", "c", "b"] * 30, None)
    made, changed = labels.with_errors(n, WHOLE, generator(0))
    assert np.unique(changed).size == n
    np.testing.assert_array_equal(np.flatnonzero(made.codes != labels.codes), np.sort(changed))
    np.testing.assert_array_equal(made.classes, labels.classes)


def test_every_point_and_every_other_class_is_as_likely() -> None:
    labels = Labels.of(np.arange(40) % 4, None)
    points, moves = np.zeros(40), np.zeros((4, 4))
    for seed in range(2000):
        made, changed = labels.with_errors(8, WHOLE, generator(seed))
        points[changed] += 1
        np.add.at(moves, (labels.codes[changed], made.codes[changed]), 1)
    assert np.abs(points / 400 - 1).max() < 0.2  # 5 standard errors are 0.22
    assert np.diag(moves).sum() == 0
    assert np.abs(moves[~np.eye(4, dtype=bool)] / (16000 / 12) - 1).max() < 0.14


def test_each_class_keeps_a_point_in_each_part() -> None:
    labels = Labels.of(["a"] * 20 + ["b"] * 3 + ["c"] * 3 + ["d"], None)
    parts = [np.r_[0:22, 23:25, 26], np.r_[0:20, 21:23, 24:27]]
    for seed in range(100):
        made, changed = labels.with_errors(20, parts, generator(seed))
        assert changed.size == 20  # of 19 + 1 + 1 that can be spared
        for part in parts:
            assert set(made.codes[part].tolist()) == {0, 1, 2, 3}


def test_a_class_that_a_part_lacks_is_left_alone() -> None:
    """Nobody gets its label, lest somebody judges by it where no training point has it."""
    labels = Labels.of(["a"] * 10 + ["b"] * 10 + ["c"] * 10, None)
    parts = [np.arange(20), np.arange(30)]
    for seed in range(50):
        made, changed = labels.with_errors(8, parts, generator(seed))
        assert changed.size == 8
        np.testing.assert_array_equal(made.codes == 2, labels.codes == 2)


@pytest.mark.parametrize("y", [["a"] * 9, ["a", "b"]])
def test_labels_that_cannot_be_changed_stay(y: list[str]) -> None:
    labels = Labels.of(y, None)
    made, changed = labels.with_errors(3, WHOLE, generator(0))
    assert changed.size == 0
    np.testing.assert_array_equal(made.codes, labels.codes)


def test_numbers_get_the_target_of_another_point() -> None:
    numbers = Numbers.of([0.0] * 90 + list(np.arange(1.0, 11.0)), None)
    made, changed = numbers.with_errors(60, WHOLE, generator(0))
    assert np.unique(changed).size == 60
    np.testing.assert_array_equal(np.flatnonzero(made.codes != numbers.codes), np.sort(changed))
    assert set(made.codes.tolist()) <= set(numbers.codes.tolist())


def test_numbers_that_are_all_the_same_stay() -> None:
    numbers = Numbers.of([2.5] * 9, None)
    made, changed = numbers.with_errors(3, WHOLE, generator(0))
    assert changed.size == 0
    np.testing.assert_array_equal(made.codes, numbers.codes)


def test_logarithms_are_for_games_and_numbers_for_people() -> None:
    y = np.array([174_755.0, 3_800_000.0, 0.1, 1e150, 2.0, 7e-100])
    targets = Logarithms.of(y, None)
    np.testing.assert_array_equal(targets.codes, np.log(y))
    np.testing.assert_array_equal(targets.learnt(), np.log(y))
    np.testing.assert_array_equal(targets.given(), y)
    np.testing.assert_array_equal(targets.names(targets.codes), y)  # to the last digit
    np.testing.assert_array_equal(targets.read(y, y.size), targets.codes)
    part = targets.part(np.array([4, 1]))
    np.testing.assert_array_equal(part.given(), y[[4, 1]])
    np.testing.assert_array_equal(part.codes, np.log(y[[4, 1]]))
    assert Logarithms.of([1.0, 100.0], None).suggested(np.arange(2), np.ones(2)) == 10.0


def test_planted_errors_have_the_numbers_of_their_logarithms() -> None:
    y = np.arange(1.0, 31.0)
    made, changed = Logarithms.of(y, None).with_errors(6, WHOLE, generator(2))
    plain, same = Numbers.of(y, None).with_errors(6, WHOLE, generator(2))
    np.testing.assert_array_equal(changed, same)
    np.testing.assert_array_equal(made.given(), plain.given())
    np.testing.assert_array_equal(made.codes, np.log(plain.given()))


@pytest.mark.parametrize("bad", [[0.0, 2.0], [1.0, -1.0]])
def test_numbers_without_a_logarithm_are_counted(bad: list[float]) -> None:
    said = "must hold positive numbers with log=True; 1 of 2 are 0 or negative"
    with pytest.raises(InputError, match=f"y {said}"):
        Logarithms.of(bad, None)
    with pytest.raises(InputError, match=f"y_val {said}"):
        Logarithms.of([1.0, 2.0], None).read(bad, 2)
