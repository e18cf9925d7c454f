"""What goes into a report. How it behaves in a browser is in test_report_page.py."""

import base64
import hashlib
import importlib
import io
import json
import re
import sys
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from dataworth import KNNShapley, decisions, report
from dataworth.report import cells, images, page, summary, table
from tests.reports import HOSTILE, explain, values_of

WAYS = (
    *(
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "createContextualFragment",
        r"document\.write",
    ),
    *("eval", "Function", "import", "fetch", "XMLHttpRequest", "WebSocket", "EventSource"),
    *("sendBeacon", "http", "https"),
)
ASSETS = files("dataworth.report").joinpath("assets")


def written(path: Path, *args: Any, **options: Any) -> dict[str, Any]:
    """The data in the report that `write` makes of the arguments."""
    report.write(path, *args, **options)
    text = path.read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


@pytest.fixture
def simple() -> Any:
    return values_of([0.5, -1.0, 0.25, -0.5], ["a", "b", "a", "b"])


def test_rows_are_the_least_valuable_with_what_users_gave(simple: Any, tmp_path: Path) -> None:
    columns = {"y": ["a", "b", "a", "b"], "x": [1, None, 2.5, float("nan")], "id": list("pqrs")}
    why = explain(simple, 1, "a", near=[0, 2], hurts=[(3, "a")])
    data = written(
        tmp_path / "r.html",
        simple,
        columns,
        explanations=[why],
        label="y",
        ids="id",
        rows=2,
        validation={"x": [0, 0, 0, 7]},
    )
    assert [row["p"] for row in data["rows"]] == [1, 3]
    worst = data["rows"][0]
    assert (worst["v"], worst["y"], worst["s"], worst["id"]) == (-1.0, "b", "a", "q")
    assert data["columns"] == [{"name": "x", "number": True}]  # not label and id again
    assert worst["c"] == [None]
    assert worst["h"] == [[3, "a", -0.1]]
    assert [n[:2] for n in worst["n"]] == [[0, "a"], [2, "a"]]
    assert data["train"] == {"0": {"c": [1], "id": "p"}, "2": {"c": [2.5], "id": "r"}}
    assert data["judges"] == {"3": {"c": [7]}}
    assert (data["labelColumn"], data["idColumn"], data["negative"]) == ("y", "id", 2)
    assert "s" not in data["rows"][1]


def test_training_points_may_be_the_judges(simple: Any, tmp_path: Path) -> None:
    why = explain(simple, 1, None, hurts=[(2, "a")])
    data = written(
        tmp_path / "r.html", simple, {"x": [4, 5, 6, 7]}, explanations=[why], validation="train"
    )
    assert data["judges"] == {"2": {"c": [6]}}
    assert data["judgedBy"] == "training"
    assert data["rows"][0]["s"] is None


def test_bounds_are_shown_where_values_are_not_exact(simple: Any, tmp_path: Path) -> None:
    loose = replace(simple, lower=simple.values - [0, 1, 0, 0])
    data = written(tmp_path / "r.html", loose)
    assert data["bounded"]
    assert data["rows"][0]["b"] == [-2, -1]
    assert "b" not in data["rows"][1]


def test_the_file_is_the_same_each_time_and_needs_no_frame_library(
    simple: Any, tmp_path: Path
) -> None:
    frame = pd.DataFrame({"x": [1, None, 3, 4], "d": pd.to_datetime(["2024-01-01", None] * 2)})
    frame["n"] = pd.array([1, None, 3, 4], dtype="Int64")
    frame["s"] = pd.Series(["u", None, "v", "w"], dtype="string")
    for name in ("one", "two"):
        data = written(tmp_path / name, simple, dict(frame), by=["x", "n"], group="s")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    rows = {row["p"]: row["c"] for row in data["rows"]}
    assert rows[1] == [None, None, None, None]
    assert rows[2] == [3, "2024-01-01 00:00:00", 3, "v"]
    assert [c["number"] for c in data["columns"]] == [True, False, True, False]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": 0}, "rows must be a whole number from 1 to 2000; got 0"),
        ({"group": "z"}, "group must name a column; 'z' is not among ['x']"),
        ({"by": ["x", "z"]}, "by must name a column; 'z'"),
        ({"by": "z"}, "by must name a column; 'z'"),
        ({"ids": ["a"]}, "ids must hold one id per training point, 4; got 1"),
        ({"ids": "z"}, "ids must name a column"),
        ({"label": "x"}, "label must name the column of the labels that were valued"),
        ({"image": "x"}, "columns['x'] must hold paths, or arrays"),
        ({"image": "x", "by": "x"}, "by must name another column than image, 'x'"),
        ({"columns": {"x": [1]}}, "columns must have 4 entries in each column; 'x' has 1"),
        ({"columns": [1]}, "columns must be a mapping of column names to sequences; got list"),
        ({"columns": {1: [1] * 4}}, "columns must have names that are strings; got 1"),
        ({"columns": {"x": "abcd"}}, "columns must hold sequences; 'x' is 'abcd'"),
        ({"validation": {"x": [1], "y": [1, 2]}}, "validation must have 1 entries in each"),
    ],
)
def test_bad_input_is_one_sentence(
    options: dict[str, Any], message: str, simple: Any, tmp_path: Path
) -> None:
    arguments = {"columns": {"x": [1, 2, 3, 4]}, **options}
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        report.write(tmp_path / "r.html", simple, **arguments)
    assert list(tmp_path.iterdir()) == []


