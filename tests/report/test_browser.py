"""What readers see in a report, and what they do with it, in a real browser."""

import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect
from sklearn.preprocessing import StandardScaler

from dataworth import DataValues, KNNShapley, OwnerValues, Ruler, decisions
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


def unfold(page: Page) -> None:
    """Open the charts, which are folded below the table."""
    page.get_by_text("Charts of all values").click()
    page.wait_for_selector("#charts canvas[style]")  # drawn


def test_a_bar_of_a_chart_filters_the_table(show: Reader) -> None:
    page = pets(show)
    unfold(page)
    canvas = page.locator(".card", has_text="Low values by farm").locator("canvas")
    canvas.scroll_into_view_if_needed()
    bar = canvas.evaluate(
        "c => { const chart = Chart.getChart(c), { left, right } = chart.chartArea; "
        "return [(left + right) / 2, chart.getDatasetMeta(0).data[0].y]; }"
    )
    canvas.click(position={"x": bar[0], "y": bar[1]})
    # The worst group is the first; the charting library hands a click on with the next frame.
    expect(page.locator("#group-1 option:checked")).to_have_text("north")
    assert rows(page) == [0, 2, 4]


def test_charts_show_the_values(show: Reader) -> None:
    page = pets(show)
    canvases = page.locator("#charts canvas")
    assert not canvases.first.is_visible()  # the points come first
    unfold(page)
    charts = canvases.evaluate_all(
        "all => all.map(c => { const d = Chart.getChart(c).data; "
        "return [d.labels, d.datasets.map(s => s.data)]; })"
    )
    histogram, curve, label, farm, _, age, _ = charts
    assert sum(step["y"] for series in histogram[1] for step in series) == 6
    assert curve[1][0][-1]["x"] == 6
    assert curve[1][0][-1]["y"] == pytest.approx(-1.1)
    assert label[0] == ["cat", "dog", "owl"]
    assert [dot["x"] for dot in label[1][0]] == pytest.approx([-0.5, -0.35, -0.2])  # medians
    assert sorted(farm[0]) == ["north", "south"]
    assert "missing" in age[0]
    said = page.locator(".card", has_text="Cumulative value").inner_text()
    assert "Values added up" in said
    assert "highest" not in said  # which would be at 0, and 0 is no threshold


