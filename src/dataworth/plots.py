"""Pictures of values, and the curves behind them.

The curves are plain functions; the pictures need matplotlib (the extra `plot`).
Each picture takes `ax`, the axes to draw on, and returns them; without `ax` it makes new ones.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline

from dataworth.arrays import Floats, Ints
from dataworth.encoders.choice import encoder_of
from dataworth.encoders.tables import TableEncoder
from dataworth.errors import InputError, InputTypeError, extra
from dataworth.inputs import checks, frames
from dataworth.palette import BLUE, CLASSES, GREY, PALE_BLUE, VERMILION
from dataworth.progress import bar

if TYPE_CHECKING:  # values and comparisons draw themselves by these functions
    from dataworth.comparison.scores import Score
    from dataworth.result import DataValues

# Fine at the bottom, where the gain is: a few per cent of bad points make it.
FRACTIONS = (
    0.0, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5
)  # fmt: skip
DRAWS = 3


class RemovalCurve(NamedTuple):
    """Scores of a model as points are removed, one for each share of points removed.

    Attributes
    ----------
    removed : array of float64
        The shares of the training points removed.
    least : array of float64
        The scores without the least valuable points.
    most : array of float64
        The scores without the most valuable points.
    random : array of float64
        The scores without points drawn at random, each the mean of three draws.
    """

    removed: Floats
    least: Floats
    most: Floats
    random: Floats


class DetectionCurve(NamedTuple):
    """How many bad points you find by going through the points from the least valuable on.

    Attributes
    ----------
    checked : (n_train + 1,) array of float64
        The share of all points that you have looked at, from 0 to 1.
    found : (n_train + 1,) array of float64
        The share of the bad points that you have found by then.
    auroc : float
        The chance that a bad point has a lower value than a good one.
    """

    checked: Floats
    found: Floats
    auroc: float


def detection_curve(values: "DataValues", bad: ArrayLike) -> DetectionCurve:
    """Count the bad points that you find by looking at the least valuable points first.

    Parameters
    ----------
    values : "DataValues"
        The values.
    bad : (n_train,) array of bool
        True for each bad point; at least one point is bad, and at least one is not.

    Returns
    -------
    DetectionCurve
        The shares of the points looked at and of the bad points found, and the AUROC.

    Examples
    --------
    >>> from dataworth import KNNShapley
    >>> from dataworth.plots import detection_curve
    >>> X, y = [[0.0], [0.1], [1.0], [1.1], [0.05]], ["a", "a", "b", "b", "b"]
    >>> values = KNNShapley(n_neighbors=2).fit(X, y).value([[0.0], [1.0]], ["a", "b"])
    >>> detection_curve(values, [False, False, False, False, True]).found
    array([0., 1., 1., 1., 1., 1.])
    """
    mask = np.asarray(frames.entries(bad, "bad"))
    if mask.shape != (len(values),) or mask.dtype != bool:
        raise InputError(
            "bad",
            f"hold True or False for each of the {len(values)} points",
            f"got {mask.dtype} of shape {mask.shape}",
        )
    if mask.all() or not mask.any():
        raise InputError("bad", "have bad points and good ones", f"got {int(mask.sum())} bad")
    hits = np.cumsum(mask[values.order])
    return DetectionCurve(
        np.arange(len(values) + 1) / len(values),
        np.concatenate([[0.0], hits / hits[-1]]),
        float(roc_auc_score(mask, -values.values)),
    )


def removal_curve(
    values: "DataValues",
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    *,
    model: Any = None,
    fractions: Sequence[float] = FRACTIONS,
    progress: bool = True,
) -> RemovalCurve:
    """Score a model trained without the least valuable, the most valuable or random points.

    If the values are good, the score rises or stays as the least valuable points are removed, and
    falls fast as the most valuable points are.

    Parameters
    ----------
    values : "DataValues"
        The values.
    X, y : array or data frame
        The training points that were valued.
    X_test, y_test : array or data frame
        The points to score the model on; not those that the values come from.
    model : scikit-learn classifier or regressor, or None
        None takes the nearest-neighbour model with the K of the values. For it, and for models that
        do not take text, data frames go through one `TableEncoder`, fitted once on all of X; so
        they do through one that is the first step of a pipeline. The score is that of the model's
        own method `score`: accuracy, or R² for regression. If only one class is left, that class
        is predicted.
    fractions : sequence of float
        The shares of the points to remove, each at least 0 and less than 1. By default they lie
        close together near 0 and reach up to a half.
    progress : bool
        Whether to show a progress bar in a terminal or notebook if work takes more than two
        seconds.

    Returns
    -------
    RemovalCurve
        The scores for each share.

    Examples
    --------
    >>> from dataworth import KNNShapley
    >>> from dataworth.plots import removal_curve
    >>> X, y = [[0.0], [0.1], [1.0], [1.1], [0.05]], ["a", "a", "b", "b", "b"]
    >>> values = KNNShapley(n_neighbors=1).fit(X, y).value([[0.04], [1.0]], ["a", "b"])
    >>> removal_curve(values, X, y, [[0.06], [1.2]], ["a", "b"], fractions=[0, 0.2]).least
    array([0.5, 1. ])
    """
    try:
        shares = np.asarray(fractions, dtype=np.float64)
    except (TypeError, ValueError):
        shares = np.empty(0)
    if shares.ndim != 1 or not shares.size or not ((shares >= 0) & (shares < 1)).all():
        raise InputError("fractions", "be numbers from 0 to below 1", f"got {fractions!r}")
    read = checks.targets if values.numeric else checks.labels
    labels = read(y, "y", n_points=checks.rows(X, "X"), of="X")
    tests = read(y_test, "y_test", n_points=checks.rows(X_test, "X_test"), of="X_test")
    if labels.size != len(values):
        raise InputError("X", f"be the {len(values)} points valued", f"got {labels.size}")
    if model is not None and (isinstance(model, type) or not hasattr(model, "score")):
        raise InputTypeError("model", "be a classifier or a regressor", f"got {model!r:.60}")
    widths = [np.shape(points)[1:] for points in (X, X_test)]
    if widths[0] != widths[1]:
        wanted = f"have as many columns as X, {widths[0][0] if widths[0] else 'which has none'}"
        raise InputError("X_test", wanted, f"got shape {np.shape(X_test)}")
    estimator: Any = model
    if model is None:
        estimator = KNeighborsRegressor() if values.numeric else KNeighborsClassifier()
    encoder, estimator = _encoder_and_rest(estimator, X, alone=model is None)
    if encoder is not None:  # fitted once on all points, so that distances are the values' own
        X, X_test = encoder.fit_transform(X), encoder.transform(X_test)

    def score(kept: Ints) -> float:
        rest = labels[kept]
        if not values.numeric and (rest == rest[0]).all():
            return float((tests == rest[0]).mean())
        part = clone(estimator)
        if model is None:
            k = min(values.params.get("n_neighbors", 5), kept.size)
            part.set_params(n_neighbors=k)
        return float(part.fit(frames.take(X, kept), rest).score(X_test, tests))

    removed = np.minimum(np.round(shares * labels.size).astype(int), labels.size - 1)
    rng = np.random.default_rng(0)
    draws = [rng.permutation(labels.size) for _ in range(DRAWS)]
    found: dict[tuple[int, int], float] = {}
    orders = [values.order, values.best_first, *draws]
    # Nobody is removed in the same way in every order.
    needed = {(k if n else 0, n) for k in range(len(orders)) for n in removed.tolist()}
    with bar(len(needed), "removing", "model", shown=progress) as done:
        for k, n in sorted(needed):
            found[k, n] = score(np.sort(orders[k][n:]))
            done.update()
    curves = np.array([[found[k if n else 0, n] for n in removed] for k in range(len(orders))])
    return RemovalCurve(shares, curves[0], curves[1], curves[2:].mean(axis=0))


def _encoder_and_rest(model: Any, X: Any, *, alone: bool) -> tuple[Any, Any]:
    """What encodes points before a model, to be fitted once, and the model without it."""
    if isinstance(model, Pipeline) and isinstance(model[0], TableEncoder) and len(model) > 1:
        return clone(model[0]), model[1:]
    table = None if isinstance(model, Pipeline) else frames.frame(X)
    plain = (nw.Boolean, nw.Categorical, nw.Enum)
    if table is not None and not alone:
        kinds = table.schema.values()
        alone = not all(kind.is_numeric() or kind in plain for kind in kinds)
    return (encoder_of("auto", X) if alone else None), model


def distribution(values: "DataValues", *, ax: Any = None) -> Any:
    """Draw how the values are spread, by class if there are few; counts are on a log scale."""
    ax = _axes(ax)
    classes = _classes(values)
    drawn = values.values / values.scale
    edges = np.histogram_bin_edges(drawn, bins=50)
    if 2 <= len(classes) <= len(CLASSES):
        for colour, label in zip(CLASSES, classes, strict=False):
            part = drawn[values.labels == label]
            name = _shown(label)
            ax.hist(part, edges, histtype="step", color=colour, linewidth=1.6, label=name)
        ax.legend(title="label", frameon=False)
    else:
        ax.hist(drawn, edges, color=BLUE)
    ax.axvline(0.0, color=GREY, linewidth=0.8)
    ax.set_yscale("log")
    ax.set(xlabel=f"value{values.unit and ', as a share' + values.unit}", ylabel="points")
    return _tidy(ax)


def by_class(values: "DataValues", *, ax: Any = None) -> Any:
    """Draw the middle half, the middle nine tenths and the outliers of each class's values."""
    classes = _classes(values)
    if not classes:
        raise InputError("values", "have classes for plot_classes", "a regression has none")
    ax = _axes(ax)
    parts = [values.values[values.labels == label] for label in classes]
    names = [
        f"{_shown(label)}  ({part.size:,})" for label, part in zip(classes, parts, strict=True)
    ]
    ax.boxplot(
        parts,
        orientation="horizontal",
        tick_labels=names,
        whis=(5, 95),
        widths=0.6,
        patch_artist=True,
        boxprops={"facecolor": PALE_BLUE, "edgecolor": BLUE},
        whiskerprops={"color": BLUE},
        capprops={"color": BLUE},
        medianprops={"color": VERMILION, "linewidth": 2},
        flierprops={"marker": ".", "markersize": 3, "markeredgecolor": BLUE, "alpha": 0.5},
    )
    ax.invert_yaxis()
    ax.axvline(0.0, color=GREY, linewidth=0.8, zorder=0)
    ax.set(xlabel="value", ylabel="label (points)")
    return _tidy(ax)