def test_bad_explanations_are_named(simple: Any, tmp_path: Path) -> None:
    good = explain(simple, 0, "a", near=[1], hurts=[(1, "a")])
    cases: list[tuple[list[Any], str]] = [
        ([replace(good, index=4)], "explanations[0].index must be from 0 to 3; got 4"),
        ([good, good], "explanations[1]: position 0 is explained twice"),
        ([explain(simple, 0, "a", hurts=[(4, "a")])], "hurts names a point that is not there: 4"),
    ]
    for explanations, message in cases:
        with pytest.raises(ValueError, match=re.escape(message)):
            report.write(
                tmp_path / "r", simple, explanations=explanations, validation={"x": [1] * 4}
            )


@given(st.recursive(st.none() | st.text() | st.sampled_from(HOSTILE), st.lists))
def test_embedded_data_hold_no_markup_and_come_back(data: Any) -> None:
    text = cells.embedded(data)
    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text) == data


def test_markup_holds_nothing_of_the_data_but_the_title(simple: Any, tmp_path: Path) -> None:
    plain, hostile = tmp_path / "plain", tmp_path / "hostile"
    written(plain, simple, {"x": ["1"] * 4}, title="t")
    written(hostile, simple, {h: list(HOSTILE[:4]) for h in HOSTILE}, title="<b>&\"'")
    without = [
        re.sub(r'id="data">.*?</script>', "", p.read_text(), flags=re.DOTALL)
        for p in (plain, hostile)
    ]
    title = "&lt;b&gt;&amp;&quot;&#x27;"
    for tag in ("<title>", '<h1 dir="auto">'):
        without[0] = without[0].replace(f"{tag}t<", f"{tag}{title}<")
    assert without[1] == without[0]


def test_scripts_never_make_markup_of_text_and_ask_for_nothing() -> None:
    for name in page.SCRIPTS:
        script = ASSETS.joinpath(name).read_text()
        for way in WAYS:
            assert not re.search(rf"\b{way}\b", script), f"{name}: {way}"


def test_policy_lets_only_our_own_scripts_and_styles_run() -> None:
    text = page.assembled("t", {})
    policy = re.search(r'Security-Policy" content="(.*?)"', text)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy[1]
    assert "sourceMappingURL" not in text


def test_the_charting_library_is_the_one_its_notice_names() -> None:
    vendor = files("dataworth.report").joinpath("vendor")
    library = vendor.joinpath("chart.umd.min.js").read_bytes()
    notice = vendor.joinpath("LICENSE-chart.js").read_text()
    version = re.search(rb"Chart.js v([\d.]+)", library)
    assert version is not None
    assert f"Chart.js {version[1].decode()}" in notice
    assert f"SHA-256 {hashlib.sha256(library).hexdigest()}" in notice.replace("\n", " ")
    assert "MIT License" in notice


def test_histogram_counts_everyone_and_splits_at_zero() -> None:
    rng = np.random.default_rng(0)
    values = rng.standard_t(2, 5000)
    classes = summary.categories("label", rng.integers(0, 3, 5000).tolist())
    got = summary.histogram(values, classes)
    counts = np.array([one["counts"] for one in got["series"]])
    assert counts.sum(axis=1).tolist() == np.bincount(classes.codes).tolist()
    edges = np.array(got["edges"])
    zero = edges.tolist().index(0)
    assert counts[:, :zero].sum() == (values < 0).sum()
    assert got["below"]
    assert got["above"]
    inner = np.histogram(values, edges)[0]
    assert counts.sum(axis=0)[1:-1].tolist() == inner[1:-1].tolist()


@pytest.mark.parametrize("values", [[0.0] * 5, [3.0] * 5, [-1e-9] * 5, [1.0], [0.0] * 999 + [5.0]])
def test_histogram_of_values_without_spread(values: list[float]) -> None:
    got = summary.histogram(np.array(values), summary.categories("y", [1] * len(values)))
    assert sum(got["series"][0]["counts"]) == len(values)
    assert 1 <= len(got["edges"]) - 1 <= 2 * summary.N_STEPS


