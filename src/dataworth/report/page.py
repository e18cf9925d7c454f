"""One HTML file: markup, style, scripts and data, and a policy that lets nothing else in."""

import base64
import hashlib
import html
import re
from importlib.resources import files
from typing import Any

from dataworth.report import cells

SCRIPTS = ("base.js", "charts.js", "marks.js", "detail.js", "table.js", "main.js")


def assembled(title: str, data: dict[str, Any]) -> str:
    """The whole page. The title is escaped, the data are JSON that holds no markup."""
    chart = _asset("vendor/chart.umd.min.js")
    # A browser's tools would ask for the source map, and a report asks for nothing.
    chart = re.sub(r"\n//# sourceMappingURL=.*\s*$", "\n", chart)
    own = "\n".join(_asset(f"assets/{name}") for name in SCRIPTS)
    script = f'{chart}\n(() => {{\n"use strict";\n{own}\n}})();\n'
    style = _asset("assets/report.css")
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
    # One pass, so that what is put in is never looked at again.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _asset("assets/report.html"))


def _asset(name: str) -> str:
    return files("dataworth.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
