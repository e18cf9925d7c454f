"""Draw the README's picture: the least valuable digits of the demo, planted errors framed."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from dataworth import KNNShapley, palette
from dataworth.demo import digits_with_errors

OUT = Path(__file__).parent / "least-valuable-digits.png"


def main() -> None:
    """Repeat the demo's run and draw its bottom 24."""
    data = digits_with_errors()
    values = KNNShapley().fit(data.X_train, data.y_train).value(data.X_val, data.y_val)
    figure, axes = plt.subplots(2, 12, figsize=(12, 3.4), layout="constrained")
    for axis, (index, value, label) in zip(axes.flat, values.worst(24).tolist(), strict=True):
        axis.imshow(data.X_train[index].reshape(8, 8), cmap="gray_r")
        axis.set_xticks([])
        axis.set_yticks([])
        colour = palette.VERMILION if data.planted[index] else palette.GREY
        for side in axis.spines.values():
            side.set(color=colour, linewidth=2.5)
        axis.set_title(f"“{label}”", fontsize=13, color=colour)
        axis.set_xlabel(f"{value * 1e4:.1f}", fontsize=9)
    figure.suptitle(
        f"The 24 least valuable of {len(values):,} handwritten digits: label given, image, "
        "value × 10⁴. Orange: a label error we had planted.",
        fontsize=11,
    )
    figure.savefig(OUT, dpi=110)


if __name__ == "__main__":
    main()