def test_a_source_that_stands_out_is_found_and_a_rare_label_is_not(show: Reader) -> None:
    """Low is what is low for its label: all values of the rare label are below all others."""
    rng = np.random.default_rng(0)
    labels = np.array(["rare"] * 40 + ["often"] * 360)
    source = np.array(["good"] * 350 + ["bad"] * 50)[rng.permutation(400)]
    numbers = np.where(labels == "rare", -1.0, 1.0) + rng.normal(0, 0.1, 400)
    numbers[source == "bad"] -= 0.3
    page = show(values_of(numbers, labels), {"source": source}, group="source")
    unfold(page)
    card = page.locator(".card", has_text="Low values by source")
    card.get_by_text("Show the numbers").click()
    first = card.locator("tbody tr").first.inner_text().split("\t")
    low = np.zeros(400, dtype=bool)
    for label in ("rare", "often"):
        own = np.flatnonzero(labels == label)
        low[own[np.argsort(numbers[own])][: own.size // 10]] = True
    expected = int(low[source == "bad"].sum())
    assert first[:3] == ["bad", "50", str(expected)]
    assert "Dark bars are above it" in card.inner_text()
    assert page.locator(".card", has_text="Low values by label").count() == 0


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
    start = "from dataworth import decisions; cleaned = decisions.apply("
    for options, call in (
        ({}, f"{start}decisions.read('decisions.csv'), train)"),
        ({"label": None}, f"{start}decisions.read('decisions.csv'), train, label='…')"),
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


def entries(page: Page, head: str) -> Locator:
    """The line of the details with this heading: the last, as a column may be called "weight"."""
    heads = page.locator("th[scope=row]", has_text=re.compile(f"^{head}$"))
    return page.locator("tr.details tbody tr", has=heads).last


def test_the_reasons_are_shown(show: Reader) -> None:
    page = pets(show)
    assert "2 × dog" in row(page, 0).locator(".because").inner_text().replace("\n", " ")
    assert row(page, 0).locator(".flag").all_inner_texts() == ["label"]
    assert row(page, 1).locator(".flag").count() == 0
    row(page, 0).get_by_role("button", name="Details").click()
    detail = page.locator("tr.details")
    assert "2 of its 3 nearest neighbours have another label" in detail.inner_text()
    assert "The others say “dog”, not “cat”." in detail.inner_text()
    groups, names = detail.locator("thead tr").all()
    assert groups.locator("th").all_inner_texts() == [
        "this point", "3 nearest training points", "validation points it hurts most",
    ]  # fmt: skip
    who = ["Ann at 0", "Cleo at 2", "Dan at 3", "Fay at 5", "1", "0"]
    assert names.locator("th").all_inner_texts() == who

    def line(head: str) -> Locator:
        return entries(page, head)

    assert line("label").locator("td").all_inner_texts() == [
        "cat", "dog", "dog", "cat", "dog", "owl",
    ]  # fmt: skip
    assert line("adds").locator("td").nth(4).inner_text() == "−0.1"
    assert "second judge" in line("note").locator("td").nth(4).inner_text()
    row(page, 0).get_by_role("button", name="Hide details").click()
    assert detail.count() == 0
    row(page, 4).get_by_role("button", name="Details").click()
    assert page.get_by_text("No explanation was computed").is_visible()


def test_a_reason_that_leaves_labels_out_says_so(show: Reader) -> None:
    why = [explain(VALUES, 0, "dog", near=[2, 3, 4, 5]), explain(VALUES, 1, "dog", near=[2, 3, 5])]
    page = show(VALUES, explanations=why)
    said = [" ".join(row(page, p).locator(".reason").inner_text().split()) for p in (0, 1)]
    assert said == ["near 2 × dog 1 × owl and others", "near 2 × dog 1 × cat"]


def test_cells_that_differ_from_the_point_are_marked(show: Reader) -> None:
    columns = {
        "weight": [56, 400, 410, 390, 57, 420],
        "city": ["Rome", "Rome", "Oslo", None, "Rome", "Rome"],
        "all alike": [1, 1, 1, 1, 1, 2],
    }
    why = explain(VALUES, 0, "dog", near=[1, 2, 3, 4, 5], hurts=[(0, "cat")])
    page = show(VALUES, columns, explanations=[why], validation={"weight": [57.0]})
    row(page, 0).get_by_role("button", name="Details").click()

    def differing(name: str) -> list[int]:
        cells = entries(page, name).locator("td").all()
        return [k for k, cell in enumerate(cells) if "differs" in str(cell.get_attribute("class"))]

    assert differing("city") == [2, 3]  # Oslo and a gap, but not what the judge never had
    assert differing("all alike") == [5]
    low, high = np.quantile([56, 400, 410, 390, 57, 420], [0.25, 0.75])
    assert 1 < high - low < 334
    assert differing("weight") == [1, 2, 3, 5]  # 57 is near 56


def test_words_that_matter_are_seen_in_long_texts(show: Reader) -> None:
    filler = "and then they went on to say the same again " * 12
    texts = [
        f"{filler} a delightful camera {filler}",
        f"{filler} so delightful {filler}",
        f"the camera {filler}",
        f"{filler} boring",
        f"{filler} tedious",
        f"{filler} wooden",
    ]
    why = explain(VALUES, 0, "dog", near=[1, 2])
    page = show(VALUES, {"review": texts}, explanations=[why], validation="train")
    cell = row(page, 0).locator("td.long")
    assert cell.locator("mark").all_inner_texts() == ["delightful", "camera"]
    assert cell.inner_text().startswith("…")
    row(page, 0).get_by_role("button", name="Details").click()
    line = page.locator("tr.details tr.compared")
    seen = [td.locator("mark").all_inner_texts() for td in line.locator("td").all()]
    assert seen == [["delightful", "camera"], ["delightful"], ["camera"]]
    page.get_by_role("button", name="Show all").click()
    assert line.locator("td").first.locator("bdi").inner_text() == texts[0]


def test_the_headline_is_the_ruler_s_if_there_is_one(show: Reader) -> None:
    page = pets(show)
    assert not page.locator("#headline").is_visible()
    assert "negative" not in page.locator("body").inner_text()

    ruled = replace(VALUES, ruler=Ruler(6, 2, ((0,), (1,))))
    assert ruled.ruler is not None
    page = show(ruled)
    assert page.locator("#headline").inner_text() == ruled.ruler.sentence
    page.get_by_text("How they were computed").click()
    assert "5 of 6, 83 %" in page.locator(".params").inner_text()  # negative values, as a detail


def test_long_texts_open(show: Reader) -> None:
    page = pets(show)
    row(page, 1).get_by_role("button", name="Details").click()
    page.get_by_role("button", name="Show all 800 characters").click()
    shown = page.locator("tr.details tr", has_text="note").locator("td").first
    assert "a " * 399 in shown.inner_text()


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
    page.get_by_role("button", name="Next").press("Enter")
    page.keyboard.press("Enter")  # whoever turns pages by key goes on
    assert rows(page) == list(range(100, 120))
    assert page.locator("tr.details").count() == 0
    page.get_by_role("button", name="Previous").click()
    assert page.evaluate("document.activeElement.dataset.position") == "50"
    page.get_by_role("button", name="Next").press("Enter")
    for key in ("3", "j", "1", "k"):  # without a click on the first row
        page.keyboard.press(key)
    assert count(page) == "2 of 120 marked 1 keep 0 relabel 1 remove"
    assert (
        row(page, 100).get_by_role("button", name="Remove").get_attribute("aria-pressed") == "true"
    )
    page.keyboard.press("ArrowUp")
    assert rows(page) == list(range(50, 100))
    assert page.evaluate("document.activeElement.dataset.position") == "99"


def test_the_ruler_draws_a_line(show: Reader) -> None:
    n = 120
    values = replace(
        values_of(np.arange(n) - 60.0, ["a", "b"] * 60),
        agreement=np.r_[np.ones(10), np.zeros(n - 10)],  # so that the order is another
        suggested=np.array(["a"] * n),
        ruler=Ruler(n, 2, (tuple(sorted([*range(0, 57, 3), 60])),) * 5),
    )
    assert values.ruler is not None
    cutoff = values.ruler.cutoff
    assert cutoff is not None
    assert 0 < cutoff < 50
    page = show(values)
    assert page.locator("#headline").inner_text() == values.ruler.sentence
    order = values.suspects_first.tolist()
    assert rows(page) == order[:50]
    line = page.locator("tr.cut")
    assert line.inner_text() == f"The ruler’s cut-off: look at the {cutoff} points above this line."
    assert line.evaluate("tr => tr.previousElementSibling.dataset.position") == str(
        order[cutoff - 1]
    )
    assert line.evaluate("tr => tr.nextElementSibling.dataset.position") == str(order[cutoff])
    page.get_by_role("button", name="Value").click()
    assert rows(page) == list(range(50))
    assert line.count() == 0
    page.get_by_role("button", name="Score").click()
    assert line.count() == 1
    page.get_by_role("button", name="Next").click()
    assert line.count() == 0


def test_all_points_up_to_the_cut_off_can_be_marked_at_once(show: Reader) -> None:
    n = 120
    ruler = Ruler(n, 2, (tuple(range(0, 57, 3)),) * 5)
    values = replace(values_of(np.arange(n) - 60.0, ["a", "b"] * 60), ruler=ruler)
    assert ruler.cutoff is not None
    assert 5 < ruler.cutoff < 50
    page = show(values)
    menu = page.locator("#odd")
    assert menu.locator("option").all_inner_texts() == ["all points", "up to the ruler’s cut-off"]
    menu.select_option("up to the ruler’s cut-off")
    assert rows(page) == list(range(ruler.cutoff))
    page.get_by_role("button", name="Value").click()
    assert rows(page) == list(range(ruler.cutoff))[::-1]
    page.locator("#all").select_option("remove")
    k = ruler.cutoff
    assert show.heard() == [f"Remove: {k} points not yet marked of the {k} found?"]
    assert count(page).startswith(f"{k} of {n} marked")
    assert show(replace(values, ruler=None)).locator("#odd").count() == 0


def test_an_outlier_below_the_cut_off_is_not_up_to_it(show: Reader) -> None:
    """Also where the table ends before the cut-off, and outliers are listed after it."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    X[30], X[41] = X[20], (40.0, 40.0)
    y[30] = 1 - y[20]
    values = replace(KNNShapley().fit(X, y).value(), ruler=Ruler(60, 2, (tuple(range(20)),) * 5))
    assert values.ruler is not None
    assert values.ruler.cutoff is not None
    suspects = values.suspects_first[: values.ruler.cutoff].tolist()
    assert len(suspects) > 5
    assert not {20, 30, 41} <= set(suspects)
    page = show(values, rows=5)
    menu = page.locator("#odd")
    listed = rows(page)
    some = [p for p in listed if p in suspects]
    menu.select_option(f"{len(some)} of {len(suspects)} up to the ruler’s cut-off")
    assert rows(page) == some != listed
    menu.select_option("all points")
    assert page.locator("tr.cut").count() == 0  # the line would be elsewhere
    menu.select_option("copies and outliers")
    assert sorted(rows(page)) == [20, 30, 41]


@pytest.mark.parametrize("name", ["rare", "<img src=x onerror=alert(1)>"])
def test_suspects_of_one_label_are_warned_of(show: Reader, name: str) -> None:
    labels = np.array([name] * 40 + ["often"] * 360)
    values = replace(
        values_of(np.arange(400) - 60.0, labels),
        ruler=Ruler(400, 2, (tuple(range(0, 40, 2)),) * 5),
    )
    assert f"suspects have the label {name}, " in values.one_sided
    page = show(values)
    assert page.locator("#one-sided").inner_text() == values.one_sided
    mixed = replace(values, labels=np.array([name, "often"] * 200))
    assert mixed.one_sided == ""
    assert not show(mixed).locator("#one-sided").is_visible()


def test_what_is_said_about_labels_that_fill_the_table_is_so(show: Reader) -> None:
    """Up to the ruler's cut-off a rare label has all of its points listed, however many."""
    n, labels = 400, np.array(["rare"] * 40 + ["often"] * 360)
    plain = values_of(np.arange(n) - 60.0, labels)
    ruler = Ruler(n, 2, (tuple(range(0, 40, 2)),) * 5)
    assert ruler.cutoff is not None
    assert 15 < ruler.cutoff < 40
    said = []
    for known, count_of in ((None, 15), (ruler, ruler.cutoff)):
        page = show(replace(plain, ruler=known), rows=50)
        shown = page.locator("tr.point td.given").all_inner_texts()
        assert shown.count("rare") == count_of  # three times 10 % of 50 rows are 15
        said.append(page.locator("#points-lead").inner_text())
    assert "No label has more than three times its share of the table" in said[0]
    assert "No label" not in said[1]
    assert f"All {ruler.cutoff} points up to the ruler’s cut-off are listed" in said[1]
    page = show(replace(plain, ruler=ruler), rows=ruler.cutoff)
    assert "three times" not in page.locator("#points-lead").inner_text()


def test_regression(show: Reader, tmp_path: Path) -> None:
    targets = (np.arange(20) / 8).tolist()
    values = values_of(np.arange(20) - 15, targets, game="regression")
    why = explain(values, 3, 1.5, near=[4, 5], hurts=[(0, 0.25)])
    page = show(values, {"y": targets}, explanations=[why], label="y")
    press(page, 3, "Relabel")
    new = row(page, 3).get_by_label("New target")
    assert new.input_value() == ""  # a number is not filled in, only said
    assert new.get_attribute("placeholder") == "suggested: 1.5"
    assert count(page).endswith("1 new target missing")
    assert "relabel as suggested" not in page.locator("#all").inner_text()
    everything = page.locator("body").inner_text()
    page.get_by_role("button", name="Download decisions").click()
    everything += page.locator("#next").inner_text()
    assert not re.search(r"\blabels?\b", everything)
    new.fill("much")
    assert count(page).endswith("1 new target missing")
    new.fill("-2.5")
    (tmp_path / "d.csv").write_bytes(downloaded(page))
    cleaned = decisions.apply(decisions.read(tmp_path / "d.csv"), {"y": targets})
    assert cleaned["y"] == [*targets[:3], -2.5, *targets[4:]]


def regression(show: Reader) -> Page:
    targets = np.arange(20) * 1000.0
    return show(
        values_of(np.arange(20) - 15, targets, game="regression"), {"y": targets}, label="y"
    )


@pytest.mark.parametrize("last", ["Enter", "Escape"])
@pytest.mark.parametrize("by_key", [True, False])
def test_a_new_number_is_typed_without_reaching_for_the_mouse(
    show: Reader, last: str, by_key: bool
) -> None:
    page = regression(show)
    if by_key:
        row(page, 3).press("2")
    else:
        press(page, 3, "Relabel")
    page.keyboard.type("3340")
    page.keyboard.press(last)
    assert row(page, 3).get_by_label("New target").input_value() == "3340"
    assert row(page, 3).evaluate("row => row === document.activeElement")
    for key in ("j", "3", "j", "1"):
        page.keyboard.press(key)
    assert count(page) == "3 of 20 marked 1 keep 1 relabel 1 remove"
    assert b'"3","relabel","3340"' in downloaded(page)
    row(page, 3).press("2")  # again: undo
    assert count(page).startswith("2 of 20 marked 1 keep 0 relabel")
    assert row(page, 3).evaluate("row => row === document.activeElement")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("16,890", "16890"),
        ("1 234 567.5", "1234567.5"),
        ("16\u00a0890", "16890"),
        ("16\u202f890", "16890"),
        ("\u22122,500", "-2500"),  # with the minus that the page writes
        ("1.2e\u22127", "1.2e-7"),
        (" 12 ", "12"),
    ],
)
def test_numbers_may_be_typed_as_the_page_writes_them(show: Reader, typed: str, meant: str) -> None:
    page = regression(show)
    press(page, 3, "Relabel")
    field = row(page, 3).get_by_label("New target")
    field.fill(typed)
    assert field.get_attribute("aria-invalid") == "false"
    assert "missing" not in count(page)
    assert f'"3","relabel","{meant}"'.encode() in downloaded(page)


@pytest.mark.parametrize("typed", ["334x", "16,89", "1,2345", "0,125", "1,234 567", "1,,000", "-"])
def test_what_is_no_number_is_told_beside_its_field(show: Reader, typed: str) -> None:
    page = regression(show)
    press(page, 3, "Relabel")
    field, reason = row(page, 3).get_by_label("New target"), page.get_by_text("not a number")
    assert reason.count() == 0  # nothing is typed yet
    field.fill(typed)
    assert reason.is_visible()
    assert field.get_attribute("aria-invalid") == "true"
    assert count(page).endswith("1 new target missing")
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert field.input_value() == typed  # remembered as it was, and still refused
    assert reason.is_visible()
    field.fill("334")
    assert reason.count() == 0
    assert field.get_attribute("aria-invalid") == "false"


def test_one_suggestion_in_the_result_the_page_and_the_decisions(
    show: Reader, tmp_path: Path
) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(80, 3)), np.where(rng.random(80) < 0.4, "no", "yes")
    valuator = KNNShapley(n_neighbors=3, encoder=[None, StandardScaler()]).fit(X, y)
    values = valuator.value()
    assert values.suggested is not None
    why = valuator.explain(range(80))
    own = [p for p in range(80) if values.suggested[p] != y[p]]
    assert [e.index for e in why if e.suggested != values.suggested[e.index]]  # or nothing is shown
    columns = {"y": y.tolist()}
    page = show(values, columns, explanations=why, label="y", validation="train")
    page.locator("#suggestion").select_option("another label")
    page.locator("#all").select_option("relabel as suggested")
    show.heard()
    for p in rows(page):
        assert row(page, p).locator("td.suggested").inner_text() == values.suggested[p]
    (tmp_path / "d.csv").write_bytes(downloaded(page))
    cleaned = decisions.apply(decisions.read(tmp_path / "d.csv"), columns)
    assert cleaned["y"] == values.suggested.tolist()
    assert len(rows(page)) == min(len(own), 50)


