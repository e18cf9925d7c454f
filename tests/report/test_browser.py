"""What readers see in a report, and what they do with it, in a real browser."""

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from dataworth import DataValues, KNNShapley, OwnerValues, decisions
from dataworth.cli.main import main
from dataworth.files import tables
from tests.browser import Reader, count, downloaded, press, row, rows
from tests.reports import explain, values_of

LABELS = ["cat", "cat", "dog", "dog", "owl", "cat"]
COLUMNS: dict[str, list[Any]] = {
    "kind": LABELS,
    "name": ["Ann", "Bob", "Cleo", "Dan", "Eve", "Fay"],
    "age": [3, 12, None, 100, 7, 20],
    "note": ["plain", "a " * 400, "Zebra", "apple", None, "mixed CASE"],
    "farm": ["north", "south", "north", "south", "north", "south"],
}
VALUES = values_of([-0.6, -0.5, -0.4, -0.3, -0.2, 0.9], LABELS)


def pets(show: Reader, **options: Any) -> Page:
    why = [
        explain(VALUES, 0, "dog", near=[2, 3, 5], hurts=[(1, "dog"), (0, "owl")]),
        explain(VALUES, 1, "cat", near=[0, 5]),
        explain(VALUES, 2, None, hurts=[(1, "cat")]),
    ]
    given: dict[str, Any] = {"explanations": why, "label": "kind", "ids": "name", "group": "farm"}
    validation = {"note": ["first judge", "second judge"], "age": [1, 2]}
    return show(VALUES, COLUMNS, **{**given, "by": "age", "validation": validation, **options})


def test_sort(show: Reader) -> None:
    page = pets(show)
    assert rows(page) == [0, 1, 2, 3, 4, 5]

    def sort(name: str) -> tuple[str | None, list[int]]:
        head = page.locator("th", has=page.get_by_role("button", name=name))
        head.get_by_role("button").click()
        return head.get_attribute("aria-sort"), rows(page)

    assert sort("Value") == ("descending", [5, 4, 3, 2, 1, 0])
    assert sort("age") == ("ascending", [0, 4, 1, 5, 3, 2])  # as numbers, missing last
    assert sort("age") == ("descending", [3, 5, 1, 4, 0, 2])
    assert sort("Label given") == ("ascending", [0, 1, 5, 2, 3, 4])  # ties as they were
    assert sort("Point") == ("ascending", [0, 1, 2, 3, 4, 5])
    assert page.locator('th[aria-sort="ascending"]').count() == 1


def test_search(show: Reader) -> None:
    page = pets(show)
    search = page.get_by_label("Search")
    for words, expected in (
        ("zebra", [2]),
        ("  CASE ", [5]),
        ("fay", [5]),
        ("owl", [4]),
        ("100", [3]),
        ("nothing at all", []),
        ("", [0, 1, 2, 3, 4, 5]),
    ):
        search.fill(words)
        assert rows(page) == expected
        found = page.locator("#found").inner_text()
        assert found == ("6 points" if len(expected) == 6 else f"{len(expected)} of 6 points")
        assert page.get_by_text("No point matches").is_visible() == (not expected)


def test_filter(show: Reader) -> None:
    page = pets(show)
    page.locator("#group-0").select_option("cat")
    assert rows(page) == [0, 1, 5]
    page.locator("#group-1").select_option("north")
    assert rows(page) == [0]
    page.locator("#group-0").select_option("all")
    assert rows(page) == [0, 2, 4]
    page.locator("#group-1").select_option("all")
    page.locator("#suggestion").select_option("another label")
    assert rows(page) == [0]
    page.locator("#suggestion").select_option("the same label")
    assert rows(page) == [1]
    page.locator("#suggestion").select_option("anything")
    press(page, 3, "Remove")
    page.locator("#decision").select_option("remove")
    assert rows(page) == [3]
    page.locator("#decision").select_option("not marked")
    assert rows(page) == [0, 1, 2, 4, 5]


def test_a_bar_of_a_chart_filters_the_table(show: Reader) -> None:
    page = pets(show)
    canvas = page.locator(".card", has_text="Negative points by farm").locator("canvas")
    canvas.scroll_into_view_if_needed()
    bar = canvas.evaluate(
        "c => { const b = Chart.getChart(c).getDatasetMeta(0).data[0]; return [b.x / 2, b.y]; }"
    )
    canvas.click(position={"x": bar[0], "y": bar[1]})
    # The worst group is the first; the charting library hands a click on with the next frame.
    expect(page.locator("#group-1 option:checked")).to_have_text("north")
    assert rows(page) == [0, 2, 4]


