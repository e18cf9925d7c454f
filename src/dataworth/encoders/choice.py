"""What the rest of the package asks about an encoder, without knowing any by name."""

import inspect
from typing import Any

from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from dataworth.encoders.tables import TableEncoder
from dataworth.errors import InputError
from dataworth.inputs import checks, frames


def weighs(encoder: Any) -> bool:
    """Whether an encoder weighs the training points itself, so that there are no distances.

    It says so by having the methods `leaves` and `weights`, and once it is fitted `shares_`, as
    `OutOfBagForest` does. With that it promises that whatever judges a training point has not seen
    the label of this point. So it may be fitted with labels even in leave-one-out.

    Parameters
    ----------
    encoder : transformer, "auto" or None
        The encoder, fitted or not.

    Returns
    -------
    bool
        Whether it does.

    Raises
    ------
    InputError
        If such an encoder is inside another one, such as a pipeline, which hides its weights.

    Examples
    --------
    >>> from dataworth.encoders import ForestLeaves, OutOfBagForest
    >>> from dataworth.encoders.choice import weighs
    >>> weighs(OutOfBagForest()), weighs(ForestLeaves())
    (True, False)
    """
    if _weighs(encoder):
        return True
    parts = encoder.get_params(deep=True).values() if hasattr(encoder, "get_params") else ()
    for part in parts:
        if not isinstance(part, type) and _weighs(part):
            name = type(part).__name__
            raise InputError(
                "encoder",
                f"be {name} itself, and not hold one",
                f"a {type(encoder).__name__} hides the weights of {name}",
                "Transform the points first.",
            )
    return False


def _weighs(encoder: Any) -> bool:
    return all(callable(getattr(encoder, name, None)) for name in ("leaves", "weights"))


def own_folds(encoder: Any) -> int | None:
    """Find into how many folds an encoder wants points to be split that judge each other.

    An encoder that learns from labels must not see those of the points that judge. If it says by an
    attribute `own_folds` how many folds suit it, `value()` takes as many for it.

    Parameters
    ----------
    encoder : transformer, "auto" or None
        The encoder. Of a `Pipeline` the last step that does anything is asked.

    Returns
    -------
    int or None
        The number of folds; None if the encoder names none.

    Examples
    --------
    >>> from dataworth.encoders import ForestLeaves, LinearScores
    >>> from dataworth.encoders.choice import own_folds
    >>> own_folds(LinearScores()), own_folds(ForestLeaves())
    (5, None)
    """
    found = getattr(_last_step(encoder), "own_folds", None)
    return None if found is None else checks.integer(found, "encoder.own_folds", least=2)


def knows_only_classes(encoder: Any) -> bool:
    """Whether an encoder says, by an attribute `classes_only`, that it is not for numbers.

    Parameters
    ----------
    encoder : transformer, "auto" or None
        The encoder. Of a `Pipeline` the last step that does anything is asked.

    Returns
    -------
    bool
        Whether it does.

    Examples
    --------
    >>> from dataworth.encoders import ForestLeaves, LinearScores
    >>> from dataworth.encoders.choice import knows_only_classes
    >>> knows_only_classes(LinearScores()), knows_only_classes(ForestLeaves())
    (True, False)
    """
    return bool(getattr(_last_step(encoder), "classes_only", False))


def _last_step(encoder: Any) -> Any:
    """Return the last step of a pipeline that does anything, or the encoder if it is none."""
    while isinstance(encoder, Pipeline):
        steps = [step for _, step in encoder.steps if step not in (None, "passthrough")]
        encoder = steps[-1] if steps else None
    return encoder


def encoder_for(X: Any) -> TableEncoder | None:
    """Choose the encoder for points that come without one.

    Parameters
    ----------
    X : object
        The training points.

    Returns
    -------
    TableEncoder or None
        A new `TableEncoder` for data frames; None for anything else, which is used as it is.

    Examples
    --------
    >>> import pandas
    >>> from dataworth.encoders.choice import encoder_for
    >>> encoder_for(pandas.DataFrame({"age": [31, 58]}))
    TableEncoder()
    >>> encoder_for([[31.0], [58.0]]) is None
    True
    """
    return None if frames.frame(X) is None else TableEncoder()