def test_curve_is_thinned_but_keeps_its_ends_and_its_peak() -> None:
    values = np.random.default_rng(1).normal(size=10_000)
    got = summary.curve(values)
    assert len(got["sizes"]) <= summary.N_CURVE + 2
    assert (got["sizes"][0], got["sums"][0], got["sizes"][-1]) == (0, 0, 10_000)
    assert got["sums"][-1] == pytest.approx(values.sum(), rel=1e-5)
    assert got["peak"] == (values > 0).sum()
    assert got["sums"][got["sizes"].index(got["peak"])] == max(got["sums"])


def test_groups_of_many_classes_are_the_most_frequent_and_the_rest() -> None:
    labels = [k for k in range(200) for _ in range(200 - k)]
    groups = summary.categories("label", labels)
    assert groups.names[:2] == ["0", "1"]
    assert groups.names[-1] == "189 others"
    assert len(groups.names) == summary.MOST_GROUPS
    values = np.where(np.array(labels) == 0, -1.0, 1.0)
    got = summary.breakdown(values, groups)
    assert got["groups"][0][:3] == ["0", 200, 200]
    assert sum(group[1] for group in got["groups"]) == len(labels)
    assert [group[2] for group in got["groups"]][1:] == [0] * 11
    assert len(summary.histogram(values, groups)["series"]) == summary.MOST_COLOURS + 1


def test_numbers_are_binned_and_missing_ones_are_a_group() -> None:
    column = cells.column("x", [None, *range(60), float("nan")])
    groups = summary.by_column(column)
    assert groups.names == ["0 to 9", *(f"{k}0 to {k}9" for k in range(1, 6)), "missing"]
    assert np.bincount(groups.codes).tolist() == [10] * 6 + [2]
    few = summary.by_column(cells.column("x", [1.0, 2.0, None]))
    assert sorted(few.names) == ["1", "2", "missing"]
    lopsided = summary.by_column(cells.column("x", [0] * 100 + list(range(1, 20))))
    assert lopsided.names[0] == "0"
    assert np.bincount(lopsided.codes).tolist()[0] == 100


def test_regression_targets_are_binned(tmp_path: Path) -> None:
    values = values_of(np.linspace(-1, 1, 30).tolist(), np.arange(30) / 4, game="regression")
    why = explain(values, 0, 1.23456789, near=[1])
    data = written(tmp_path / "r.html", values, explanations=[why])
    assert data["breakdowns"][0]["name"] == "target"
    assert len(data["breakdowns"][0]["groups"]) == summary.N_BINS
    assert data["classes"] == []
    assert data["rows"][0]["s"] == "1.23457"
    assert data["data"] == "30 labels"


