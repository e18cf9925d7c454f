"""Pictures of values, and the curves behind them.

The curves are plain functions; the pictures need matplotlib (`pip install 'dataworth[plot]'`).
Each takes `ax`, the axes to draw on, and returns them.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from dataworth.encoders.choice import encoder_of
from dataworth.inputs import checks, frames
from dataworth.result import DataValues

# Colours that people with any kind of colour vision tell apart (Okabe and Ito).
BLUE, ORANGE, GREEN, PINK = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
PALETTE = (BLUE, ORANGE, GREEN, PINK, "#E69F00", "#56B4E9", "#222222")
GREY = "#888888"
FRACTIONS = tuple(np.linspace(0.0, 0.5, 11).round(2).tolist())
DRAWS = 3


class RemovalCurve(NamedTuple):
    """Scores of a model as points are removed: one for each share removed.

    Attributes
    ----------
    removed : the shares of the training points removed.
    least : scores without the least valuable points.
    most : scores without the most valuable points.
    random : mean scores without points drawn at random, three times.
    """

    removed: NDArray[np.float64]
    least: NDArray[np.float64]
    most: NDArray[np.float64]
    random: NDArray[np.float64]


class DetectionCurve(NamedTuple):
    """How many bad points are found by going through the points from the least valuable on.

    Attributes
    ----------
    checked : the share of all points looked at, from 0 to 1.
    found : the share of the bad points among them.
    auroc : the chance that a bad point has a lower value than a good one.
    """

    checked: NDArray[np.float64]
    found: NDArray[np.float64]
    auroc: float


def detection_curve(values: DataValues, bad: ArrayLike) -> DetectionCurve:
    """The share of the bad points found as more points are looked at, least valuable first.

    Parameters
    ----------
    values : DataValues
    bad : (n_train,) True for each bad point; at least one, and not all.

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
        raise ValueError(
            f"bad must hold True or False for each of the {len(values)} points; "
            f"got {mask.dtype} of shape {mask.shape}."
        )
    if mask.all() or not mask.any():
        raise ValueError(f"bad must have bad points and good ones; got {int(mask.sum())} bad.")
    hits = np.cumsum(mask[np.argsort(values.values, kind="stable")])
    return DetectionCurve(
        np.arange(len(values) + 1) / len(values),
        np.concatenate([[0.0], hits / hits[-1]]),
        float(roc_auc_score(mask, -values.values)),
    )


def removal_curve(
    values: DataValues,
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    *,
    model: Any = None,
    fractions: Sequence[float] = FRACTIONS,
) -> RemovalCurve:
    """Scores of a model trained without the least, the most or any valuable points.

    Good values make the first rise, or last, and the second fall fast.

    Parameters
    ----------
    values : DataValues
    X, y : the training points that were valued, arrays or data frames.
    X_test, y_test : points the model is judged on; not those that the values come from.
    model : scikit-learn classifier or regressor, or None
        None is the nearest-neighbour model with the K of the values; data frames go through one
        `TableEncoder`, fitted on all of X. The model's own `score` counts: accuracy, or R² for
        regression. Where one class is left, that class is what is predicted.
    fractions : shares of the points to remove, each at least 0 and less than 1.

    Examples
    --------
    >>> from dataworth import KNNShapley
    >>> from dataworth.plots import removal_curve
    >>> X, y = [[0.0], [0.1], [1.0], [1.1], [0.05]], ["a", "a", "b", "b", "b"]
    >>> values = KNNShapley(n_neighbors=1).fit(X, y).value([[0.04], [1.0]], ["a", "b"])
    >>> removal_curve(values, X, y, [[0.06], [1.2]], ["a", "b"], fractions=[0, 0.2]).least
    array([0.5, 1. ])
    """
    shares = np.asarray(fractions, dtype=np.float64)
    if shares.ndim != 1 or not shares.size or not ((shares >= 0) & (shares < 1)).all():
        raise ValueError(f"fractions must be numbers from 0 to below 1; got {fractions!r}.")
    regression = values.params.get("game") == "regression"
    read = checks.targets if regression else checks.labels
    labels = read(y, "y", n_points=checks.rows(X, "X"), of="X")
    tests = read(y_test, "y_test", n_points=checks.rows(X_test, "X_test"), of="X_test")
    if labels.size != len(values):
        raise ValueError(f"X must be the {len(values)} points valued; got {labels.size}.")
    if model is None:
        estimator: Any = KNeighborsRegressor() if regression else KNeighborsClassifier()
        encoder = encoder_of("auto", X)
        if encoder is not None:  # once, on all points: the distances are those of the values
            X, X_test = encoder.fit_transform(X), encoder.transform(X_test)
    else:
        estimator = model

    def score(kept: NDArray[np.int64]) -> float:
        rest = labels[kept]
        if not regression and (rest == rest[0]).all():
            return float((tests == rest[0]).mean())
        part = clone(estimator)
        if model is None:
            k = min(values.params.get("n_neighbors", 5), kept.size)
            part.set_params(n_neighbors=k)
        return float(part.fit(frames.take(X, kept), rest).score(X_test, tests))

    def scores(order: NDArray[np.int64]) -> NDArray[np.float64]:
        removed = np.minimum(np.round(shares * order.size).astype(int), order.size - 1)
        return np.array([score(np.sort(order[n:])) for n in removed])

    ranked = np.argsort(values.values, kind="stable")
    rng = np.random.default_rng(0)
    drawn = np.mean([scores(rng.permutation(labels.size)) for _ in range(DRAWS)], axis=0)
    best_first = np.argsort(-values.values, kind="stable")
    return RemovalCurve(shares, scores(ranked), scores(best_first), drawn)


