"""Values, explanations and data for the tests of the report."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dataworth import DataValues, report

HURTS = [("validation", "i8"), ("label", "O"), ("contribution", "f8")]
NEAR = [("index", "i8"), ("label", "O"), ("distance", "f8"), ("weight", "f8")]

# Everything that markup, scripts, spreadsheets, files and layouts have been broken with.
HOSTILE = (
    "<script>window.broken = 1; alert(1)</script>",
    '"><img src=x onerror="alert(2)">',
    "</script><script>alert(3)</script>",
    "<!--<script>",
    "'-alert(4)-'",
    "&lt;b&gt;",
    '=HYPERLINK("http://example.org")',
    "+1,-2;@SUM(A1)\n=1",
    "'=already guarded",
    "-1",
    "a,b;\"c\" 'd'\r\ne\tf",
    "{{data}}",
    "🎉👩‍👩‍👧",
    "שלום עולם",
    "\u202eturned around",
    "line\u2028separator",
    "nul\x00byte",
    "__proto__",
    "long " * 2000,
    "",
)


@dataclass(frozen=True)
class Explained:
    """As the explanations that the core makes."""

    index: int
    value: float
    label: Any
    suggested: Any
    hurts: NDArray[np.void]
    neighbors: NDArray[np.void]


def values_of(values: ArrayLike, labels: ArrayLike, **params: Any) -> DataValues:
    array = np.asarray(values, dtype=np.float64)
    return DataValues(
        values=array,
        lower=array,
        upper=array,
        index=np.arange(array.size),
        labels=np.asarray(labels),
        params={"game": "soft", "semivalue": "shapley", **params},
        n_validation=4,
        weight_error=0.0,
        version="0.1.0",
    )


def explain(
    values: DataValues,
    position: int,
    suggested: Any,
    *,
    near: Sequence[int] = (),
    hurts: Sequence[tuple[int, Any]] = (),
) -> Explained:
    labels = values.labels.tolist()
    return Explained(
        index=position,
        value=float(values.values[position]),
        label=labels[position],
        suggested=suggested,
        hurts=np.array([(v, y, -0.1 / (k + 1)) for k, (v, y) in enumerate(hurts)], HURTS),
        neighbors=np.array([(p, labels[p], k + 0.5, 1.0) for k, p in enumerate(near)], NEAR),
    )


def written(path: Path, *args: Any, **options: Any) -> dict[str, Any]:
    """The data in the report that `write` makes of the arguments."""
    report.write(path, *args, **options)
    return data_of(path)


def data_of(path: Path) -> dict[str, Any]:
    """The data in a report."""
    text = path.read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data