def test_what_is_said_of_neighbours_does_not_contradict_the_suggestion(show: Reader) -> None:
    said = np.array(["dog", "cat", "dog", "dog", "owl", "cat"])
    values = replace(VALUES, agreement=np.zeros(6), suggested=said)
    why = [explain(values, p, "cat", near=[q for q in (0, 1, 5) if q != p]) for p in (0, 1)]
    page = show(values, explanations=why)
    for p in (0, 1):
        row(page, p).get_by_role("button", name="Details").click()
    texts = page.locator("tr.details .sentence").all_inner_texts()
    ours = {"dog" in text: text for text in texts}
    assert "have the same label, but others vote on it too." in ours[True]
    assert "may be right" not in ours[True]
    assert "its label may be right" in ours[False]


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
    assert "Its target is 3,800,000; the others say 174,755." in said
    share = -7e11 / float(np.var(values.labels))
    shown = row(page, 7).locator('td[data-head="Value"]').inner_text()
    assert float(shown.replace("−", "-")) == pytest.approx(share, rel=1e-2)
    everything = page.locator("body").inner_text()
    assert not re.search(r"\de\+?\d", everything)  # 3.8e+6 and the like
    assert "of the targets' variance" in page.locator("#points-lead").inner_text()


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
    assert re.fullmatch("The 5 most suspect points, and [123] that are copies or outliers", title)
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
    assert sizes == [[30, 20]] * 6  # four points, one of them and a neighbour once more
    assert page.get_by_label("No picture: no such file").count() == 2
    assert page.get_by_label("No picture: missing").count() == 1


