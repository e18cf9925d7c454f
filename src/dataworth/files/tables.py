"""Files of tables and of values: CSV, TSV, Parquet, Arrow and Feather through pyarrow, and numpy's.

pyarrow is what the command line brings (`pip install 'dataworth[cli]'`): it reads and writes all of
these formats, and its files keep the parameters of a run beside the values. Nothing is ever
unpickled.
"""

import csv
import io
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from dataworth.files import atomic as files
from dataworth.inputs import frames
from dataworth.result import DataValues

FORMAT = "dataworth values 1"
SEPARATORS = {".csv": ",", ".tsv": "\t"}
ARROW = (".arrow", ".feather")
TABLES = (*SEPARATORS, ".parquet", *ARROW)
READABLE = (*TABLES, ".npz", ".npy")
WRITABLE = (*TABLES, ".npz")


@dataclass(frozen=True)
class Source:
    """Points with named columns, from a table or from arrays.

    table : a pyarrow table; None for arrays.
    matrix : the features of arrays, whose columns are named by their numbers.
    others : further arrays by name, such as labels.
    """

    name: str
    table: Any
    matrix: NDArray[Any] | None
    others: dict[str, NDArray[Any]]

    @property
    def names(self) -> list[str]:
        """The columns that can be features."""
        if self.matrix is not None:
            return [str(i) for i in range(self.matrix.shape[1])]
        return list(self.table.column_names)

    def __len__(self) -> int:
        return int(self.table.num_rows if self.matrix is None else self.matrix.shape[0])

    def column(self, name: str, option: str) -> Any:
        """One column, whatever its kind."""
        if name in self.others:
            if self.others[name].shape != (len(self),):
                raise ValueError(
                    f"{option} must name an array of {len(self)} entries; {name!r} of "
                    f"{self.name} has shape {self.others[name].shape}."
                )
            return self.others[name]
        if name not in self.names:
            near = ", ".join(repr(n) for n in [*self.others, *self.names][:8])
            more = ", …" if len(self.others) + len(self.names) > 8 else ""
            raise ValueError(
                f"{option} must name a column of {self.name}, one of {near}{more}; got {name!r}."
            )
        if self.matrix is not None:
            return self.matrix[:, int(name)]
        return self.table.column(name)

    def features(self, names: Sequence[str]) -> Any:
        """The columns of these names, as a table or as an array."""
        lacking = [repr(name) for name in names if name not in self.names]
        if lacking:
            raise ValueError(f"{self.name} must have every feature; missing: {lacking[0]}.")
        if self.matrix is not None:
            return self.matrix[:, [int(name) for name in names]]
        return self.table.select(list(names))

    def columns(self) -> dict[str, list[Any]]:
        """All columns as lists, None where an entry is missing."""
        if self.matrix is None:
            return {name: self.table.column(name).to_pylist() for name in self.names}
        further = [name for name, array in self.others.items() if array.shape == (len(self),)]
        return {name: self.column(name, "").tolist() for name in [*further, *self.names]}


def check_ending(path: str | os.PathLike[str], known: Iterable[str], argument: str) -> str:
    """The ending of a file name, one of those known."""
    ending = Path(path).suffix.lower()
    if ending not in known:
        listed = ", ".join(known)
        raise ValueError(f"{argument} must end in one of {listed}; got {os.fspath(path)!r}.")
    return ending


def read(path: str | os.PathLike[str], names: Sequence[str] = ()) -> Source:
    """Points and their columns from a file of any kind, by its ending.

    `names` are columns that name things: in a CSV file they stay the texts they are, unless they
    are whole numbers as these are written.
    """
    ending, name = check_ending(path, READABLE, "path"), os.fspath(path)
    if ending in TABLES:
        table = read_table(path, names=names)
        if not table.num_rows:
            raise ValueError(f"{name} must have rows; it has none.")
        return Source(name, table, None, {})
    loaded = load_array(path)
    arrays = loaded if isinstance(loaded, dict) else {"X": loaded}
    matrix = arrays.pop("X", None)
    if matrix is None or matrix.ndim != 2 or not matrix.size:
        raise ValueError(f"{name} must hold a two-dimensional array X of features.")
    return Source(name, None, matrix, arrays)


def load_array(path: str | os.PathLike[str]) -> Any:
    """The array of an NPY file, or those of an NPZ file by name; objects are never unpickled."""
    with Path(path).open("rb") as file:
        try:
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return loaded
            return {name: loaded[name] for name in loaded.files}
        except Exception as error:  # whatever a damaged archive makes its readers raise
            raise ValueError(_damaged(os.fspath(path), "numpy", error)) from None


