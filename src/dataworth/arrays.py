"""Names for the arrays that pass between modules."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Table = NDArray[np.void]  # a structured array: rows with named fields
