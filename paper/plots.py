"""Pictures in one style, in the colours of the package."""

from pathlib import Path
from typing import Any

from dataworth.errors import extra
from dataworth.files import atomic as files
from dataworth.palette import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION

__all__ = [
    "BLACK",
    "BLUE",
    "GREEN",
    "GREY",
    "LOOKS",
    "ORANGE",
    "PURPLE",
    "SKY",
    "VERMILION",
    "panels",
    "pyplot",
    "save",
]

# Colour and marker of each method, the same in every picture.
LOOKS = {
    "soft-uniform": (BLACK, "o"),
    "hard-uniform": (GREY, "s"),
    "hard-linear": (ORANGE, "D"),
    "hard-linear-sqrt": (ORANGE, "d"),
    "hard-rbf": (PURPLE, "D"),
    "hard-rbf-sqrt": (PURPLE, "d"),
    "soft-linear": (SKY, "^"),
    "soft-linear-sqrt": (SKY, "v"),
    "soft-rbf": (BLUE, "^"),
    "soft-rbf-sqrt": (BLUE, "v"),
    "soft-real": (GREEN, "P"),
    "hard-real": (VERMILION, "P"),
    "random": (GREY, "x"),
}


def pyplot() -> Any:
    """Import matplotlib, which nothing else does, and let it draw without a window."""
    extra("matplotlib", "drawing a result", "paper").use("Agg")
    import matplotlib.pyplot as plt

    return plt


def panels(rows: int, columns: int, *, width: float, height: float, **options: Any) -> Any:
    """A figure and its axes, each `width` × `height` inches, as a list."""
    plt = pyplot()
    figure, axes = plt.subplots(
        rows,
        columns,
        figsize=(width * columns, height * rows),
        layout="constrained",
        squeeze=False,
        **options,
    )
    for axis in axes.flat:
        axis.grid(alpha=0.25, linewidth=0.6)
        axis.set_axisbelow(True)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, list(axes.flat)


def save(figure: Any, path: Path) -> None:
    """Write a picture, whole or not at all, and without a date: equal figures make equal files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with files.atomic(path) as file:
        figure.savefig(file, format="png", dpi=110, metadata={"Software": None})
    pyplot().close(figure)
