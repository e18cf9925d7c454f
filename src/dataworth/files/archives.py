"""Numpy archives without pickle and without compression, whichever version of numpy writes them."""

import math
import os
import zipfile
from collections.abc import Iterable, Mapping
from typing import BinaryIO

import numpy as np
from numpy.lib import format as npy

from dataworth.arrays import Array

_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def save(file: BinaryIO, arrays: Mapping[str, Array]) -> None:
    """Write arrays to a file as a numpy archive.

    Objects are refused: numpy would pickle them. `numpy.savez` could not be told so before version
    2.2, and did not close what it had opened if the disk was full.

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
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                npy.write_array(member, np.asanyarray(array), allow_pickle=False)


def load(file: BinaryIO, names: Iterable[str], optional: Iterable[str] = ()) -> dict[str, Array]:
    """Read arrays that `save` wrote. Nothing is unpickled.

    `save` does not compress, so that the arrays never take more memory than the file takes disk.
    An archive that claims otherwise is refused before any array is read.

    Parameters
    ----------
    file : file
        The archive, opened in binary mode.
    names : iterable of str
        The arrays to read. Others are left alone.
    optional : iterable of str
        Arrays to read if they are there.

    Returns
    -------
    dict
        The arrays by name.

    Raises
    ------
    Exception
        Of any kind if the archive is damaged; readers of archives raise many.

    Examples
    --------
    >>> import io
    >>> import numpy as np
    >>> from dataworth.files import archives
    >>> file = io.BytesIO()
    >>> archives.save(file, {"x": np.arange(3), "y": np.arange(4)})
    >>> archives.load(file, ["x"])
    {'x': array([0, 1, 2])}
    """
    names, size = list(names), file.seek(0, os.SEEK_END)
    with zipfile.ZipFile(file) as archive:
        names += [name for name in optional if f"{name}.npy" in archive.namelist()]
        members = {name: archive.getinfo(f"{name}.npy") for name in names}
        if sum(member.file_size for member in members.values()) > size:
            raise ValueError("its arrays are larger than the file")
        for name, member in members.items():
            with archive.open(member) as part:
                version = npy.read_magic(part)
                shape, _, dtype = _HEADERS[version](part)
            if math.prod(shape) * dtype.itemsize > member.file_size:
                raise ValueError(f"its array {name!r} is larger than its part of the file")
        return {name: _read(archive, member) for name, member in members.items()}


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Array:
    with archive.open(member) as part:
        array: Array = npy.read_array(part, allow_pickle=False)
    return array