def detection(values: "DataValues", bad: ArrayLike, *, ax: Any = None) -> Any:
    """Draw the curve of `detection_curve`, beside the best possible one and chance."""
    curve = detection_curve(values, bad)
    share = float(np.mean(np.asarray(frames.entries(bad, "bad"))))
    ax = _axes(ax)
    ax.plot(
        100 * curve.checked,
        100 * curve.found,
        color=BLUE,
        linewidth=2,
        label=f"least valuable first (AUROC {curve.auroc:.3f})",
    )
    ax.plot([0, 100 * share, 100], [0, 100, 100], color=GREY, linestyle=":", label="best possible")
    ax.plot([0, 100], [0, 100], color=GREY, linestyle="--", linewidth=1, label="at random")
    ax.set(xlabel="points checked (%)", ylabel="bad points found (%)", xlim=(0, 100), ylim=(0, 103))
    ax.legend(loc="lower right", frameon=False)
    return _tidy(ax)


def removal(
    values: "DataValues",
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    *,
    model: Any = None,
    fractions: Sequence[float] = FRACTIONS,
    cutoff: int | None = None,
    progress: bool = True,
    ax: Any = None,
) -> Any:
    """Draw the curves of `removal_curve`: nearest neighbours and, dashed, `model`.

    A line marks `cutoff`, how many of the least valuable points you mean to remove.
    """
    data = (X, y, X_test, y_test)
    if cutoff is not None:
        share = checks.integer(cutoff, "cutoff", least=0, most=len(values) - 1) / len(values)
        fractions = sorted({*fractions, share})
    styles = [(None, "-", f"{values.params.get('n_neighbors', 5)} nearest neighbours")]
    if model is not None:
        styles.append((model, "--", type(model).__name__))
    curves = [
        removal_curve(values, *data, model=m, fractions=fractions, progress=progress)
        for m, _, _ in styles
    ]
    ax = _axes(ax)
    for curve, (_, style, name) in zip(curves, styles, strict=True):
        tail = f", {name}" if model is not None else ""
        for scores, colour, mark, said in (
            (curve.least, BLUE, "o", "least valuable first"),
            (curve.most, VERMILION, "s", "most valuable first"),
            (curve.random, GREY, "", "at random"),
        ):
            ax.plot(
                100 * curve.removed,
                scores,
                color=colour,
                linestyle=style,
                marker=mark,
                markersize=4,
                label=said + tail,
            )
    if cutoff is not None:
        label = f"cut-off: {cutoff:,} points"
        ax.axvline(100 * cutoff / len(values), color=BLUE, linestyle=":", label=label)
    score = "R² on test points" if values.numeric else "accuracy on test points"
    ax.set(xlabel="training points removed (%)", ylabel=score)
    ax.legend(frameon=False, title=None if model is not None else styles[0][2])
    return _tidy(ax)


