"""How the table of a report is laid out on wide and on narrow screens, in a real browser."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from dataworth import DataValues
from tests.browser import Reader, row
from tests.reports import explain, values_of

WIDE = {"viewport": {"width": 1400, "height": 900}}
NARROW = {"viewport": {"width": 400, "height": 900}}
N = 30
LABELS = np.array(["negative outcome", "neutral or positive"] * (N // 2))
DATE = "2015-02-24 11:35:52 -0800"
TWEET = "the crew was rude and my luggage is still somewhere in Denver, so no thanks"


def suspects() -> DataValues:
    rng = np.random.default_rng(0)
    agreement, worth = rng.random(N), np.sort(rng.normal(size=N)) / 100
    agreement[0] = -9.0
    return replace(values_of(worth, LABELS), agreement=agreement, suggested=LABELS[::-1].copy())


def page_of(show: Reader, columns: dict[str, Any], **options: Any) -> Page:
    values = suspects()
    why = [explain(values, p, LABELS[p], near=[8, 9, 10, 11, 12]) for p in range(6)]
    ids = [f"{528_315_090 + 977 * k}" for k in range(N)]
    return show(values, columns, **{"explanations": why, "ids": ids, "context": WIDE, **options})


def box(place: Locator) -> dict[str, float]:
    found = place.bounding_box()
    assert found is not None
    return {name: found[name] for name in ("x", "y", "width", "height")}


def overlap(one: dict[str, float], other: dict[str, float]) -> bool:
    """Whether two boxes share more than their edges."""
    return all(
        min(one[at] + one[size], other[at] + other[size]) - max(one[at], other[at]) > 1
        for at, size in (("x", "width"), ("y", "height"))
    )


def is_cut(place: Locator) -> bool:
    return bool(place.evaluate("e => e.scrollWidth > e.clientWidth"))


def heads(page: Page) -> list[str]:
    return [re.split(r"[↕▲▼]", t)[0].strip() for t in page.locator("thead th").all_inner_texts()]


def test_dates_and_other_short_texts_stay_on_one_line(show: Reader) -> None:
    long = "a text of almost forty characters, right"
    page = page_of(show, {"when": [DATE] * N, "what": [long] * N, "n": [-1.5e-05] * N})
    plain = page_of(show, {})
    assert box(row(page, 3))["height"] == box(row(plain, 3))["height"]
    for name, text in (("when", DATE), ("what", long)):
        cell = row(page, 3).locator(f'td[data-head="{name}"]')
        assert cell.get_attribute("title") == text
        assert is_cut(cell.locator(".data")) == (name == "what")


def test_a_text_comes_first_and_has_room(show: Reader) -> None:
    numbers = {f"feature {k}": list(range(N)) for k in range(4)}
    page = page_of(show, {"when": [DATE] * N, **numbers, "tweet": [TWEET] * N})
    names = heads(page)
    assert names.index("tweet") == names.index("Suggested") + 1 == names.index("Why") - 1
    assert names[names.index("Why") + 1 :] == ["when", *numbers]
    cell, frame = row(page, 3).locator('td[data-head="tweet"]'), page.locator("#frame")
    assert cell.inner_text() == TWEET
    assert box(cell)["width"] >= 300
    end = box(frame)["x"] + box(frame)["width"]
    assert box(cell)["x"] + box(cell)["width"] < end
    page.get_by_role("button", name="tweet").click()
    focused = page.evaluate("document.activeElement.innerText")
    assert focused.startswith("tweet")  # the heading that was pressed, wherever it stands


def test_details_can_be_opened_beside_a_text(show: Reader) -> None:
    """Without scrolling sideways first, and outside the part that fades."""
    labels = np.array(["positive", "negative"] * (N // 2))
    values = replace(suspects(), labels=labels, suggested=labels[::-1].copy())
    why = [explain(values, 3, "positive", near=[8, 9, 10, 11, 12])]
    columns = {"tweet": [TWEET] * N, "when": [DATE] * N}
    ids = [f"{528_315_090 + 977 * k}" for k in range(N)]
    page = show(values, columns, explanations=why, ids=ids, context=WIDE)
    frame = box(page.locator("#frame"))
    assert box(row(page, 3))["height"] < 70
    link = box(row(page, 3).get_by_role("button", name="Details"))
    assert link["x"] + link["width"] < frame["x"] + frame["width"] - 32


def test_a_table_that_goes_on_to_the_right_says_so(show: Reader) -> None:
    page = page_of(show, {f"a long name of feature {k}": list(range(N)) for k in range(6)})
    hint, frame = page.get_by_text("More columns to the right"), page.locator("#frame")
    assert hint.is_visible()
    assert frame.evaluate("f => getComputedStyle(f).maskImage") != "none"
    frame.evaluate("f => { f.scrollLeft = f.scrollWidth; }")
    expect(frame).not_to_have_class(re.compile(r"\bmore\b"))
    assert not hint.is_visible()
    assert frame.evaluate("f => getComputedStyle(f).maskImage") == "none"
    assert not page_of(show, {}).get_by_text("More columns to the right").is_visible()


def test_the_header_stays_in_sight(show: Reader) -> None:
    page = page_of(show, {})
    row(page, 3).get_by_role("button", name="Details").click()
    head, bar = page.locator("#frame > table > thead"), page.locator("#bar")
    for place in (page.locator("tr.details"), row(page, 15), row(page, 25)):
        place.evaluate("row => row.scrollIntoView()")
        assert box(head)["y"] == pytest.approx(box(bar)["y"] + box(bar)["height"], abs=1)
        middle = [box(head)["x"] + 20, box(head)["y"] + box(head)["height"] / 2]
        found = "(head, at) => head.contains(document.elementFromPoint(...at))"
        assert head.evaluate(found, middle)
    row(page, 20).focus()
    for _ in range(20):
        page.keyboard.press("k")
        at = page.locator("tr.point:focus")
        assert box(at)["y"] >= box(head)["y"] + box(head)["height"]  # not below the header


def test_a_narrow_page_cuts_and_overlaps_nothing_that_has_room(show: Reader) -> None:
    columns = {"negative_reason_confidence": [0.25] * N, "tweet_created": [DATE] * N}
    page = page_of(show, {**columns, "tweet": [TWEET] * N}, context=NARROW)
    assert page.evaluate("document.documentElement.scrollWidth") == 400
    line = row(page, 3)
    cells = [box(cell) for cell in line.locator("td").all()]
    for place in line.locator("td > *").all():
        assert sum(overlap(box(place), cell) for cell in cells) == 1  # its own
    for chip in line.locator(".chip").all():
        assert not is_cut(chip)
    for name in columns:  # neither the name nor the entry is broken
        assert box(line.locator(f'td[data-head="{name}"]'))["height"] < 32


def test_scores_and_values_have_the_same_digits(show: Reader) -> None:
    values = suspects()
    shares = np.array([-0.5, -0.25, -0.0975, -0.011, *values.values[4:]])
    page = show(replace(values, values=shares), context=WIDE)
    scores = page.locator('td[data-head="Score"]').all_inner_texts()
    assert len(scores) == N
    assert all(re.fullmatch(r"−?\d+\.\d\d", text) for text in scores)
    for position, text in enumerate(["−0.500", "−0.250", "−0.0975", "−0.0110"]):
        assert row(page, position).locator("td.worth").inner_text() == text