def test_pictures_are_a_gallery(show: Reader, tmp_path: Path) -> None:
    Image.new("RGB", (300, 200), "green").save(tmp_path / "leaf.png")
    columns = {"file": ["leaf.png"] * 6, "age": [1, 2, 3, 4, 5, 6]}
    page = show(VALUES, columns, image="file", image_root=tmp_path)
    boxes = [row(page, p).bounding_box() for p in (0, 1)]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[0]["y"] == boxes[1]["y"]  # beside each other
    picture = row(page, 0).locator("img").bounding_box()
    assert picture is not None
    assert picture["width"] > 180
    assert picture["height"] > 180
    row(page, 0).focus()
    for key in ("3", "ArrowRight", "2", "ArrowLeft", "Enter"):
        page.keyboard.press(key)
    assert count(page).startswith("2 of 6 marked")
    assert page.locator("tr.details").count() == 1
    page.locator("#sort").select_option("Label given")
    assert rows(page) == [0, 1, 5, 2, 3, 4]
    page.locator("#view").select_option("table")
    assert page.locator("thead", has_text="age").first.is_visible()
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.locator("#view").input_value() == "table"  # remembered
    page.locator("#view").select_option("gallery")
    assert _heads(page) == ["Position ", "Value ", "Label given "]
    narrow = {"viewport": {"width": 400, "height": 800}}
    page = show(VALUES, columns, image="file", image_root=tmp_path, context=narrow)
    assert _heads(page) == ["Position ", "Value ", "Label given "]
    wide = "rows => rows.filter(row => row.scrollWidth > row.clientWidth).length"
    assert page.locator("tr.point, tr.point > td:visible").evaluate_all(wide) == 0
    row(page, 0).get_by_role("button", name="Details").click()
    assert page.evaluate("document.documentElement.scrollWidth") == 400


