"""Is a model better with the cleaned data? The same models before and after, on the same rows.

`plan` reads the tables and says which rows are learnt from and which are judged, `compare` trains
the models, and `scores` says how much they gain, and how sure that is; `rankings` has the metrics
of probabilities.
"""

import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge

from dataworth.arrays import Array, Floats, Ints
from dataworth.comparison import plan as plans
from dataworth.comparison.plan import Data, Plan, Side
from dataworth.comparison.scores import AUROC, Answers, Classes, Comparison, Score, scored
from dataworth.encoders.tables import NAMES_ROWS, TableEncoder
from dataworth.errors import InputError, InputTypeError, ReadingWarning
from dataworth.inputs import checks, frames
from dataworth.inputs.targets import TASKS, shares_changed
from dataworth.progress import bar

__all__ = ["Comparison", "Score", "compare"]

LOG = logging.getLogger(__name__)
UNSEEDED = ("boosting", "logistic", "ridge")  # of our models, those that no seed changes


def compare(
    before: Any,
    after: Any,
    *,
    label: str,
    test: Any = None,
    id: str | None = None,
    drop: Sequence[str] = (),
    task: str = "auto",
    models: Mapping[str, Any] | None = None,
    seeds: int = 5,
    folds: int = 5,
    n_jobs: int | None = None,
    progress: bool = True,
) -> Comparison:
    """Train models on data before and after cleaning, and judge them on the same rows.

    With `test`, models learn from all rows before and from all rows after, and are judged on the
    test rows. Without it, they are cross-validated on the rows that no decision touched, which are
    those of `before` that `after` has unchanged: each fold of them is left out of both.

    Tables go through a `TableEncoder` that is fitted on the rows that a model learns from, and on
    no others.

    Parameters
    ----------
    before, after : data frame, or mapping of str to sequence
        The training data before and after, such as a table and what `decisions.apply` made of it.
    label : str
        The column of labels, or of the numbers to predict.
    test : data frame, mapping of str to sequence, or None
        Rows that neither has, with labels that you trust.
    id : str or None
        A column that names rows, each once. It finds the rows that were not touched, and is not a
        feature. With None, rows are found by their contents.
    drop : sequence of str
        Columns that are not features.
    task : {"auto", "classes", "numbers"}
        What the labels are. "auto" takes many different numbers for numbers to predict.
    models : mapping of str to classifier or regressor, or None
        The models by name. None takes gradient boosting, a random forest, and logistic regression
        (ridge regression for numbers), as scikit-learn has them.
    seeds : int
        How often models with a `random_state` are trained, each time with another one; without
        `test`, how often all models are cross-validated, each time with other folds.
    folds : int
        How many folds the cross-validation has.
    n_jobs : int or None
        How many threads the forest uses.
    progress : bool
        Whether to show a progress bar in a terminal or notebook if work takes more than two
        seconds.

    Returns
    -------
    Comparison
        The scores and their differences, with intervals.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas
    >>> from sklearn.linear_model import LogisticRegression
    >>> from dataworth import compare
    >>> x = np.linspace(-1, 1, 200)
    >>> right = pandas.DataFrame({"x": x, "y": np.where(x > 0, "high", "low")})
    >>> wrong = right.assign(y=np.where(x > -0.5, "high", "low"))
    >>> test = right.assign(x=x + 0.001)
    >>> models = {"logistic": LogisticRegression()}
    >>> print(compare(wrong, right, label="y", test=test, models=models))
    better: balanced accuracy 0.750 → 1.000 (+0.250 ± 0.050)
    """
    seeds = checks.integer(seeds, "seeds", least=1)
    folds = checks.integer(folds, "folds", least=2)
    checks.choice(task, "task", TASKS)
    given = {"before": before, "after": after, "test": test}
    tables = {name: plans.table(table, name) for name, table in given.items() if table is not None}
    for name in ("before", "after"):
        if name not in tables:
            raise InputTypeError(name, "be a data frame or a mapping of columns", "got None")
    data = plans.read(tables, label, id, drop, task)
    chosen = _models(models, data.numeric, checks.n_jobs(n_jobs))
    if test is not None:
        plan = plans.on_test_rows(data, seeds)
    else:
        plan = plans.on_untouched_rows(data, seeds, folds)
    fixed = UNSEEDED if models is None else ()
    truth = data.sides[plan.side].y[plan.judged]
    classes = None if data.numeric else Classes.of(truth)
    answers = _answers(data, plan, chosen, fixed, classes, progress)
    scores = tuple(scored(truth, answers, list(chosen), data.numeric))
    notes = list(plan.notes)
    if classes is not None:
        if scores[0].metric == AUROC:
            notes.append(classes.note)
        changed = shares_changed(data.sides["before"].y, data.sides["after"].y)
        notes += [changed] if changed else []
    return Comparison(
        scores=scores,
        n_before=data.sides["before"].size,
        n_after=data.sides["after"].size,
        n_judged=plan.judged.size,
        how=plan.how,
        of_scores=tuple(notes),
        of_columns=tuple(_named(data.sides["before"])),
    )


