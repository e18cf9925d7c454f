"""Pictures for the page: thumbnails in data: addresses, so that the file stands alone."""

import base64
import io
import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dataworth.errors import InputError, InputTypeError, extra
from dataworth.report import cells

FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
SIDE = 240
BUDGET = 6_000_000
# Why a point has no picture.
OUTSIDE = "not in the folder of pictures"
UNREADABLE = "not a png, jpeg, gif or webp file that can be read"


@dataclass(frozen=True)
class Count:
    """How many pictures a column names, and how many of them can be shown.

    Attributes
    ----------
    named : int
        The files that are named, each as often as it is.
    found : int
        Those that are in the folder of pictures.
    outside : int
        Those that would be outside of it.
    """

    named: int
    found: int
    outside: int


class Gallery:
    """Thumbnails of a column of image files or arrays.

    Arrays have shape (height, width) or (height, width, 1, 3 or 4). Bytes are shown as they are;
    other numbers are scaled so that the smallest of the column is black and the largest white.

    Parameters
    ----------
    column : sequence
        Paths or arrays.
    root : str, path or None
        The folder that the files are in; None is the current one. Files outside are not shown.
    """

    def __init__(self, column: cells.Values, root: str | os.PathLike[str] | None) -> None:
        extra("PIL.Image", "image", "report")
        self._column = column
        if not isinstance(root, str | os.PathLike | None):
            raise InputTypeError("image_root", "be the name of a folder", f"got {root!r:.60}")
        self._root = Path() if root is None else Path(root)
        self._range: tuple[float, float] | None = None

    def check(self, argument: str) -> None:
        """Refuse arrays that are not pictures; files are opened only when they are shown."""
        for position, entry in enumerate(self._column):
            array = _array(entry)
            if array is None:
                continue
            flat = array.ndim == 2 or (array.ndim == 3 and array.shape[2] in (1, 3, 4))
            if not flat or array.size == 0 or array.dtype.kind not in "biuf":
                raise InputError(
                    argument,
                    "hold paths, or arrays of shape (height, width) or (height, width, 1, 3 or 4)",
                    f"entry {position} has shape {array.shape} and dtype {array.dtype}",
                )
            if array.dtype != np.uint8:
                finite = array[np.isfinite(array)]
                if finite.size:
                    low, high = float(finite.min()), float(finite.max())
                    old = self._range or (low, high)
                    self._range = min(low, old[0]), max(high, old[1])

    def picture(self, position: int) -> tuple[str | None, str | None]:
        """Return the address of a thumbnail, or why there is none; neither if it is missing."""
        entry = self._column[position]
        array = _array(entry)
        if array is not None:
            return self._of_array(array), None
        if cells.is_missing(entry):
            return None, None
        return self._of_file(entry)

    def count(self) -> Count:
        """Count the files of the column, without opening them."""
        named = [entry for entry in self._column if isinstance(entry, str | os.PathLike)]
        lacks = [self._lacks(entry) for entry in named]
        return Count(len(named), lacks.count(None), lacks.count(OUTSIDE))

    def _lacks(self, entry: str | os.PathLike[str]) -> str | None:
        """Return why a file cannot be opened, or None if it can."""
        try:
            path = self._root / os.fspath(entry)
            # A page may be passed on: a table of strangers must not put other files into it.
            if not path.resolve().is_relative_to(self._root.resolve()):
                return OUTSIDE
            return None if path.is_file() else "no such file"
        except Exception:  # a name that cannot be one, or a link to itself
            return UNREADABLE

    def _of_array(self, array: Any) -> str:
        from PIL import Image

        if array.dtype != np.uint8:
            low, high = self._range or (0.0, 1.0)
            scaled = (np.nan_to_num(array.astype(np.float64), nan=low) - low) / (high - low or 1.0)
            array = (scaled.clip(0, 1) * 255).round().astype(np.uint8)
        if array.ndim == 3 and array.shape[2] == 1:
            array = array[:, :, 0]
        return _address(Image.fromarray(np.ascontiguousarray(array)), "PNG")

    def _of_file(self, entry: Any) -> tuple[str | None, str | None]:
        from PIL import Image, ImageOps

        lack = self._lacks(entry)
        if lack is not None:
            return None, lack
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", Image.DecompressionBombWarning)
                with Image.open(self._root / os.fspath(entry), formats=FORMATS) as image:
                    image.draft("RGB", (2 * SIDE, 2 * SIDE))
                    upright = ImageOps.exif_transpose(image)
                    has_alpha = "A" in upright.getbands() or "transparency" in upright.info
                    return _address(upright.convert("RGBA" if has_alpha else "RGB"), "WEBP"), None
        except Exception:  # a damaged picture makes readers raise anything
            return None, UNREADABLE


def _array(entry: Any) -> Any:
    """Return the entry as an array, or None if it is a path or missing."""
    if isinstance(entry, str | os.PathLike) or cells.is_missing(entry):
        return None
    return np.asarray(entry)


def _address(image: Any, kind: str) -> str:
    image.thumbnail((SIDE, SIDE))
    file = io.BytesIO()
    image.save(file, kind, **({"quality": 80} if kind == "WEBP" else {"optimize": True}))
    return f"data:image/{kind.lower()};base64,{base64.b64encode(file.getvalue()).decode()}"


class Album:
    """The pictures of a page: a list of addresses, each of them once, within a budget."""

    def __init__(self) -> None:
        self.addresses: list[str] = []
        self.is_full = False
        self._room = BUDGET
        self._places: dict[tuple[Gallery, int], int | str | None] = {}

    def place(self, gallery: Gallery, position: int) -> int | str | None:
        """Return where a point's picture is in the list, or why it has none; None if missing."""
        key = gallery, position
        if key not in self._places:
            self._places[key] = self._add(gallery, position)
        return self._places[key]

    def _add(self, gallery: Gallery, position: int) -> int | str | None:
        address, reason = (None, None) if self.is_full else gallery.picture(position)
        if address is not None and len(address) > self._room:
            self.is_full = True
        if self.is_full:
            return "left out, to keep the report small"
        if address is None:
            return reason
        self._room -= len(address)
        self.addresses.append(address)
        return len(self.addresses) - 1
