"""The page around the data: scripts, styles and what they may do."""

import hashlib
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dataworth.report import page
from tests.reports import HOSTILE, written

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
