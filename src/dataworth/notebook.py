"""What a notebook shows of a result: a line of facts, a small histogram and the worst points."""

import html
from typing import TYPE_CHECKING, Any

import numpy as np

from dataworth.arrays import Array, Floats
from dataworth.inputs.listings import as_html, quantity
from dataworth.palette import BLUE, GREY

if TYPE_CHECKING:
    from dataworth.result import DataValues

WIDTH, HEIGHT, BARS = 320, 64, 40
LISTED = 5  # points


def shown(values: "DataValues") -> str:
    """Return a result as HTML, in which everything from the data is text."""
    order = values.order[:LISTED]
    columns = {
        "index": values.index[order].tolist(),
        "value": (values.values[order] / values.scale).tolist(),
        "target" if values.numeric else "label": _labels(values, values.labels[order]),
    }
    if values.suggested is not None:
        columns["suggested"] = _labels(values, values.suggested[order])
    if len(values) > LISTED:
        least = f"<p>The {LISTED} least valuable of {len(values):,}:</p>"
    else:
        least = "<p>The least valuable first:</p>"
    facts = "".join(f"<p>{html.escape(fact)}</p>" for fact in values.facts())
    return f"<div>{facts}{histogram(values.values / values.scale)}{least}{as_html(columns)}</div>"


def _labels(values: "DataValues", entries: Array) -> list[Any]:
    plain: list[Any] = entries.tolist()
    return [quantity(number) for number in plain] if values.numeric else plain


def histogram(values: Floats) -> str:
    """Draw how values are spread, as SVG; the outermost bars include everything beyond them."""
    low, high = np.quantile(values, [0.005, 0.995]).tolist()
    if low == high:
        low, high = float(values.min()), float(values.max())
    edges = np.linspace(low, high, BARS + 1) if low < high else np.array([low - 0.5, low + 0.5])
    counts = np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0]
    step, most = WIDTH / counts.size, int(counts.max())
    bars = "".join(
        f'<rect x="{k * step:.2f}" y="{HEIGHT - tall:.2f}" width="{step * 0.92:.2f}" '
        f'height="{tall:.2f}" fill="{BLUE}"/>'
        for k, n in enumerate(counts.tolist())
        if (tall := max(HEIGHT * n / most, 1.0 if n else 0.0))
    )
    text = f'y="{HEIGHT + 14}" font-size="11" fill="{GREY}"'
    ends = (
        f'<text x="0" {text}>{low:.3g}</text>'
        f'<text x="{WIDTH}" {text} text-anchor="end">{high:.3g}</text>'
    )
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT + 18}" role="img">'
        f"<title>How many points have which value</title>{bars}{ends}</svg>"
    )