def test_long_texts_are_cut_to_what_fits_and_it_is_said(
    simple: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "<é" * 5_000
    whole = written(tmp_path / "whole", simple, {"x": [text] * 4})
    assert whole["rows"][0]["c"] == [text]
    assert whole["notes"] == []
    monkeypatch.setattr(table, "TEXT_BUDGET", 30_000)
    cut = written(tmp_path / "cut", simple, {"x": [text] * 4})
    assert cut["rows"][0]["c"] == [[text[:1_000], 9_000]]
    assert cut["notes"] == ["Texts are cut after 1,000 characters to keep the file small."]


def test_many_columns_are_cut_and_it_is_said(simple: Any, tmp_path: Path) -> None:
    data = written(tmp_path / "r", simple, {f"c{k}": [1] * 4 for k in range(99)})
    assert len(data["columns"]) == len(data["rows"][0]["c"]) == table.MOST_COLUMNS
    assert data["notes"] == ["Of 99 columns the first 60 are shown."]


def test_hostile_data_stay_under_the_limit(tmp_path: Path) -> None:
    n = 600
    values = values_of(np.arange(n) - n / 2, [HOSTILE[k % 20] for k in range(n)])
    columns = {f"{k}": ["<" * 10_000] * n for k in range(20)}
    why = [explain(values, p, "", near=range(p, p + 10)) for p in range(500)]
    written(tmp_path / "r", values, columns, explanations=why)
    assert (tmp_path / "r").stat().st_size < 10_000_000


def test_images_become_thumbnails(simple: Any, tmp_path: Path) -> None:
    Image.new("RGB", (1000, 500), "red").save(tmp_path / "big.jpg")
    (tmp_path / "text.png").write_text("no picture")
    column = ["big.jpg", "no.png", "text.png", None]
    data = written(tmp_path / "r", simple, {"file": column}, image="file", image_root=tmp_path)
    places = {row["p"]: row["i"] for row in data["rows"]}
    assert places == {
        0: 0,
        1: "no such file",
        2: "not a png, jpeg, gif or webp file that can be read",
        3: None,
    }
    assert data["images"][0].startswith("data:image/webp;base64,")
    assert len(data["images"][0]) < 2_000


def test_arrays_become_pictures(simple: Any, tmp_path: Path) -> None:
    floats = np.zeros((4, 2, 3))
    floats[0, 0, 0], floats[1, 1, 2] = -4.0, 12.0
    mixed = [np.full((2, 2, 3), 9, np.uint8), floats[0], np.ones((2, 2, 1), bool), None]
    for column, expected in ((floats, [[64, 64, 64], [64, 64, 255]]), (mixed, None)):
        data = written(tmp_path / "r", simple, {"x": column}, image="x")
        assert data["columns"] == []
        if expected is not None:
            place = next(row["i"] for row in data["rows"] if row["p"] == 1)
            address = data["images"][place]
            assert address.startswith("data:image/png;base64,")
            png = Image.open(io.BytesIO(base64.b64decode(address.split(",")[1])))
            assert np.asarray(png).tolist() == expected
        else:
            assert len(data["images"]) == 3
    with pytest.raises(ValueError, match="entry 0 has shape \\(3, 8, 8\\)"):
        report.write(tmp_path / "r", simple, {"x": np.zeros((4, 3, 8, 8))}, image="x")


def test_pictures_beyond_the_budget_are_left_out_and_it_is_said(
    simple: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (4, 30, 30), dtype=np.uint8)
    monkeypatch.setattr(images, "BUDGET", 3_000)
    data = written(tmp_path / "r", simple, {"x": noise}, image="x")
    assert len(data["images"]) == 2
    assert [row["i"] for row in data["rows"]][2:] == ["left out, to keep the report small"] * 2
    assert data["notes"] == ["Some pictures are left out to keep the file small."]


def test_pictures_need_pillow_and_say_so(
    simple: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(ImportError, match="image needs PIL.*dataworth\\[report\\]"):
        report.write(tmp_path / "r", simple, {"x": ["a"] * 4}, image="x")


def luminance(colour: str) -> float:
    parts = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("theme", [0, 1])
def test_text_has_contrast_enough(theme: int) -> None:
    style = ASSETS.joinpath("report.css").read_text()
    block = re.findall(r":root.*?\{(.*?)\}", style, re.DOTALL)[theme]
    colour = dict(re.findall(r"--([\w-]+): (#\w{6})[;\s]", block))
    pairs = [
        (front, back)
        for front in ("text", "muted", "accent", "bad")
        for back in ("surface", "sunken")
    ]
    pairs += [("muted", "page"), ("text", "page"), ("on-accent", "accent"), ("tip-text", "tip")]
    pairs += [
        ("good", "good-soft"),
        ("warn", "warn-soft"),
        ("bad", "bad-soft"),
        ("muted", "warn-soft"),
    ]
    pairs += [("surface", "good"), ("surface", "warn"), ("surface", "bad"), ("muted", "bad-soft")]
    for front, back in pairs:
        dark, light = sorted((luminance(colour[front]), luminance(colour[back])))
        assert (light + 0.05) / (dark + 0.05) >= 4.5, f"{front} on {back}"


def test_the_documented_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = Path(__file__).parent.parent.joinpath("docs", "report.md").read_text(encoding="utf-8")
    first, second = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names: dict[str, Any] = {}
    exec(first, names)
    assert Path("report.html").stat().st_size > 100_000
    given = names["y_train"]
    header = ",".join(decisions.COLUMNS)
    Path("decisions.csv").write_text(
        f"{header}\n0,relabel,7,{given[0]},,digit,,{decisions.describe(given.tolist())}\n"
        f"1,remove,,{given[1]},,digit,,{decisions.describe(given.tolist())}\n"
    )
    exec(second, names)
    assert names["cleaned"]["digit"] == [7, *given[2:]]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_data_frames_are_columns(library: str, tmp_path: Path) -> None:
    X, y = [[0.0], [0.1], [1.0], [1.1]], ["a", "a", "b", "b"]
    values = KNNShapley(n_neighbors=2).fit(X, y).value([[0.0]], ["a"])
    columns = {"x": [0.0, 0.1, 1.0, 1.1], "y": y}
    make: Any = importlib.import_module(library)
    table = make.table(columns) if library == "pyarrow" else make.DataFrame(columns)
    judges = table.slice(0, 1) if library == "pyarrow" else table.head(1)
    pages = []
    for shown, judge in ((columns, {"x": [0.0], "y": ["a"]}), (table, judges)):
        report.write(tmp_path / "r.html", values, shown, label="y", validation=judge)
        pages.append((tmp_path / "r.html").read_text())
    assert pages[0] == pages[1]
