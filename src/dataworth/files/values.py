"""Files of values: a numpy archive, or a table that keeps the facts of the run beside its columns.

Every format holds the same things: arrays by name, and facts as JSON. This module knows nothing
else of a result; `dataworth.result` makes a `DataValues` from them.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Self

import numpy as np

from dataworth.arrays import Array
from dataworth.errors import InputError, extra
from dataworth.files import archives, paths, spreadsheets, tables
from dataworth.files.atomic import atomic
from dataworth.inputs import frames
from dataworth.suspects.ruler import Ruler

FORMAT = "dataworth values 1"
NUMBERS = ("values", "lower", "upper")
ARRAYS = (*NUMBERS, "index", "labels")
OPTIONAL = ("agreement", "suggested")  # only known if training points judged each other
# Which column of a table holds which array. The index is in a column "index" or "id".
COLUMNS = {"value": "values", "lower": "lower", "upper": "upper", "label": "labels"}
ENDINGS = (*tables.TABLES, ".npz")
_BY = "value ({})"  # the column of the values with an encoder
KEY = b"dataworth"  # the name of the facts in the metadata of a table


class OtherFormat(ValueError):
    """A file of values is sound, but another version of dataworth wrote it in its own format."""


@dataclass(frozen=True)
class Facts:
    """How values were computed; the defaults are for files that do not say.

    Attributes
    ----------
    params : dict
        The parameters of the valuator.
    n_validation : int
        The number of validation points.
    weight_error : float
        How far the approximation of real weights can move a value.
    version : str
        The version of dataworth that computed the values.
    recall : float or None
        The share of the nearest points that an approximate search found.
    library : str or None
        The library that the training table came from.
    ruler : Ruler or None
        Where planted errors landed.

    Examples
    --------
    >>> from dataworth.files.values import Facts
    >>> Facts.from_json(Facts(n_validation=3, recall=0.9).to_json()).recall
    0.9
    """

    params: Mapping[str, Any] = field(default_factory=dict)
    n_validation: int = 0
    weight_error: float = 0.0
    version: str = ""
    recall: float | None = None
    library: str | None = None
    ruler: Ruler | None = None

    def to_json(self) -> str:
        """Write the facts, and the name of the format, as JSON."""
        facts = {"format": FORMAT, **vars(self), "params": dict(self.params)}
        del facts["ruler"]  # most values have none, and earlier versions do not know of it
        return json.dumps(facts if self.ruler is None else {**facts, "ruler": self.ruler.plain()})

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read what `to_json` wrote; a ValueError, KeyError or TypeError says that it did not."""
        try:
            facts = json.loads(text)
        except RecursionError:
            raise ValueError("its facts are nested too deeply") from None
        name = facts.pop("format")
        if name != FORMAT and str(name).startswith(FORMAT.rstrip("0123456789")):
            raise OtherFormat(f"it has the format {name!r}, and this version reads {FORMAT!r}")
        ruler = Ruler.of(facts.pop("ruler")) if "ruler" in facts else None
        known = cls(**facts, ruler=ruler)
        whole = (
            name == FORMAT
            and len(facts) == len(cls.__dataclass_fields__) - 1
            and isinstance(known.params, dict)
            and isinstance(known.n_validation, int)
            and isinstance(known.weight_error, float)
            and isinstance(known.version, str)
            and isinstance(known.recall, float | None)
            and isinstance(known.library, str | None)
        )
        if not whole:
            raise ValueError("its facts are not those of values")
        return known

    def check_size(self, n_points: int) -> None:
        """Raise a ValueError if the ruler is one of other points."""
        if self.ruler is not None and self.ruler.n_points != n_points:
            raise ValueError("its ruler is one of other points")


@dataclass(frozen=True)
class Contents:
    """What a file of values holds.

    Attributes
    ----------
    arrays : dict
        The arrays by their names: `ARRAYS` and, if they are known, `OPTIONAL`.
    facts : Facts
        How the values were computed.
    groups : array or None
        The group of each training point. Numpy archives do not keep it.
    by_encoder : dict or None
        The values with each encoder, by its name.
    ranking : dict
        Columns of tables that follow from the arrays and the facts, for those who open the file
        with something else. `read` leaves them alone.
    """

    arrays: Mapping[str, Array]
    facts: Facts
    groups: Array | None = None
    by_encoder: Mapping[str, Array] | None = None
    ranking: Mapping[str, Array] = field(default_factory=dict)


def write_archive(path: str | os.PathLike[str], contents: Contents) -> None:
    """Write a numpy archive, whole or not at all."""
    arrays = {**contents.arrays, "facts": np.array(contents.facts.to_json())}
    if contents.by_encoder is not None:
        arrays["encoders"] = np.array(list(contents.by_encoder))
        arrays["by_encoder"] = np.stack(list(contents.by_encoder.values()))
    with atomic(path) as file:
        archives.save(file, arrays)


def read_archive(path: str | os.PathLike[str]) -> Contents:
    """Read what `write_archive` wrote. Nothing is unpickled."""
    with paths.to_read(path).open("rb") as handle:
        try:
            optional = (*OPTIONAL, "encoders", "by_encoder")
            arrays = archives.load(handle, (*ARRAYS, "facts"), optional)
            names, rows = arrays.pop("encoders", None), arrays.pop("by_encoder", None)
            facts = Facts.from_json(str(arrays.pop("facts")))
            numbers = [name for name in (*NUMBERS, "agreement") if name in arrays]
            if any(arrays[name].dtype != np.float64 for name in numbers):
                raise ValueError("its values are not numbers")
            if len({a.shape for a in arrays.values()}) != 1 or arrays["values"].ndim != 1:
                raise ValueError("its arrays differ in shape")
            by_encoder = None
            if names is not None and rows is not None:
                if rows.dtype != np.float64 or rows.shape != (names.size, arrays["values"].size):
                    raise ValueError("its values by encoder are not numbers of the same points")
                by_encoder = dict(zip(names.tolist(), rows, strict=True))
            facts.check_size(arrays["values"].size)
        except Exception as error:  # a damaged archive makes its readers raise anything
            came = f"{os.fspath(path)!r} is not"
            if isinstance(error, OtherFormat):
                came += f": {error}"
            raise InputError("path", "name a file written by DataValues.save", came) from error
    return Contents(arrays, facts, by_encoder=by_encoder)