def differences(scores: "Sequence[Score]", *, ax: Any = None) -> Any:
    """Draw what each model gains or loses, with an interval; `Comparison.plot` calls it."""
    if ax is None:
        pyplot = extra("matplotlib.pyplot", "a plot", "plot")
        size = (6.4, 1.2 + 0.45 * len(scores))
        ax = pyplot.subplots(figsize=size, layout="constrained")[1]
    colours = {"better": BLUE, "worse": VERMILION}
    for place, score in enumerate(scores):
        colour = colours.get(score.verdict, GREY)
        ax.plot([score.lower, score.upper], [place, place], color=colour, linewidth=2)
        ax.plot(score.difference, place, "o", color=colour, markersize=8 if place == 0 else 6)
    ax.axvline(0.0, color=GREY, linewidth=0.8, zorder=0)
    names = [f"{s.model}\n{s.shown(s.before)} → {s.shown(s.after)}" for s in scores]
    ax.set_yticks(range(len(scores)), names)
    ax.set_ylim(len(scores) - 0.5, -0.5)
    metric, side = scores[0].metric, "left" if scores[0].falls else "right"
    ax.set(xlabel=f"{metric}, after less before ({side} of 0 is better)")
    return _tidy(ax)


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    pyplot = extra("matplotlib.pyplot", "a plot", "plot")
    return pyplot.subplots(figsize=(6.4, 4.0), layout="constrained")[1]


def _classes(values: "DataValues") -> list[Any]:
    return [] if values.numeric else np.unique(values.labels).tolist()


def _shown(label: Any) -> str:
    """Return a label as a short text that matplotlib does not take for a formula."""
    text = str(label).replace("\\", "\\\\").replace("$", r"\$")
    return text if len(text) <= 24 else text[:23] + "…"


def _tidy(ax: Any) -> Any:
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.2)
    ax.set_axisbelow(True)
    return ax