def encoder_of(encoder: Any, X: Any) -> Any:
    """Replace "auto" by the encoder that it stands for.

    Parameters
    ----------
    encoder : transformer, "auto" or None
        The encoder that was asked for.
    X : object
        The training points.

    Returns
    -------
    transformer or None
        `encoder_for(X)` in place of "auto"; any other encoder as it is.

    Examples
    --------
    >>> import pandas
    >>> from dataworth.encoders.choice import encoder_of
    >>> encoder_of("auto", pandas.DataFrame({"age": [31, 58]}))
    TableEncoder()
    """
    return encoder_for(X) if isinstance(encoder, str) and encoder == "auto" else encoder


def own_metric(encoder: Any) -> str | None:
    """Find the metric that belongs to what an encoder returns.

    An encoder whose output is meant to be compared in one way says so by an attribute `metric`,
    as `ForestLeaves` does. A constructor parameter of that name does not count: with `Isomap`
    and its like it says how to compare what goes in, not what comes out.

    Parameters
    ----------
    encoder : transformer, "auto" or None
        The encoder. Of a `Pipeline` the last step that does anything is asked.

    Returns
    -------
    str or None
        The name of the metric; None if the encoder names none.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from dataworth.encoders import ForestLeaves
    >>> from dataworth.encoders.choice import own_metric
    >>> own_metric(make_pipeline(StandardScaler(), ForestLeaves()))
    'hamming'
    >>> own_metric(StandardScaler()) is None
    True
    """
    encoder = _last_step(encoder)
    if hasattr(encoder, "get_params") and "metric" in encoder.get_params(deep=False):
        return None
    metric = getattr(encoder, "metric", None)
    return metric if isinstance(metric, str) else None


def fitted_with_labels(encoder: Any, X: Any, y: Any) -> Any:
    """Fit a copy of an encoder to points and their labels, if its `fit` takes labels at all.

    Parameters
    ----------
    encoder : transformer
        The encoder; it stays as it is.
    X : object
        The points.
    y : object
        Their labels.

    Returns
    -------
    transformer
        The fitted copy.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from dataworth.encoders.choice import fitted_with_labels
    >>> fitted_with_labels(StandardScaler(), [[0.0], [1.0]], ["a", "b"]).mean_
    array([0.5])
    """
    copy = clone(encoder)
    try:
        inspect.signature(copy.fit).bind(X, y)
    except TypeError:  # scikit-learn asks for fit(X, y=None), but fit(X) is all we need
        return copy.fit(X)
    return copy.fit(X, y)


def fitted_without_labels(encoder: Any, X: Any, y: Any) -> Any:
    """Fit a copy of an encoder to points whose labels it must not see.

    Parameters
    ----------
    encoder : transformer
        The encoder; it stays as it is.
    X : object
        The points.
    y : object
        Their labels, with which it is tried if it cannot be fitted without: if that fails too, the
        labels are not what it misses, and its error is raised.

    Returns
    -------
    transformer
        The fitted copy.

    Raises
    ------
    InputError
        If the encoder, or any step inside it, says that it needs labels, or can be fitted only with
        them.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from dataworth.encoders.choice import fitted_without_labels
    >>> X, y = [[0.0], [1.0]], ["a", "b"]
    >>> fitted_without_labels(StandardScaler(), X, y).mean_
    array([0.5])
    """
    parts = [encoder]
    if hasattr(encoder, "get_params"):
        parts += encoder.get_params(deep=True).values()
    if any(_needs_labels(part) for part in parts):
        raise _leaking()
    try:
        return clone(encoder).fit(X)
    except Exception as error:  # an encoder may raise anything when it misses its labels
        fitted_with_labels(encoder, X, y)
        raise _leaking() from error


def _leaking() -> InputError:
    return InputError(
        "encoder",
        "not learn from labels in leave-one-out",
        "it would see the label of each validation point",
        "Instead, use value(cv=5).",
    )


def _needs_labels(part: Any) -> bool:
    if isinstance(part, type) or not hasattr(part, "fit"):
        return False
    y = inspect.signature(part.fit).parameters.get("y")
    if y is not None and y.default is inspect.Parameter.empty:
        return True
    return isinstance(part, BaseEstimator) and bool(get_tags(part).target_tags.required)
