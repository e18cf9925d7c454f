"""Numpy archives without pickle, whichever version of numpy writes them."""

from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

from dataworth.arrays import Array


def save(file: BinaryIO, arrays: Mapping[str, Array]) -> None:
    """Write arrays to a file as a numpy archive.

    Objects are refused: numpy would pickle them, and before version 2.2 nothing could stop it.

    Examples
    --------
    >>> import io
    >>> import numpy as np
    >>> from dataworth.files import archives
    >>> file = io.BytesIO()
    >>> archives.save(file, {"x": np.arange(3)})
    >>> np.load(io.BytesIO(file.getvalue()), allow_pickle=False)["x"]
    array([0, 1, 2])
    """
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise ValueError(f"Object arrays cannot be saved; {name!r} would have to be pickled.")
    named: dict[str, Any] = dict(arrays)
    np.savez(file, **named)