def _heads(page: Page) -> list[str]:
    """What stands before the entries of the first point."""
    heads: list[str] = (
        row(page, 0)
        .locator("td:visible")
        .evaluate_all(
            "cells => cells.map(cell => getComputedStyle(cell, '::before').content)"
            ".filter(text => text !== 'none').map(text => text.replaceAll('\"', ''))"
        )
    )
    return heads


def test_light_and_dark(show: Reader) -> None:
    page = pets(show, context={"color_scheme": "dark"})
    unfold(page)

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
    unfold(page)
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
    card = page.locator("#owners .card")
    expect(card).to_contain_text("How 1,000.00 is shared out")
    expect(card).to_contain_text("1 owner is below 0")
    drawn = card.locator("canvas").evaluate("c => Chart.getChart(c).data.datasets.map(d => d.data)")
    assert drawn == [[750, 500, -250], pytest.approx([500, 750, -250])]
    card.get_by_text("Show the numbers").click()
    lines = card.locator("tbody tr")
    expect(lines).to_have_count(3)
    assert lines.nth(0).inner_text().replace("\u00a0", " ").split("\t") == [
        "<b>Ann</b>", "750.00", "75.0 %", "70.1 %", "79.9 %", "50.0 %", "3", "0.3",
    ]  # fmt: skip
    assert lines.nth(2).inner_text().split("\t")[1] == "−250.00"
    heads = card.locator("thead th").all_inner_texts()
    assert heads[:3] == ["owner", "pay-out", "part of the value"]
    assert "share" not in " ".join(heads)  # which would mean two things
    page = pets(show, owners=paid)
    assert page.get_by_role("heading", name="What owners are worth").is_visible()
    drawn = page.locator("#owners canvas").evaluate("c => Chart.getChart(c).data.datasets[0].data")
    assert drawn == [0.75, 0.5, -0.25]
    page = pets(show)
    assert not page.locator("#owners").is_visible()