def read_table(
    path: str | os.PathLike[str], *, text: bool = False, names: Sequence[str] = ()
) -> Any:
    """A pyarrow table; with `text`, every cell of a CSV or TSV file is the text it is.

    `names`: as in `read`.
    """
    ending, name = check_ending(path, TABLES, "path"), os.fspath(path)
    try:
        from pyarrow import feather, parquet
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f"{ending} files need pyarrow: pip install 'dataworth[cli]'"
        ) from None
    if ending in SEPARATORS:
        table = _read_csv(Path(path), SEPARATORS[ending], text, names)
    else:
        with Path(path).open("rb") as file:
            try:
                read = parquet.read_table if ending == ".parquet" else feather.read_table
                table = read(file)
            except Exception as error:
                raise ValueError(_damaged(name, ending[1:], error)) from None
    repeated = [c for c in table.column_names if table.column_names.count(c) > 1]
    if repeated:
        raise ValueError(f"{name} must have columns of different names; {repeated[0]!r} is twice.")
    return table


def _read_csv(path: Path, separator: str, text: bool, named: Sequence[str]) -> Any:
    """The whole file in one block, so that a column's type is that of all of its cells."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    raw, name = path.read_bytes(), os.fspath(path)
    try:
        raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{name} must be in UTF-8; line {line} is not. Convert it first."
        ) from None
    if b"\0" in raw:
        raise ValueError(f"{name} must be text in UTF-8; it holds zero bytes.")
    header = _header(raw)
    if not header.strip():
        raise ValueError(f"{name} must have a line of column names; it is empty.")
    separator = _separator(header, separator)

    def parsed(decimal: str) -> Any:
        convert = arrow_csv.ConvertOptions(
            strings_can_be_null=True,
            decimal_point=decimal,
            column_types=dict.fromkeys(named, pa.string()),
        )
        if text:
            names = next(csv.reader(io.StringIO(header, newline=""), delimiter=separator))
            types = dict.fromkeys(names, pa.string())
            convert = arrow_csv.ConvertOptions(column_types=types, null_values=[])
        return arrow_csv.read_csv(
            io.BytesIO(raw),
            read_options=arrow_csv.ReadOptions(
                block_size=min(max(len(raw), 1) + 1, 2**30), use_threads=False
            ),
            parse_options=arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            convert_options=convert,
        )

    def texts(table: Any) -> int:
        return sum(pa.types.is_string(kind) for kind in table.schema.types)

    try:
        table = parsed(".")
        if separator == ";" and not text:  # where commas are decimals, more columns are numbers
            table = min(table, parsed(","), key=texts)
    except (pa.ArrowException, csv.Error) as error:
        raise ValueError(_damaged(name, "CSV", error)) from None
    for column in set(named) & set(table.column_names):
        table = _with_whole_numbers(table, column)
    return table


def _with_whole_numbers(table: Any, name: str) -> Any:
    """The table with a column of texts as integers, if these are written just so."""
    import pyarrow as pa
    from pyarrow import compute

    texts = table.column(name)
    try:
        numbers = texts.cast(pa.int64())
    except pa.ArrowException:
        return table
    if compute.all(compute.equal(numbers.cast(pa.string()), texts)).as_py() is False:
        return table
    return table.set_column(table.column_names.index(name), name, numbers)


def _header(raw: bytes) -> str:
    """The line of names, which is several lines of the file where names have line breaks."""
    lines = raw.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n").split(b"\n")
    size = 1
    while size < len(lines) and b"\n".join(lines[:size]).count(b'"') % 2:
        size += 1
    return b"\n".join(lines[:size]).decode()


def _separator(header: str, usual: str) -> str:
    return ";" if usual == "," and ";" in header and "," not in header else usual


def _damaged(name: str, kind: str, error: Exception) -> str:
    return f"{name} cannot be read as {kind}: {' '.join(str(error).split())[:300]}"


def write_table(
    path: str | os.PathLike[str], table: Any, *, like: str | os.PathLike[str] | None = None
) -> None:
    """Write a pyarrow table by the ending of the name, whole or not at all.

    A CSV or TSV file gets the separator and the line ends of the file it is to be like, if that is
    of the same kind.
    """
    ending = check_ending(path, TABLES, "path")
    separator, newline = SEPARATORS.get(ending, ""), "\n"
    if separator and like is not None and Path(like).suffix.lower() == ending:
        header = _header(Path(like).read_bytes())
        separator = _separator(header, separator)
        newline = "\r\n" if header.endswith("\r") else "\n"
    with files.atomic(path) as file:
        if separator:
            columns = {name: table.column(name).to_pylist() for name in table.column_names}
            write_csv(file, columns, separator, newline)
            return
        from pyarrow import feather, parquet

        (parquet.write_table if ending == ".parquet" else feather.write_feather)(table, file)


def with_column(table: Any, name: str, items: Sequence[Any]) -> Any:
    """The table with other entries in one of its columns, which keeps its type."""
    import pyarrow as pa

    at = table.column_names.index(name)
    field = table.schema.field(at)
    return table.set_column(at, field, pa.array(items, type=field.type))


def write_csv(
    file: BinaryIO, columns: dict[str, Sequence[Any]], separator: str = ",", newline: str = "\n"
) -> None:
    """Columns as CSV in UTF-8, a number by the shortest text that is read as the same number."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    try:
        writer = csv.writer(text, delimiter=separator, lineterminator=newline)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        text.flush()
    finally:
        text.detach()  # the file is not ours to close


