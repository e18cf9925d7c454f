"""One HTML file: markup, style, scripts and data, and a policy that allows nothing else."""

import base64
import hashlib
import html
import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from dataworth import palette
from dataworth.report import cells

SCRIPTS = ("base.js", "charts.js", "marks.js", "words.js", "detail.js", "table.js", "main.js")


def assembled(title: str, data: dict[str, Any]) -> str:
    """Put the page together. The title is escaped, and the data are JSON without markup."""
    chart = _asset("vendor/chart.umd.min.js")
    # A browser's developer tools would load the source map, but a report loads nothing.
    chart = re.sub(r"\n//# sourceMappingURL=.*\s*$", "\n", chart)
    own = "\n".join(_asset(f"assets/{name}") for name in SCRIPTS)
    script = f'{chart}\n(() => {{\n"use strict";\n{own}\n}})();\n'
    style = "\n".join(
        (
            _colours(":root", palette.CLASSES, palette.OTHER),
            _colours(':root[data-theme="dark"]', palette.CLASSES_ON_DARK, palette.OTHER_ON_DARK),
            _asset("assets/report.css"),
        )
    )
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {_hash(script)}",
            f"style-src {_hash(style)}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    parts = {
        "policy": html.escape(policy, quote=False),
        "title": html.escape(title),
        "style": style,
        "data": cells.embedded(data),
        "script": script,
    }
    # In one pass, so that nothing in what is filled in can be taken for a place to fill.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _asset("assets/report.html"))


def _colours(selector: str, classes: Sequence[str], other: str) -> str:
    """Write the colours of the classes as CSS variables."""
    named = [f"--class-{k}: {colour};" for k, colour in enumerate(classes)]
    return f"{selector} {{ {' '.join(named)} --other: {other}; }}"


def _asset(name: str) -> str:
    return files("dataworth.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