def test_charts_show_the_values(show: Reader) -> None:
    page = pets(show)
    charts = page.locator("#charts canvas").evaluate_all(
        "all => all.map(c => { const d = Chart.getChart(c).data; "
        "return [d.labels, d.datasets.map(s => s.data)]; })"
    )
    histogram, curve, label, spread, farm, age = charts
    assert sum(step["y"] for series in histogram[1] for step in series) == 6
    assert curve[1][0][-1]["x"] == 6
    assert curve[1][0][-1]["y"] == pytest.approx(-1.1)
    assert label[0] == ["dog", "owl", "cat"]
    assert label[1][0] == pytest.approx([1, 1, 2 / 3])
    assert spread[0] == ["cat", "dog", "owl"]
    assert dict(zip(farm[0], farm[1][0], strict=True)) == pytest.approx(
        {"north": 1, "south": 2 / 3}
    )
    assert "missing" in age[0]
    card = page.locator(".card", has_text="Negative points by farm")
    card.get_by_text("Show the numbers").click()
    first = card.locator("tbody tr").first.inner_text().split("\t")
    assert first[:4] == ["north", "3", "3", "100 %"]


def test_marks_are_counted_undone_and_kept(show: Reader) -> None:
    page = pets(show)
    assert count(page) == "0 of 6 marked 0 keep 0 relabel 0 remove"
    assert page.get_by_role("button", name="Download decisions").is_disabled()
    press(page, 0, "Relabel")
    press(page, 1, "Remove")
    press(page, 2, "Keep")
    press(page, 3, "Remove")
    assert count(page) == "4 of 6 marked 1 keep 1 relabel 2 remove"
    assert row(page, 0).get_by_label("New label").input_value() == "dog"  # as suggested
    press(page, 3, "Remove")
    press(page, 1, "Keep")
    assert count(page) == "3 of 6 marked 2 keep 1 relabel 0 remove"
    assert row(page, 1).get_by_role("button", name="Keep").get_attribute("aria-pressed") == "true"
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert count(page) == "3 of 6 marked 2 keep 1 relabel 0 remove"
    page.get_by_role("button", name="Clear marks").click()
    assert show.heard() == ["Clear all 3 marks?"]
    assert count(page) == "0 of 6 marked 0 keep 0 relabel 0 remove"


def test_a_browser_that_keeps_nothing_says_so(show: Reader) -> None:
    page = pets(show)
    assert "Marks stay in this browser" in page.locator("#points-lead").inner_text()
    page.add_init_script("Storage.prototype.setItem = () => { throw new Error('no room'); }")
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert "download before you close" in page.locator("#points-lead").inner_text()
    press(page, 0, "Keep")
    assert count(page).startswith("1 of 6 marked")


def test_a_new_label_must_be_chosen_before_the_download(show: Reader) -> None:
    page = pets(show)
    press(page, 4, "Relabel")
    press(page, 0, "Keep")
    assert count(page).endswith("1 new label missing")
    page.get_by_role("button", name="Download decisions").click()
    assert page.get_by_text("Choose a new label for 1 point first").is_visible()
    assert rows(page) == [4]
    menu = row(page, 4).get_by_label("New label")
    assert menu.locator("option").all_inner_texts() == ["choose a label", "cat", "dog"]
    menu.select_option("cat")
    assert "missing" not in count(page)
    assert b'"4","relabel","cat","owl"' in downloaded(page)


def test_all_found_can_be_marked_at_once(show: Reader) -> None:
    page = pets(show)
    press(page, 2, "Keep")
    page.locator("#group-1").select_option("north")
    page.locator("#all").select_option("remove")
    assert show.heard() == ["Remove: 2 points not yet marked of the 3 found?"]
    assert count(page) == "3 of 6 marked 1 keep 0 relabel 2 remove"
    page.locator("#group-1").select_option("all")
    page.locator("#all").select_option("relabel as suggested")
    assert page.get_by_text("Nothing to mark").is_visible()
    page.locator("#all").select_option("not marked")
    assert show.heard() == ["Take the marks off 3 points of the 6 found?"]
    assert count(page).startswith("0 of 6")