def distribution(values: DataValues, *, ax: Any = None) -> Any:
    """How the values are spread, by class where there are few; counts are on a log scale."""
    ax = _axes(ax)
    classes = _classes(values)
    edges = np.histogram_bin_edges(values.values, bins=50)
    if 2 <= len(classes) <= len(PALETTE):
        for colour, label in zip(PALETTE, classes, strict=False):
            part = values.values[values.labels == label]
            name = _shown(label)
            ax.hist(part, edges, histtype="step", color=colour, linewidth=1.6, label=name)
        ax.legend(title="label", frameon=False)
    else:
        ax.hist(values.values, edges, color=BLUE)
    ax.axvline(0.0, color=GREY, linewidth=0.8)
    ax.set_yscale("log")
    ax.set(xlabel="value", ylabel="points")
    return _tidy(ax)


def by_class(values: DataValues, *, ax: Any = None) -> Any:
    """The middle half, the middle nine tenths and the outliers of the values of each class."""
    classes = _classes(values)
    if not classes:
        raise ValueError("values must have classes for plot_classes; a regression has none.")
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
        boxprops={"facecolor": "#cfe3f1", "edgecolor": BLUE},
        whiskerprops={"color": BLUE},
        capprops={"color": BLUE},
        medianprops={"color": ORANGE, "linewidth": 2},
        flierprops={"marker": ".", "markersize": 3, "markeredgecolor": BLUE, "alpha": 0.5},
    )
    ax.invert_yaxis()
    ax.axvline(0.0, color=GREY, linewidth=0.8, zorder=0)
    ax.set(xlabel="value", ylabel="label (points)")
    return _tidy(ax)


def detection(values: DataValues, bad: ArrayLike, *, ax: Any = None) -> Any:
    """The curve of `detection_curve`, with the best there can be and chance."""
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
    values: DataValues,
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    *,
    model: Any = None,
    fractions: Sequence[float] = FRACTIONS,
    ax: Any = None,
) -> Any:
    """The curves of `removal_curve` for the nearest-neighbour model and, dashed, for `model`."""
    data = (X, y, X_test, y_test)
    styles = [(None, "-", f"{values.params.get('n_neighbors', 5)} nearest neighbours")]
    if model is not None:
        styles.append((model, "--", type(model).__name__))
    curves = [removal_curve(values, *data, model=m, fractions=fractions) for m, _, _ in styles]
    ax = _axes(ax)
    for curve, (_, style, name) in zip(curves, styles, strict=True):
        tail = f", {name}" if model is not None else ""
        for scores, colour, mark, said in (
            (curve.least, BLUE, "o", "least valuable first"),
            (curve.most, ORANGE, "s", "most valuable first"),
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
    regression = values.params.get("game") == "regression"
    score = "R² on test points" if regression else "accuracy on test points"
    ax.set(xlabel="training points removed (%)", ylabel=score)
    ax.legend(frameon=False, title=None if model is not None else styles[0][2])
    return _tidy(ax)


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ModuleNotFoundError:
        raise ModuleNotFoundError("plots need matplotlib: pip install 'dataworth[plot]'") from None
    return pyplot.subplots(figsize=(6.4, 4.0), layout="constrained")[1]


def _classes(values: DataValues) -> list[Any]:
    if values.params.get("game") == "regression" or values.labels.dtype.kind == "f":
        return []
    return np.unique(values.labels).tolist()


def _shown(label: Any) -> str:
    """A label as text in a picture: matplotlib would take dollars for formulas."""
    text = str(label).replace("\\", "\\\\").replace("$", r"\$")
    return text if len(text) <= 24 else text[:23] + "…"


def _tidy(ax: Any) -> Any:
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.2)
    ax.set_axisbelow(True)
    return ax