def value_columns(values: DataValues, ids: bool, groups: Any = None) -> dict[str, NDArray[Any]]:
    """What a file of values has: index or id, value, lower, upper, label and maybe group."""
    columns = {
        "id" if ids else "index": values.index,
        "value": values.values,
        "lower": values.lower,
        "upper": values.upper,
        "label": values.labels,
    }
    return columns if groups is None else {**columns, "group": groups}


def write_values(
    path: str | os.PathLike[str], values: DataValues, *, ids: bool = False, groups: Any = None
) -> None:
    """Write values by the ending of the name, whole or not at all.

    Parquet, Arrow and Feather files keep the parameters in the metadata of the schema, NPZ files as
    `DataValues.save` does, without the groups; CSV and TSV files keep none.
    """
    ending = check_ending(path, WRITABLE, "path")
    if ending == ".npz":
        values.save(path)
        return
    columns = value_columns(values, ids, groups)
    if ending in SEPARATORS:
        with files.atomic(path) as file:
            write_csv(file, {k: v.tolist() for k, v in columns.items()}, SEPARATORS[ending])
        return
    import pyarrow as pa

    facts = {
        "format": FORMAT,
        "params": dict(values.params),
        "n_validation": values.n_validation,
        "weight_error": values.weight_error,
        "version": values.version,
    }
    plain = {k: v.tolist() if v.dtype.kind == "U" else v for k, v in columns.items()}
    write_table(path, pa.table(plain, metadata={"dataworth": json.dumps(facts)}))


def read_values(path: str | os.PathLike[str]) -> tuple[DataValues, NDArray[Any] | None]:
    """Values and groups, if there are any, from a file that `write_values` wrote.

    What a CSV or TSV file does not keep is empty: no parameters and no version.
    """
    ending = check_ending(path, WRITABLE, "path")
    if ending == ".npz":
        return DataValues.load(path), None
    table = read_table(path)
    wrong = f"{os.fspath(path)} must be a file of values written by dataworth; "
    lacking = {"value", "lower", "upper", "label"} - set(table.column_names)
    if lacking:
        raise ValueError(wrong + f"it has no column {min(lacking)!r}.")
    facts: dict[str, Any] = {"params": {}, "n_validation": 0, "weight_error": 0.0, "version": ""}
    kept = (table.schema.metadata or {}).get(b"dataworth")
    try:
        if kept is not None:
            facts |= json.loads(kept)
            facts.pop("format")
        arrays = {
            name: np.asarray(frames.entries(table.column(name), name), dtype=np.float64)
            for name in ("value", "lower", "upper")
        }
        labels = np.asarray(frames.entries(table.column("label"), "label"))
        key = next((k for k in ("id", "index") if k in table.column_names), None)
        index = np.arange(table.num_rows)
        if key is not None:
            index = np.asarray(frames.entries(table.column(key), key))
        values = DataValues(
            values=arrays["value"],
            lower=arrays["lower"],
            upper=arrays["upper"],
            index=index,
            labels=labels,
            **facts,
        )
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(wrong + f"it does not fit: {error}") from None
    groups = None
    if "group" in table.column_names:
        groups = np.asarray(frames.entries(table.column("group"), "group"))
    return values, groups
