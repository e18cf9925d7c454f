"""Semivalues by name, in Python and on the command line."""

import math
from typing import Any

import numpy as np
import pytest

from dataworth import KNNShapley
from dataworth.errors import InputError
from dataworth.games.kernels.coefficients import room, shapley_like
from dataworth.games.semivalues import SEMIVALUES, Law, law, typed
from tests import naive


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("shapley", Law(1.0, 1.0)),
        ("banzhaf", Law(math.inf, math.inf)),
        (("beta", 4, 1), Law(4.0, 1.0)),
        (["beta", np.float32(0.5), np.int8(16)], Law(0.5, 16.0)),
    ],
)
def test_law(value: Any, expected: Law) -> None:
    assert law(value) == expected
    assert all(type(number) is float for number in law(value))


@pytest.mark.parametrize("value", [("shapley",), ["banzhaf"], "beta", ("beta", 1.0), ()])
def test_names_and_numbers_must_go_together(value: Any) -> None:
    with pytest.raises(InputError, match="semivalue must be 'shapley', 'banzhaf' or"):
        law(value)


@pytest.mark.parametrize(
    ("alpha", "beta", "ahead"), [(1.0, 16.0, "large"), (16.0, 1.0, "small"), (1.0, 1.0, "neither")]
)
def test_a_larger_alpha_gives_more_weight_to_small_sets(
    alpha: float, beta: float, ahead: str
) -> None:
    """Alpha and beta are as in the words about them, and not the other way round."""
    inside, *_ = room(shapley_like(20, 20, *law(("beta", alpha, beta))), 20, 20, 20)
    assert inside.sum() == pytest.approx(1.0)
    small, large = inside[:10].sum(), inside[10:].sum()
    found = "neither" if small == pytest.approx(large) else "small" if small > large else "large"
    assert found == ahead


@pytest.mark.parametrize(
    ("text", "value"),
    [("shapley", "shapley"), ("banzhaf", "banzhaf"), ("beta:4,0.5", ("beta", 4.0, 0.5))],
)
def test_typed(text: str, value: Any) -> None:
    assert typed(text) == value
    law(typed(text))


def test_what_is_written_and_typed_is_understood() -> None:
    """Documentation and help show how each is given: with numbers in their places it works."""
    for kind in SEMIVALUES.values():
        in_python, on_line = kind.written, kind.typed
        for name in kind.numbers:
            in_python = in_python.replace(f", {name}", ", 2.5")
            on_line = on_line.replace(f":{name}", ":2.5").replace(f",{name}", ",2.5")
        assert law(eval(in_python)) == law(typed(on_line))


WANTED = r"semivalue must be 'shapley', 'banzhaf' or \('beta', alpha, beta\)"


@pytest.mark.parametrize(
    "value",
    ["owen", "beta", ("beta", 1.0), ("beta", 1, 2, 3), ("shapley", 1), (), None, 3, (["beta"], 1)],
)
def test_other_semivalues_are_refused(value: Any) -> None:
    with pytest.raises(InputError, match=f"{WANTED}; got ") as caught:
        law(value)
    assert caught.value.came == f"got {value!r}"


@pytest.mark.parametrize("bad", [0.0, -1.0, 2e6, math.nan, math.inf, "4", None, 1j])
def test_other_numbers_are_refused(bad: Any) -> None:
    for value in (("beta", bad, 1.0), ("beta", 1.0, bad)):
        with pytest.raises(InputError, match=f"{WANTED} with numbers from 1e-6 to 1e6; got "):
            law(value)


@pytest.mark.parametrize("text", ["owen", "beta", "beta:1", "beta:1,x", "shapley:1", "beta:1,2,3"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(InputError) as caught:
        typed(text)
    wanted = "semivalue must be shapley, banzhaf or beta:alpha,beta"
    assert str(caught.value) == f"{wanted}; got {text!r}."


@pytest.mark.parametrize("numbers", [(1e-6, 1.0), (1.0, 1e-6), (1e-6, 1e-6), (1e-6, 5.0)])
def test_tiny_numbers_lose_no_digits(numbers: tuple[float, float]) -> None:
    """1e-6 + 3 - 3 is not 1e-6: small parameters must be added last."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(3, 9)), int(rng.integers(1, 12))
        y, row = np.append([0, 1], rng.integers(0, 2, n - 2)), rng.random(n)
        valuator = KNNShapley(
            metric="precomputed", weights="uniform", n_neighbors=k, semivalue=("beta", *numbers)
        )
        got = valuator.fit(None, y).value(row[None], [0]).values
        share = naive.soft_share(naive.ranking(row.tolist()), y.tolist(), [1.0] * n, 0, k)
        np.testing.assert_allclose(got, naive.beta_shapley(n, share, *numbers), rtol=0, atol=1e-12)
