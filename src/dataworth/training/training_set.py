"""The training set: points, targets, and the encoder that the points go through."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import joblib
import numpy as np

from dataworth.arrays import Array, Ints
from dataworth.encoders.choice import (
    encoder_of,
    fitted_with_labels,
    fitted_without_labels,
    weighs,
)
from dataworth.errors import InputError
from dataworth.inputs import checks, frames
from dataworth.inputs.targets import Labels, Logarithms, Numbers, Targets
from dataworth.neighbors.approximate import Index
from dataworth.neighbors.blocks import BlockPoints, Blocks, is_dask, is_source
from dataworth.neighbors.dask import DaskPoints
from dataworth.neighbors.points import Indexed, InMemory, Points, Precomputed
from dataworth.neighbors.weighed import Weighed
from dataworth.settings import Settings


@dataclass(frozen=True)
class Learned:
    """What was learned from training points and can be used again: an encoder and an index."""

    encoder: Any
    index: Index | None


class TrainingSet:
    """The points that are valued.

    Points are encoded only when needed, because cross-valuation never needs the whole set encoded.

    Attributes
    ----------
    raw : Any
        The features as they were given.
    targets : Targets
        Labels or numbers.
    settings : Settings
        The parameters at the time of `fit`.
    encoder : transformer or None
        The encoder, not fitted.
    """

    def __init__(
        self,
        raw: Any,
        targets: Targets,
        settings: Settings,
        encoder: Any,
        *,
        array: Array | None = None,
        with_labels: bool = True,
        learned: Learned | None = None,
        is_part: bool = False,
    ) -> None:
        self.raw, self.targets, self.settings, self.encoder = raw, targets, settings, encoder
        self._array, self._with_labels = array, with_labels
        self._given, self._is_part = learned, is_part

    @classmethod
    def of(cls, X: Any, y: Any, settings: Settings) -> "TrainingSet":
        """Check what `fit` is given; only what goes through an encoder is checked later."""
        away = _is_away(X)
        settings.check_source(X, away)
        encoder = None if away else encoder_of(settings.encoder, X)
        numbers = Logarithms if settings.log else Numbers
        kind = numbers if settings.game.numeric else Labels
        if settings.precomputed:
            if X is not None:
                raise InputError("X", "be None with metric='precomputed'", "got an array")
            return cls(None, kind.of(y, None), settings, None)
        if encoder is not None:
            return cls(X, kind.of(y, checks.rows(X, "X")), settings, encoder)
        array = None if away else checks.matrix(X, "X", sparse=True)
        made = cls(X, kind.of(y, _length(X if away else array)), settings, None, array=array)
        _ = made.points  # checks them
        return made

    @property
    def n_points(self) -> int:
        """The number of training points."""
        return self.targets.codes.size

    @property
    def is_away(self) -> bool:
        """Whether the features are not in memory."""
        return _is_away(self.raw)

    @property
    def is_encoded(self) -> bool:
        """Whether `points` are there already."""
        return "points" in self.__dict__

    @cached_property
    def points(self) -> Points:
        """The points between which distances are measured: the features, encoded."""
        settings, measure = self.settings, self.settings.measure
        if settings.precomputed:
            return Precomputed(self.n_points)
        if is_dask(self.raw):
            shards = DaskPoints(self.raw, measure)
            measure.checked(shards[0:1])
            return shards
        if self.is_away:
            blocks = Blocks(self.raw, "X", int(settings.working_memory))
            measure.checked(blocks[0:1])
            return BlockPoints(blocks, measure)
        if weighs(self.encoder):
            return Weighed(self.fitted_encoder.leaves(), self.fitted_encoder.shares_)
        if self.encoder is not None:
            array = self._encoded(self.raw)
        elif self._array is not None:
            array = self._array
        else:
            array = checks.matrix(self.raw, "X", sparse=True)
        measure.check_scale(array)
        points = InMemory(measure.checked(array), measure)
        settings.check_source(points.array, away=False)
        if self._given is None:
            index = settings.index(points.array, anew=self._is_part)
        else:
            index = self._given.index
        return points if index is None else Indexed(points, index)

    @cached_property
    def fitted_encoder(self) -> Any:
        """The encoder, fitted on these points; None if there is no encoder."""
        if self._given is not None:
            return self._given.encoder
        if self.encoder is None:
            return None
        if self._with_labels:
            return fitted_with_labels(self.encoder, self.raw, self.targets.learnt())
        # The label of a validation point must not shape the distances by which it judges.
        return fitted_without_labels(self.encoder, self.raw, self.targets.learnt())

    @cached_property
    def without_labels(self) -> "TrainingSet":
        """The same points with an encoder that has not seen the label of the point it judges."""
        if self.encoder is None or weighs(self.encoder):
            return self
        return TrainingSet(self.raw, self.targets, self.settings, self.encoder, with_labels=False)

    @property
    def learned(self) -> Learned:
        """What was learned from these points."""
        index = self.points.index if isinstance(self.points, Indexed) else None
        return Learned(self.fitted_encoder, index)

    def _encoded(self, X: Any) -> Array:
        transformed = self.fitted_encoder.transform(X)
        array: Array = checks.matrix(transformed, "the encoder's output", sparse=True)
        n_points = checks.rows(X, "X")
        if array.shape[0] != n_points:
            raise InputError(
                "the encoder's output", f"have a row for each of {n_points} points",
                f"it has {array.shape[0]}",
            )  # fmt: skip
        return array

    def queries(self, X_val: Any) -> Any:
        """Check and encode validation points, and return them as a search takes them."""
        if X_val is not None and is_source(X_val):
            X_val = X_val[:]
        if self.encoder is not None:
            checks.rows(X_val, "X_val")
            encoded = self.fitted_encoder.leaves if weighs(self.encoder) else self._encoded
            X_val = encoded(X_val)
        return self.points.queries(X_val)

    def is_partial(self, X_val: Any, limited: bool) -> bool:
        """Whether a search finds only some neighbours; `limited` if the run needs only some."""
        if self.encoder is not None:
            return self.settings.indexed
        return self.points.is_partial(X_val, limited)

    def part(self, index: Ints, learned: Learned | None) -> "TrainingSet":
        """Return a copy of some of the points, with what was learned from them before."""
        raw = frames.take(self.raw, index)
        targets = self.targets.part(index)
        return TrainingSet(raw, targets, self.settings, self.encoder, learned=learned, is_part=True)

    def with_targets(self, targets: Targets) -> "TrainingSet":
        """Return the same points with other targets; an encoder has to be fitted anew."""
        learned = self.learned if self.encoder is None else None
        return TrainingSet(
            self.raw, targets, self.settings, self.encoder, array=self._array, learned=learned
        )

    def digest(self) -> str:
        """Return a hash of the contents."""
        if self.encoder is None:
            contents: Any = self.points.digest()
        else:
            contents = frames.content(self.raw)
        return str(joblib.hash((contents, self.targets.given())))


def _is_away(X: Any) -> bool:
    return X is not None and (is_dask(X) or is_source(X))


def _length(X: Any) -> int | None:
    rows = X.shape[0] if len(X.shape) else None
    return None if rows is None or np.isnan(rows) else int(rows)


def content(X: Any) -> Any:
    """Return validation data in a form that hashes alike for tables of every library."""
    if X is None:
        return None
    if is_dask(X):
        return np.asarray(X)
    return np.asarray(X[:]) if is_source(X) else frames.content(X)
