"""Draw the picture of the loop: what the code of the page on the loop finds, step by step."""

from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from dataworth import palette
from docs.pages import BLOCK

FOLDER = Path(__file__).parent
OUT = FOLDER / "loop.png"


def main() -> None:
    """Run the page, and draw the scores, the first suspects and what models gain."""
    names: dict[str, Any] = {}
    with TemporaryDirectory() as folder, chdir(folder):  # the page writes a report
        for _, code in BLOCK.findall((FOLDER / "loop.md").read_text()):
            exec(code, names)
    figure, (left, middle, right) = plt.subplots(
        1, 3, figsize=(14, 3.8), layout="constrained", width_ratios=(1.15, 1.1, 1)
    )
    _scores(left, names)
    _suspects(middle, names)
    names["compared"].plot(ax=right)
    right.set(xlabel="balanced accuracy, after less before")
    right.set_title(f"3. Compare: {names['compared'].verdict}", fontsize=12, loc="left")
    figure.savefig(OUT, dpi=110)


def _scores(axis: Any, names: dict[str, Any]) -> None:
    values, planted = names["values"], names["train"].index.isin(names["planted"])
    cutoff = values.ruler.cutoff
    order = np.argsort(values.score, kind="stable")
    place = np.arange(order.size)
    for wrong, colour, said in ((False, palette.GREY, "right"), (True, palette.VERMILION, "wrong")):
        some = planted[order] == wrong
        axis.plot(place[some], values.score[order][some], ".", color=colour, ms=4, label=said)
    axis.axvline(cutoff - 0.5, color=palette.BLUE, linestyle=":", label="the ruler's cut-off")
    axis.set(xlabel="rows, most suspect first", ylabel="score")
    axis.legend(frameon=False, title="label", fontsize=9)
    axis.spines[["top", "right"]].set_visible(False)
    axis.set_title(f"1. Value: at most about {cutoff} labels look wrong", fontsize=12, loc="left")


def _suspects(axis: Any, names: dict[str, Any]) -> None:
    some = names["suspects"].head(8)
    found = int(names["suspects"]["index"].isin(names["planted"]).sum())
    rows = [
        [str(row["index"]), row["label"], row["suggested"], f"{row['agreement']:.2f}"]
        for _, row in some.iterrows()
    ]
    axis.axis("off")
    table = axis.table(
        rows, colLabels=["row", "label", "the others say", "agreement"], loc="center",
        cellLoc="left", edges="horizontal",
    )  # fmt: skip
    table.auto_set_font_size(False)
    table.set_fontsize(10)
    table.scale(1.0, 1.55)
    for cell in table.get_celld().values():
        cell.set(edgecolor=palette.GREY, linewidth=0.5)
    title = f"2. Look and decide: {found} of {len(names['suspects'])} are errors"
    axis.set_title(title, fontsize=12, loc="left")


if __name__ == "__main__":
    main()