def test_decisions_can_be_applied(show: Reader, tmp_path: Path) -> None:
    page = pets(show)
    press(page, 0, "Relabel")
    press(page, 1, "Remove")
    press(page, 2, "Keep")
    path = tmp_path / "decisions.csv"
    path.write_bytes(downloaded(page))
    made = decisions.read(path)
    assert [(d.position, d.decision, d.new_label, d.label, d.id) for d in made.rows] == [
        (0, "relabel", "dog", "cat", "Ann"),
        (1, "remove", None, "cat", "Bob"),
        (2, "keep", None, "dog", "Cleo"),
    ]
    cleaned = decisions.apply(made, COLUMNS)
    assert cleaned["kind"] == ["dog", "dog", "dog", "owl", "cat"]
    assert cleaned["name"] == ["Ann", "Cleo", "Dan", "Eve", "Fay"]
    with pytest.raises(ValueError, match="decisions must be for these data"):
        decisions.apply(made, {**COLUMNS, "kind": [*LABELS[:5], "dog"]})


def test_the_last_instruction_can_be_copied_and_run(
    show: Reader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tables.write_table("my pets.csv", pa.table(COLUMNS))
    page = pets(show, source="my pets.csv")
    press(page, 0, "Relabel")
    press(page, 1, "Remove")
    Path("decisions.csv").write_bytes(downloaded(page))
    line = page.locator("#next code").inner_text()
    assert line == "dataworth apply decisions.csv 'my pets.csv' -o 'my pets-cleaned.csv'"
    assert main(shlex.split(line)[1:]) == 0
    cleaned = tables.read_table("my pets-cleaned.csv")
    assert cleaned["kind"].to_pylist() == ["dog", "dog", "dog", "owl", "cat"]


def test_the_last_instruction_fits_a_narrow_page(show: Reader, tmp_path: Path) -> None:
    narrow = {"viewport": {"width": 400, "height": 800}}
    page = pets(show, source=tmp_path / f"{'long' * 20}.csv", context=narrow)
    press(page, 1, "Remove")
    downloaded(page)
    assert page.locator("#next code").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 400


def test_the_last_instruction_without_a_file_is_python(show: Reader) -> None:
    for options, call in (
        ({}, "decisions.apply(decisions.read('decisions.csv'), columns)"),
        ({"label": None}, "decisions.apply(decisions.read('decisions.csv'), columns, label=…)"),
    ):
        page = pets(show, **options)
        press(page, 1, "Remove")
        downloaded(page)
        assert page.locator("#next code").inner_text() == call


def test_keys(show: Reader) -> None:
    page = pets(show)
    row(page, 0).focus()
    for key in ("3", "ArrowDown", "2", "j", "1", "k", "k", "Enter"):
        page.keyboard.press(key)
    assert count(page) == "3 of 6 marked 1 keep 1 relabel 1 remove 1 new label missing"
    assert page.locator("tr.details").count() == 1
    assert page.locator("tr.point:focus, tr.point :focus").count() == 1
    for key in ("Enter", "ArrowUp", "3"):
        page.keyboard.press(key)
    page.get_by_label("Search").press("3")
    assert count(page).startswith("2 of 6")


def test_the_reasons_are_shown(show: Reader) -> None:
    page = pets(show)
    assert "2 × dog" in row(page, 0).locator(".because").inner_text().replace("\n", " ")
    row(page, 0).get_by_role("button", name="Details").click()
    detail = page.locator("tr.details")
    assert "2 of its 3 nearest neighbours have another label" in detail.inner_text()
    near, hurt = detail.locator(".reasons").all()
    names = near.locator("tbody td:first-child").all_inner_texts()
    assert names == ["Cleo at 2", "Dan at 3", "Fay at 5"]
    assert "second judge" in hurt.locator("tbody tr").first.inner_text()
    assert "−0.1" in hurt.locator("tbody tr").first.inner_text()
    row(page, 0).get_by_role("button", name="Hide details").click()
    assert detail.count() == 0
    row(page, 4).get_by_role("button", name="Details").click()
    assert page.get_by_text("No explanation was computed").is_visible()


def test_long_texts_open(show: Reader) -> None:
    page = pets(show)
    row(page, 1).get_by_role("button", name="Details").click()
    page.get_by_role("button", name="Show all 800 characters").click()
    assert "a " * 399 in page.locator("tr.details dd").nth(1).inner_text()


def test_columns_can_be_chosen(show: Reader) -> None:
    page = pets(show)
    page.get_by_text("Columns", exact=True).click()
    page.get_by_role("checkbox", name="note").uncheck()
    assert page.locator("thead", has_text="note").count() == 0
    assert page.locator("thead", has_text="farm").count() == 1


def test_many_points_come_in_pages(show: Reader) -> None:
    values = values_of(np.arange(120) - 200, np.arange(120) % 2)
    page = show(values)
    assert rows(page) == list(range(50))
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Next").click()
    assert rows(page) == list(range(100, 120))
    row(page, 100).focus()
    page.keyboard.press("ArrowUp")
    assert rows(page) == list(range(50, 100))
    assert page.evaluate("document.activeElement.dataset.position") == "99"


def test_regression(show: Reader, tmp_path: Path) -> None:
    targets = (np.arange(20) / 8).tolist()
    values = values_of(np.arange(20) - 15, targets, game="regression")
    why = explain(values, 3, 1.5, near=[4, 5], hurts=[(0, 0.25)])
    page = show(values, {"y": targets}, explanations=[why], label="y")
    press(page, 3, "Relabel")
    new = row(page, 3).get_by_label("New label")
    assert new.input_value() == ""  # a number is not filled in, only said
    assert new.get_attribute("placeholder") == "neighbours: 1.5"
    assert count(page).endswith("1 new label missing")
    assert "relabel as suggested" not in page.locator("#all").inner_text()
    new.fill("much")
    assert count(page).endswith("1 new label missing")
    new.fill("-2.5")
    (tmp_path / "d.csv").write_bytes(downloaded(page))
    cleaned = decisions.apply(decisions.read(tmp_path / "d.csv"), {"y": targets})
    assert cleaned["y"] == [*targets[:3], -2.5, *targets[4:]]


def prices() -> tuple[DataValues, list[Any]]:
    """Houses, one of which costs twenty times what houses near it do."""
    rng = np.random.default_rng(0)
    targets = np.round(rng.normal(180_000, 20_000, 40), 2)
    targets[7] = 3_800_000
    worth = rng.normal(size=40) * 1e8
    worth[7] = -7e11
    values = values_of(worth, targets, game="regression")
    why = [
        explain(values, p, 174_754.6, near=[8, 9, 10], hurts=[(0, targets[0]), (1, targets[1])])
        for p in (7, 3)
    ]
    return values, why


def test_numbers_can_be_read(show: Reader) -> None:
    values, why = prices()
    page = show(values, {"price": values.labels.tolist()}, explanations=why, label="price")
    assert "3,800,000 against 174,755" in row(page, 7).locator(".because").inner_text()
    assert row(page, 7).locator("td", has_text="3,800,000").count()
    row(page, 7).get_by_role("button", name="Details").click()
    said = page.locator("tr.details").inner_text()
    assert "Its target is 3,800,000; its neighbours say 174,755." in said
    share = -7e11 / float(np.var(values.labels))
    shown = row(page, 7).locator('td[data-head="Value"]').inner_text()
    assert float(shown.replace("−", "-")) == pytest.approx(share, rel=1e-2)
    everything = page.locator("body").inner_text()
    assert not re.search(r"\de\+?\d", everything)  # 3.8e+6 and the like
    assert "of the targets' variance" in page.locator("#tiles").inner_text()


def test_copies_and_outliers_are_shown(show: Reader) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    X[30], X[41] = X[20], (40.0, 40.0)
    y[30] = 1 - y[20]
    values = KNNShapley().fit(X, y).value()
    page = show(values, {"x": X[:, 0].tolist()}, rows=5)
    lead = page.locator("#lead").inner_text()
    assert "1 row is an exact copy of another, with another label" in lead
    assert "1 row is far from all others: outlier" in lead
    title = page.locator("#points-title").inner_text()
    assert re.fullmatch("The 5 least valuable points, and [123] that are copies or outliers", title)
    page.locator("#odd").select_option("copies and outliers")
    assert sorted(rows(page)) == [20, 30, 41]  # also those that are not among the five worst
    assert "far from all others" in row(page, 41).locator(".because").inner_text()
    copy = row(page, 30).locator(".because").inner_text()
    assert "copy of 20" in copy
    assert "a copy has another label" in copy
    assert "has copies" in row(page, 20).locator(".because").inner_text()
    page.get_by_label("Search").fill("copy of")
    assert rows(page) == [30]


def test_large_numbers_fit_a_narrow_page(show: Reader) -> None:
    values, why = prices()
    narrow = {"viewport": {"width": 400, "height": 800}}
    columns = {"price": values.labels.tolist(), "rooms": list(range(40))}
    page = show(values, columns, explanations=why, label="price", by="price", context=narrow)
    press(page, 7, "Relabel")
    row(page, 7).get_by_role("button", name="Details").click()
    assert page.evaluate("document.documentElement.scrollWidth") == 400


def test_without_columns_and_explanations(show: Reader) -> None:
    page = show(values_of([0.0], [True]))
    assert rows(page) == [0]
    assert page.get_by_text("All points, the least valuable first").is_visible()
    assert page.get_by_text("not explained").is_visible()


def test_pictures(show: Reader, tmp_path: Path) -> None:
    Image.new("RGB", (30, 20), "green").save(tmp_path / "leaf.png")
    files = ["leaf.png", "gone.png", None, "leaf.png", "leaf.png", "leaf.png"]
    why = explain(VALUES, 0, "dog", near=[1, 3])
    page = show(VALUES, {"file": files}, explanations=[why], image="file", image_root=tmp_path)
    row(page, 0).get_by_role("button", name="Details").click()
    sizes = page.locator("img").evaluate_all(
        "all => Promise.all(all.map(i => i.decode().then(() => [i.naturalWidth, i.naturalHeight])))"
    )
    assert sizes == [[30, 20]] * 6  # four rows, the point in large, and one neighbour
    assert page.get_by_label("No picture: no such file").count() == 2
    assert page.get_by_label("No picture: missing").count() == 1


def test_light_and_dark(show: Reader) -> None:
    page = pets(show, context={"color_scheme": "dark"})

    def look() -> tuple[str, str]:
        body = page.evaluate("getComputedStyle(document.body).backgroundColor")
        axis = page.evaluate("Chart.getChart(document.querySelector('canvas')).options.color")
        return body, axis

    dark = look()
    page.get_by_role("button", name="Light").click()
    light = look()
    assert light[0] != dark[0]
    assert light[1] != dark[1]
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert look() == light
    page.emulate_media(color_scheme="light")
    page.get_by_role("button", name="Dark").click()
    assert look() == dark


def test_print(show: Reader) -> None:
    page = pets(show, context={"color_scheme": "dark"})
    press(page, 1, "Remove")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("html").get_attribute("data-theme") == "light"
    assert not page.locator("#filters").is_visible()
    assert not page.get_by_role("button", name="Download decisions").is_visible()
    assert row(page, 1).locator("button.kind:visible").all_inner_texts() == ["Remove"]
    assert page.pdf().startswith(b"%PDF")


def test_owners(show: Reader) -> None:
    numbers = np.array([0.3, -0.1, 0.2])
    paid = OwnerValues(
        owners=np.array(["<b>Ann</b>", "Bob", "Cleo"]),
        values=numbers,
        n_points=np.array([3, 2, 1]),
        standard_error=np.full(3, 0.01),
        sampling_error=np.zeros(3),
        point_sums=numbers[::-1],
        exact=True,
        params={},
        n_validation=4,
        weight_error=0.0,
        version="0.1.0",
    )
    page = pets(show, owners=paid, budget=1000)
    card = page.locator(".card", has=page.get_by_role("heading", name="Owners", exact=True))
    expect(card).to_contain_text("The amounts add up to 1,000.00.")
    expect(card).to_contain_text("1 owner has a negative share")
    card.get_by_text("Show the numbers").click()
    lines = card.locator("tbody tr")
    expect(lines).to_have_count(3)
    assert lines.nth(0).inner_text().replace("\u00a0", " ").split("\t") == [
        "<b>Ann</b>", "750.00", "75.0 %", "70.1 %", "79.9 %", "50.0 %", "3", "0.3",
    ]  # fmt: skip
    assert lines.nth(2).inner_text().split("\t")[1] == "-250.00"
    assert show.said == []
    page = pets(show)
    assert page.get_by_role("heading", name="Owners", exact=True).count() == 0
