"""Hostile data, small screens and many rows, in a real browser."""

import csv
import io
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dataworth import decisions
from tests.browser import Reader, downloaded, press, row, rows
from tests.reports import HOSTILE, explain, values_of


@pytest.fixture
def hostile() -> dict[str, Any]:
    n = len(HOSTILE) + 1
    labels = [HOSTILE[k % len(HOSTILE)] for k in range(n)]
    values = values_of(np.arange(n) - 12, labels, metric="<script>alert(5)</script>")
    columns = {name or "empty": labels[k:] + labels[:k] for k, name in enumerate(HOSTILE)}
    why = [
        explain(values, p, labels[p + 1], near=[p + 1], hurts=[(p, labels[p])]) for p in range(20)
    ]
    options: dict[str, Any] = {
        "explanations": why,
        "ids": labels,
        "group": HOSTILE[0],
        "by": [HOSTILE[2]],
    }
    return {"values": values, "columns": columns, "validation": "train", **options}


def test_hostile_data_are_text_and_run_nothing(show: Reader, hostile: dict[str, Any]) -> None:
    page = show(**hostile, title=HOSTILE[2])
    markup = page.locator("script, img, iframe, object, embed, svg, style, link")
    assert markup.count() == 3  # the data, our script and our style
    page.get_by_text("Charts of all values").click()
    for button in ("td.because button", ".numbers summary", ".about summary", ".compare button"):
        page.evaluate("what => document.querySelectorAll(what).forEach(b => b.click())", button)
    page.wait_for_function("document.querySelectorAll('.numbers table').length === 7")
    texts = page.locator("bdi").evaluate_all("all => [...new Set(all.map(e => e.textContent))]")
    assert set(HOSTILE) - {""} <= set(texts)
    page.get_by_label("Search").fill("a")
    assert page.locator("h1").text_content() == HOSTILE[2]
    assert page.title() == HOSTILE[2]
    assert page.locator("dd", has_text="<script>alert(5)</script>").count() == 1
    assert markup.count() == 3
    assert page.evaluate("typeof window.broken") == "undefined"
    assert page.evaluate("document.documentElement.scrollWidth") == 1366


def test_hostile_labels_survive_the_file(
    show: Reader, hostile: dict[str, Any], tmp_path: Path
) -> None:
    page = show(**hostile)
    for position in range(20):
        press(page, position, "Relabel" if HOSTILE[(position + 1) % 20] else "Remove")
    raw = downloaded(page)
    (tmp_path / "d.csv").write_bytes(raw)
    for line in csv.reader(io.StringIO(raw.decode("utf-8-sig"), newline="")):
        for cell in line:
            assert cell == "-1" or not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    made = decisions.read(tmp_path / "d.csv")
    assert [d.label for d in made.rows] == list(HOSTILE)
    assert [d.new_label for d in made.rows] == [*HOSTILE[1:19], None, HOSTILE[0]]
    labels = hostile["values"].labels.tolist()
    cleaned = decisions.apply(made, {"y": labels}, label="y")
    assert cleaned["y"] == [*HOSTILE[1:19], HOSTILE[0], *labels[20:]]


def test_no_script_can_be_slipped_in(show: Reader) -> None:
    page = show(values_of([0.0, 1.0], [0, 1]))
    refused = page.evaluate(
        "() => new Promise(done => {"
        "  document.addEventListener('securitypolicyviolation', e => done(e.effectiveDirective));"
        "  const s = document.createElement('script');"
        "  s.textContent = 'window.broken = 1'; document.body.append(s);"
        "  setTimeout(() => done('nothing'), 1000); })"
    )
    assert refused == "script-src-elem"
    assert len(show.heard()) == 1
    assert page.evaluate("typeof window.broken") == "undefined"


def test_phone(show: Reader, hostile: dict[str, Any]) -> None:
    page = show(**hostile, context={"viewport": {"width": 390, "height": 844}})
    row(page, 0).get_by_role("button", name="Details").click()
    press(page, 1, "Relabel")
    page.get_by_text("Find, filter and sort").click()
    page.get_by_text("Columns", exact=True).click()
    page.get_by_text("Charts of all values").click()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    wide = page.evaluate(
        "[...document.querySelectorAll('button, select, input, td, canvas')].filter(e => "
        "!e.closest('.frame.small') && e.getBoundingClientRect().right > 391).length"
    )
    assert wide == 0
    assert page.locator("#sort").is_visible()
    page.locator("#sort").select_option("Label given")
    assert rows(page)[0] != 0


def test_a_hundred_thousand_rows(show: Reader, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    n = 100_000
    labels = [f"class {k}" for k in rng.integers(0, 10, n)]
    values = values_of(rng.standard_t(3, n), labels)
    columns: dict[str, Any] = {f"feature {k}": rng.normal(size=n) for k in range(17)}
    columns["city"] = [f"city {k}" for k in rng.integers(0, 300, n)]
    columns["text"] = [f"what somebody wrote about point {k}, at some length" for k in range(n)]
    columns["label"] = labels
    worst = values.worst(500)["index"].tolist()
    why = [
        explain(
            values, p, labels[p - 1], near=rng.integers(0, n, 10).tolist(), hurts=[(p, "x")] * 10
        )
        for p in worst
    ]
    options: dict[str, Any] = {"explanations": why, "label": "label", "validation": "train"}
    page = show(values, columns, group="city", by=["feature 0", "feature 1"], **options)
    assert (tmp_path / "report.html").stat().st_size < 10_000_000
    seconds = []
    for _ in range(3):  # the best of three: other work on the machine is not the report's
        start = time.perf_counter()
        page.reload()
        page.wait_for_selector("html[data-ready]")
        page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        seconds.append(time.perf_counter() - start)
    assert min(seconds) < 3
    assert rows(page) == worst[:50]
    assert "The table has 500 of 100,000 points" in page.locator("#points-lead").inner_text()
