"""Words that matter, and where to cut a text so that they stay."""

import numpy as np
import pytest

from dataworth.report import words
from tests.reports import HOSTILE


def test_words_that_neighbours_share_and_few_others_have() -> None:
    own = "The camera work is delightful, the plot is not"
    near = ["A delightful plot", "What a DELIGHTFUL evening", "the end"]
    rarity = words.Rarity([own, *near, *["the one", "the two"] * 20, "is it"])
    assert rarity.shared(own, near) == ["delightful", "plot"]  # "the" is everywhere
    assert rarity.shared(own, []) == []
    assert words.Rarity([]).shared("", []) == []


def test_words_that_a_tenth_of_many_texts_have_say_nothing() -> None:
    own, near = "parcel lost, refund late", ["the refund is lost", "a lost parcel, a refund"]
    for n, often, expected in ((400, 50, ["refund"]), (12, 5, ["refund", "parcel", "lost"])):
        others = ["parcel lost"] * (often - 2) + ["nothing"] * (n - often - 1)
        assert set(words.Rarity([own, *near, *others]).shared(own, near)) == set(expected)


def test_stop_words_say_nothing_however_rare() -> None:
    own = "the bill must be so high as it has been, and they were at least polite"
    rarity = words.Rarity([own, own, *["something else"] * 30])
    assert rarity.shared(own, [own]) == ["bill", "high", "polite"]  # a bill is something


def test_which_columns_are_texts_to_read() -> None:
    tweet = "the crew was rude and my luggage is still in Denver"
    assert words.are_texts([tweet, None, "", "short", float("nan")])
    assert words.are_texts(np.array([tweet, tweet]))
    assert words.are_texts(np.array([tweet, None], dtype=object))
    for column in (
        [],
        [None],
        np.arange(3.0),
        np.zeros((3, 8, 8)),
        ["https://example.org/" + "a" * 40],
        ["Tue Feb 24 11:35:52 +0000 2015"],
        ["short"] * 20 + [tweet],
    ):
        assert not words.are_texts(column)


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_has_a_beginning(text: str) -> None:
    for length in (1, 5, 40):
        first = words.start(text, words.words(text), length)
        assert 0 <= first <= max(len(text) - 1, 0)


def test_a_piece_holds_as_many_of_the_words_as_can_be() -> None:
    text = "one " * 30 + "two three " + "four " * 30
    for wanted, length in ((["two", "three"], 20), (["three"], 10), (["one", "two"], 12)):
        first = words.start(text, wanted, length)
        piece = text[first : first + length]
        assert all(word in piece for word in wanted)
    assert words.start(text, ["four"], 1000) == 0
    assert words.start(text, ["nothing"], 10) == 0
    assert words.start(text, ["one"], 10) == 0