def columns(contents: Contents, *, ids: bool) -> dict[str, Array]:
    """Arrange the arrays as the columns of a table.

    Parameters
    ----------
    contents : Contents
        The arrays and, if there are any, the groups.
    ids : bool
        Whether the index holds ids that users gave; the column is then named so.

    Returns
    -------
    dict
        The columns: index or id, value, lower, upper, label and, if they are known, agreement,
        suggested, `value (NAME)` for each encoder, those of the ranking, and group.
    """
    table = {"id" if ids else "index": contents.arrays["index"]}
    table |= {name: contents.arrays[array] for name, array in COLUMNS.items()}
    table |= {name: contents.arrays[name] for name in OPTIONAL if name in contents.arrays}
    table |= {_BY.format(name): a for name, a in (contents.by_encoder or {}).items()}
    table |= contents.ranking
    return table if contents.groups is None else {**table, "group": contents.groups}


def write_csv(file: BinaryIO, columns: Mapping[str, Array], separator: str = ",") -> None:
    """Write what `columns` returned as CSV.

    Texts that a spreadsheet could take for formulas are guarded; `read` gives them back as they
    were.
    """
    plain = {
        name: [spreadsheets.guarded(item) if isinstance(item, str) else item for item in a.tolist()]
        for name, a in columns.items()
    }
    tables.write_csv(file, plain, separator)


def write(path: str | os.PathLike[str], contents: Contents, *, ids: bool = False) -> None:
    """Write values in the format that the ending of the name asks for, whole or not at all.

    Parquet, Arrow and Feather files keep the facts in the metadata of their schema. CSV and TSV
    files keep no facts, and NPZ files no groups. A name without an ending is that of an NPZ file.
    In CSV and TSV files, texts that a spreadsheet could take for formulas have an apostrophe in
    front, which `read` removes.
    """
    if _is_archive(path):
        write_archive(path, contents)
        return
    ending = tables.check_ending(path, ENDINGS, "path")
    table = columns(contents, ids=ids)
    if ending in tables.SEPARATORS:  # these need no pyarrow
        with atomic(path) as file:
            write_csv(file, table, tables.SEPARATORS[ending])
        return
    pa = extra("pyarrow", f"a {ending} file", "cli")
    plain = {name: a.tolist() if a.dtype.kind == "U" else a for name, a in table.items()}
    tables.write_table(path, pa.table(plain, metadata={KEY: contents.facts.to_json()}))


def _is_archive(path: str | os.PathLike[str]) -> bool:
    """Whether a name asks for a numpy archive: one without an ending asks for no other format."""
    return paths.named(path, "path").suffix.lower() in ("", ".npz")


def read(path: str | os.PathLike[str]) -> Contents:
    """Read what `write` wrote, in the format that the ending of the name tells."""
    if _is_archive(path):
        return read_archive(path)
    ending = tables.check_ending(path, ENDINGS, "path")
    table = tables.read_table(path)
    name, wanted = os.fspath(path), "be a file of values written by dataworth"
    lacking = set(COLUMNS) - set(table.column_names)
    if lacking:
        raise InputError(name, wanted, f"it has no column {min(lacking)!r}")

    def array(column: str) -> Array:
        cells = _suggested(path, table) if column == "suggested" else table.column(column)
        entries = frames.entries(cells, column)
        if ending in tables.SEPARATORS and isinstance(entries, list):
            entries = [spreadsheets.unguarded(e) if isinstance(e, str) else e for e in entries]
        return np.asarray(entries)

    kept = (table.schema.metadata or {}).get(KEY)
    key = next((k for k in ("id", "index") if k in table.column_names), None)
    try:
        facts = Facts() if kept is None else Facts.from_json(kept)
        facts.check_size(table.num_rows)
        arrays = {known: array(column) for column, known in COLUMNS.items()}
        arrays |= {known: arrays[known].astype(np.float64) for known in NUMBERS}
        if "agreement" in table.column_names:  # it may be NaN, which CSV files have as a gap
            arrays["agreement"] = table.column("agreement").cast("float64").to_numpy()
        if "suggested" in table.column_names:
            arrays["suggested"] = array("suggested")
        arrays["index"] = np.arange(table.num_rows) if key is None else array(key)
        by_encoder = {
            column[len("value (") : -1]: array(column).astype(np.float64)
            for column in table.column_names
            if column.startswith("value (") and column.endswith(")")
        } or None
        groups = array("group") if "group" in table.column_names else None
    except (AttributeError, KeyError, NotImplementedError, TypeError, ValueError) as error:
        raise InputError(name, wanted, f"it does not fit: {str(error).rstrip('.')}") from None
    return Contents(arrays, facts, groups, by_encoder)


def _suggested(path: str | os.PathLike[str], table: Any) -> Any:
    """Return the suggested labels in the type of the labels, which a CSV file does not keep."""
    kind, column = table.column("label").type, table.column("suggested")
    if column.type != kind:  # such as "01" among labels that are no numbers
        column = tables.read_table(path, names=("suggested",)).column("suggested")
    return column.cast(kind)