def _named(side: Side) -> Iterator[str]:
    """Say which features seem to name rows: models may learn labels from the order of the rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingWarning)  # said while models learn
        read = TableEncoder().fit(side.X)
    for name, said in read.notes_.items():
        if NAMES_ROWS in said:
            yield f"column {name!r} {said}; give it as id, or drop it, if it does."


def _models(given: Any, numeric: bool, n_jobs: int | None) -> dict[str, Any]:
    if given is not None:
        if not isinstance(given, Mapping) or not given:
            raise InputTypeError("models", "map names to models", f"got {given!r:.60}")
        for model in given.values():
            if isinstance(model, type) or not hasattr(model, "predict"):
                wanted = "hold classifiers or regressors"
                raise InputTypeError("models", wanted, f"got {model!r:.60}")
        return dict(given)
    if numeric:
        return {
            "boosting": HistGradientBoostingRegressor(early_stopping=False),
            "forest": RandomForestRegressor(200, n_jobs=n_jobs),
            "ridge": Ridge(),
        }
    return {
        "boosting": HistGradientBoostingClassifier(early_stopping=False),
        "forest": RandomForestClassifier(200, n_jobs=n_jobs),
        "logistic": LogisticRegression(max_iter=5000),
    }


def _answers(
    data: Data,
    plan: Plan,
    models: Mapping[str, Any],
    fixed: Sequence[str],
    classes: Classes | None,
    progress: bool,
) -> dict[str, Answers]:
    """What models say by side; `fixed` models need no seeds."""
    shape = (plan.n_seeds, len(models), plan.judged.size)
    kind = data.sides["before"].y.dtype if data.numeric else object
    names = None
    if classes is not None and all(hasattr(model, "predict_proba") for model in models.values()):
        names = classes.names
    answers = {
        name: Answers(
            np.empty(shape, dtype=kind), None if names is None else np.zeros((*shape, names.size))
        )
        for name in ("before", "after")
    }
    times = "once" if len(plan.parts) == 1 else f"{len(plan.parts)} times"
    LOG.info("training %d models, each %s, before and after", len(models), times)
    lessons: dict[str, _Lesson] = {}
    total = len(plan.parts) * 2 * len(models)
    with bar(total, "comparing", "model", shown=progress) as done:
        for part in plan.parts:
            asked = frames.take(data.sides[plan.side].X, plan.judged[part.judged])
            for name, out in answers.items():
                same = part.learn is None and part.seed > 0  # only the seed differs
                if not same:
                    lessons[name] = _Lesson.of(
                        data.sides[name], name, part.learn, asked, quiet=name in lessons
                    )
                for at, (called, model) in enumerate(models.items()):
                    if same and called in fixed:
                        out.repeat(part.seed, at)
                    else:
                        said = lessons[name].taught(model, part.seed, data.numeric, names)
                        out.keep((part.seed, at, part.judged), *said)
                    done.update()
    return answers


@dataclass(frozen=True)
class _Lesson:
    """What a model learns from and is then asked, encoded."""

    X: Floats
    y: Array
    asked: Floats

    @classmethod
    def of(
        cls, side: Side, name: str, learn: Mapping[str, Ints] | None, asked: Any, *, quiet: bool
    ) -> Self:
        """Encode what is learnt and asked; `quiet` if its columns have been looked at before."""
        rows = np.arange(side.size) if learn is None else learn[name]
        points = frames.take(side.X, rows)
        with warnings.catch_warnings():
            if quiet:
                warnings.simplefilter("ignore", ReadingWarning)
            try:
                encoder = TableEncoder().fit(points)
            except InputError as error:
                raise error.renamed(name) from error
        return cls(encoder.transform(points), side.y[rows], encoder.transform(asked))

    def taught(
        self, model: Any, seed: int, numeric: bool, names: Array | None
    ) -> tuple[Array, Floats | None]:
        """Return what a copy of the model predicts, and its probabilities of the classes asked."""
        if not numeric and (self.y == self.y[0]).all():  # some refuse to learn a single class
            alone = np.repeat(self.y[:1], len(self.asked))
            return alone, None if names is None else (alone[:, None] == names).astype(np.float64)
        own = clone(model)
        if "random_state" in own.get_params():
            own.set_params(random_state=seed)
        own.fit(self.X, self.y)
        predicted = np.asarray(own.predict(self.asked))
        if names is None:
            return predicted, None
        chances = np.zeros((len(self.asked), names.size))  # 0 for classes that it never saw
        known = [name in own.classes_ for name in names]
        chances[:, known] = own.predict_proba(self.asked)[
            :, np.searchsorted(own.classes_, names[known])
        ]
        return predicted, chances
