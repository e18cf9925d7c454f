"""Our values as a data evaluator of OpenDataVal."""

from typing import Any, Self

import numpy as np
from sklearn.base import clone

from dataworth import DataValues, KNNShapley
from dataworth.arrays import Array, Floats
from dataworth.errors import InputError, InputTypeError
from dataworth.inputs import checks
from dataworth.result import is_numeric

try:
    import torch
    from opendataval.dataval import DataEvaluator, ModelLessMixin
    from opendataval.model import Model
except ImportError as error:
    raise ImportError(
        "this bridge needs OpenDataVal; docs/peers.md says which versions go together."
    ) from error


class Dataworth(DataEvaluator, ModelLessMixin):
    """A `DataEvaluator` that values with a `KNNShapley`, known to OpenDataVal as "dataworth".

    Labels are one-hot rows, as OpenDataVal's fetchers give them; targets of a regression are rows
    of one number.

    Parameters
    ----------
    valuator : KNNShapley or None
        The valuator, of which a copy is used; None takes one with the default parameters.
    leave_one_out : bool, default False
        Whether to ignore the validation points and let each training point judge all others.
    embedding_model : Model or None
        An embedding model of OpenDataVal that both sets of points go through first.
    random_state : int, RandomState or None
        Not used, because nothing here is random; OpenDataVal's experiments pass it.

    Attributes
    ----------
    result : DataValues
        The values, after `train_data_values`.

    Examples
    --------
    >>> import torch
    >>> from dataworth import KNNShapley
    >>> from dataworth.integrations.opendataval import Dataworth
    >>> x = torch.tensor([[0.0], [0.1], [0.2], [1.0], [1.1], [0.15]])
    >>> y = torch.nn.functional.one_hot(torch.tensor([0, 0, 0, 1, 1, 1])).float()
    >>> evaluator = Dataworth(KNNShapley(n_neighbors=2)).input_data(x, y, x[2:3], y[2:3])
    >>> int(evaluator.train_data_values().evaluate_data_values().argmin())
    5
    """

    def __init__(
        self,
        valuator: KNNShapley | None = None,
        *,
        leave_one_out: bool = False,
        embedding_model: Model | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(random_state)
        if valuator is not None and not isinstance(valuator, KNNShapley):
            kind = type(valuator)
            raise InputTypeError(
                "valuator",
                "be a dataworth.KNNShapley or None",
                f"got {kind.__module__}.{kind.__qualname__}",
            )
        self.valuator = KNNShapley(progress=False) if valuator is None else clone(valuator)
        self.leave_one_out = checks.boolean(leave_one_out, "leave_one_out")
        self.embedding_model = embedding_model

    def input_data(self, *args: Any, **kwargs: Any) -> Self:
        """Take the data, as every evaluator does, and forget the values of earlier data."""
        self._forget()
        return super().input_data(*args, **kwargs)

    def _forget(self) -> None:
        # OpenDataVal caches `data_values` once somebody has asked for it.
        for name in ("result", "data_values"):
            self.__dict__.pop(name, None)

    def train_data_values(self, *_: Any, **__: Any) -> Self:
        """Compute the values. The arguments, meant for a prediction model, are not used."""
        self._forget()
        if not hasattr(self, "x_train"):
            raise InputError("input_data", "be called before train_data_values")
        x_train, x_valid = self.embeddings(self.x_train, self.x_valid)
        self.valuator.fit(_points(x_train, "x_train"), self._targets(self.y_train, "y_train"))
        if self.leave_one_out:
            self.result: DataValues = self.valuator.value()
        else:
            y_valid = self._targets(self.y_valid, "y_valid")
            self.result = self.valuator.value(_points(x_valid, "x_valid"), y_valid)
        return self

    def evaluate_data_values(self) -> Floats:
        """Return the values, in the order of the training points."""
        if not hasattr(self, "result"):
            raise InputError("train_data_values", "be called before evaluate_data_values")
        return self.result.values.copy()

    def _targets(self, y: Any, name: str) -> Array:
        array = _array(y, name)
        rows = array.reshape(len(array), -1)
        if is_numeric(self.valuator.game):
            if rows.shape[1] != 1:
                raise InputError(name, "hold one number a row", f"got shape {array.shape}")
            return rows[:, 0]
        if not (np.isin(rows, (0, 1)).all() and (rows.sum(axis=1) == 1).all()):
            raise InputError(
                name, "hold one-hot rows", hint="For numbers use KNNShapley(game='regression')."
            )
        return rows.argmax(axis=1)


def _points(x: Any, name: str) -> Array:
    array = _array(x, name)
    return array.reshape(len(array), -1)


def _array(tensor: Any, name: str) -> Array:
    if not isinstance(tensor, torch.Tensor | np.ndarray):
        kind = type(tensor).__name__
        raise InputTypeError(
            name, "be a tensor or array", f"got {kind}", "An embedding_model makes one."
        )
    return tensor.numpy(force=True) if isinstance(tensor, torch.Tensor) else tensor
