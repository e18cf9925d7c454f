"""Files of tables: CSV, TSV, Parquet, Arrow and Feather through pyarrow, and numpy's own.

pyarrow comes with the command line (`pip install 'dataworth[cli]'`). Nothing is ever unpickled.
A new format of tables is one entry in `FORMATS`.
"""

import csv
import io
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np

from dataworth.arrays import Array
from dataworth.errors import InputError, extra, near
from dataworth.files import paths
from dataworth.files.atomic import atomic
from dataworth.inputs import exactness


class Format(Protocol):
    """How tables of one format are read and written."""

    def read(self, path: Path, *, text: bool, names: Sequence[str]) -> Any:
        """Read a pyarrow table; `text` and `names` are those of `read_table`."""
        ...

    def write(self, file: BinaryIO, table: Any, *, like: Path | None) -> None:
        """Write a pyarrow table; `like` is a file of the same ending whose style to follow."""
        ...


@dataclass(frozen=True)
class Separated:
    """Lines of text whose cells stand between separators.

    Attributes
    ----------
    separator : str
        The separator that the ending promises. A file with the ending .csv may have semicolons.
    """

    separator: str

    def read(self, path: Path, *, text: bool, names: Sequence[str]) -> Any:
        """Find out the types of the columns from all of their cells."""
        return _read_csv(path, self.separator, text, names)

    def write(self, file: BinaryIO, table: Any, *, like: Path | None) -> None:
        """Use the separator and the line ends of `like`."""
        separator, newline = self.separator, "\n"
        if like is not None:
            header = _header(like.read_bytes())
            separator = _separator(header, separator)
            newline = "\r\n" if header.endswith("\r") else "\n"
        write_csv(file, table.to_pydict(), separator, newline)


@dataclass(frozen=True)
class Typed:
    """A format that keeps the types of columns, and that a module of pyarrow reads and writes.

    Attributes
    ----------
    module : str
        The module of pyarrow.
    reader, writer : str
        The names of its functions: `reader(file)` and `writer(table, file)`.
    """

    module: str
    reader: str
    writer: str

    def read(self, path: Path, *, text: bool, names: Sequence[str]) -> Any:
        """Read the table with the types it has."""
        functions = extra(f"pyarrow.{self.module}", f"a {path.suffix.lower()} file", "cli")
        with paths.to_read(path).open("rb") as file:
            try:
                return getattr(functions, self.reader)(file)
            except Exception as error:  # a damaged file makes its readers raise anything
                raise _damaged(os.fspath(path), path.suffix.lower()[1:], error) from None

    def write(self, file: BinaryIO, table: Any, *, like: Path | None) -> None:
        """Write the table with the types it has."""
        functions = extra(f"pyarrow.{self.module}", "this file", "cli")
        getattr(functions, self.writer)(table, file)


FORMATS: Mapping[str, Format] = {
    ".csv": Separated(","),
    ".tsv": Separated("\t"),
    ".parquet": Typed("parquet", "read_table", "write_table"),
    ".arrow": Typed("feather", "read_table", "write_feather"),
    ".feather": Typed("feather", "read_table", "write_feather"),
}
TABLES = tuple(FORMATS)
SEPARATORS = {
    ending: format.separator for ending, format in FORMATS.items() if isinstance(format, Separated)
}
READABLE = (*TABLES, ".npz", ".npy")


@dataclass(frozen=True)
class Source:
    """Points with named columns, from a table or from arrays.

    Attributes
    ----------
    name : str
        The name of the file, for messages.
    table : pyarrow.Table or None
        The table; None if the file holds arrays.
    matrix : array or None
        The features, if the file holds arrays; their columns are named by their numbers.
    others : dict
        Further arrays by name, such as labels.
    """

    name: str
    table: Any
    matrix: Array | None
    others: dict[str, Array]

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
                raise InputError(
                    option,
                    f"name an array of {len(self)} entries",
                    f"{name!r} of {self.name} has shape {self.others[name].shape}",
                )
            return self.others[name]
        if name not in self.names:
            known = [*self.others, *self.names]
            listed = ", ".join(repr(n) for n in known[:8]) + (", …" if len(known) > 8 else "")
            raise InputError(
                option,
                f"name a column of {self.name}, one of {listed}",
                f"got {name!r}",
                near(name, known),
            )
        if self.matrix is not None:
            return self.matrix[:, int(name)]
        return self.table.column(name)

    def features(self, names: Sequence[str]) -> Any:
        """The columns of these names, as a table or as an array."""
        lacking = [repr(name) for name in names if name not in self.names]
        if lacking:
            raise InputError(self.name, "have every feature", f"missing: {lacking[0]}")
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
    """Return the ending of a file name, in lower case, if it is among those known."""
    ending = paths.named(path, argument).suffix.lower()
    if ending not in known:
        raise InputError(argument, f"end in one of {', '.join(known)}", f"got {os.fspath(path)!r}")
    return ending


def read(path: str | os.PathLike[str], names: Sequence[str] = ()) -> Source:
    """Read points and their columns from a file of any kind that we know by its ending.

    Parameters
    ----------
    path : str or path
        The file.
    names : sequence of str
        Columns that name things, such as labels and ids. The texts in a CSV file stay as they are
        ("007"), unless all of them are whole numbers in the usual spelling.

    Returns
    -------
    Source
        The points.
    """
    ending, name = check_ending(path, READABLE, "path"), os.fspath(path)
    if ending in TABLES:
        table = read_table(path, names=names)
        if not table.num_rows:
            raise InputError(name, "have rows", "it has none")
        return Source(name, table, None, {})
    loaded = load_array(path)
    arrays = loaded if isinstance(loaded, dict) else {"X": loaded}
    matrix = arrays.pop("X", None)
    if matrix is None or matrix.ndim != 2 or not matrix.size:
        raise InputError(name, "hold a two-dimensional array X of features")
    return Source(name, None, matrix, arrays)


def load_array(path: str | os.PathLike[str]) -> Any:
    """Read the array of an NPY file, or those of an NPZ file by name; nothing is unpickled."""
    with paths.to_read(path).open("rb") as file:
        try:
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return loaded
            return {name: loaded[name] for name in loaded.files}
        except Exception as error:  # a damaged archive makes its readers raise anything
            raise _damaged(os.fspath(path), "numpy", error) from None


def read_table(
    path: str | os.PathLike[str], *, text: bool = False, names: Sequence[str] = ()
) -> Any:
    """Read a pyarrow table.

    Parameters
    ----------
    path : str or path
        The file.
    text : bool
        Whether every cell of a CSV or TSV file stays the text that it is.
    names : sequence of str
        As in `read`.

    Returns
    -------
    pyarrow.Table
        The table.
    """
    ending, name = check_ending(path, TABLES, "path"), os.fspath(path)
    table = FORMATS[ending].read(Path(path), text=text, names=names)
    repeated = [c for c in table.column_names if table.column_names.count(c) > 1]
    if repeated:
        raise InputError(name, "have columns of different names", f"{repeated[0]!r} is there twice")
    return table


def _read_csv(path: Path, separator: str, text: bool, named: Sequence[str]) -> Any:
    """Read the whole file in one block, so that all cells of a column decide on its type."""
    arrow_csv = extra("pyarrow.csv", f"a {path.suffix.lower()} file", "cli")
    pa = extra("pyarrow", f"a {path.suffix.lower()} file", "cli")

    raw, name = paths.to_read(path).read_bytes(), os.fspath(path)
    try:
        raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(name, "be in UTF-8", f"line {line} is not", "Convert it first.") from None
    if b"\0" in raw:
        raise InputError(name, "be text in UTF-8", "it holds zero bytes")
    header = _header(raw)
    if not header.strip():
        raise InputError(name, "have a line of column names", "it is empty")
    separator = _separator(header, separator)

    def parsed(decimal: str, texts: Sequence[str]) -> Any:
        convert = arrow_csv.ConvertOptions(
            strings_can_be_null=True,
            decimal_point=decimal,
            column_types=dict.fromkeys(texts, pa.string()),
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

    def n_texts(table: Any) -> int:
        return sum(pa.types.is_string(kind) for kind in table.schema.types)

    try:
        table, decimal = parsed(".", named), "."
        if separator == ";" and not text:  # if commas are decimals, fewer columns are text
            other = parsed(",", named)
            if n_texts(other) < n_texts(table):
                table, decimal = other, ","
        once = [c for c in table.column_names if table.column_names.count(c) == 1]
        rounded = [c for c in once if _may_be_rounded(table.column(c))]
        spelled = parsed(decimal, [*named, *rounded]) if rounded else table
    except (pa.ArrowException, csv.Error) as error:
        _check_widths(raw, separator, name)
        raise _damaged(name, "CSV", error) from None
    for column in rounded:
        table = _with_exact_integers(table, column, spelled.column(column), decimal)
    for column in set(named) & set(table.column_names):
        table = _with_whole_numbers(table, column)
    return table


def _check_widths(raw: bytes, separator: str, name: str) -> None:
    """Refuse a line with more or fewer cells than there are names, and say which line it is."""
    lines = csv.reader(io.StringIO(raw.decode("utf-8-sig"), newline=""), delimiter=separator)
    wanted, before = 0, 0
    try:
        for cells in lines:
            wanted = wanted or len(cells)
            if cells and len(cells) != wanted:
                shown = raw.splitlines()[before : lines.line_num]
                came = b" ".join(shown).removeprefix(b"\xef\xbb\xbf").decode()
                raise InputError(
                    name,
                    f"have {wanted} cells in each line, one for each column",
                    f"line {before + 1} has {len(cells)}: {came!r:.80}",
                )
            before = lines.line_num  # a cell in quotes may go over several lines
    except csv.Error:
        return  # something else is wrong with the file


def _may_be_rounded(column: Any) -> bool:
    """Whether a column of a CSV file was read as floats that may have been large integers."""
    import pyarrow as pa
    from pyarrow import compute

    if not pa.types.is_floating(column.type):
        return False
    return bool(
        compute.any(compute.greater_equal(compute.abs(column), float(exactness.MOST))).as_py()
    )


def _with_exact_integers(table: Any, name: str, texts: Any, decimal: str) -> Any:
    """Replace floats by what the file says, if they are integers that a float rounds.

    Integers of more than 76 digits, which no type of pyarrow holds, stay the texts that they are.
    If there are fractions beside integers, floats are good enough unless two integers become one.
    """
    import pyarrow as pa
    from pyarrow import compute

    whole = compute.match_substring_regex(texts, r"^\s*[+-]?[0-9]+\s*$")
    integers = {int(text) for text in compute.unique(texts.filter(whole)).to_pylist()}
    large = [number for number in integers if abs(number) >= exactness.MOST]
    only = compute.all(whole).as_py()
    if not large or not (only or len(set(map(exactness.near, large))) < len(large)):
        return table
    try:
        exact = _exact_numbers(texts.to_pylist(), integers if only else (), decimal)
    except (pa.ArrowException, InvalidOperation):
        if not only:
            return table
        exact = texts
    return table.set_column(table.column_names.index(name), name, exact)


def _exact_numbers(texts: Sequence[str | None], integers: Collection[int], decimal: str) -> Any:
    import pyarrow as pa

    if integers and min(integers) >= 0 and max(integers) < 2**64:
        return pa.array([None if t is None else int(t) for t in texts], pa.uint64())
    return pa.array([None if t is None else Decimal(t.replace(decimal, ".")) for t in texts])


def _with_whole_numbers(table: Any, name: str) -> Any:
    """Make integers of a column of texts, if every one is spelled as an integer usually is."""
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
    """Return the line of names; it spans several lines of the file if names have line breaks."""
    lines = raw.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n").split(b"\n")
    size = 1
    while size < len(lines) and b"\n".join(lines[:size]).count(b'"') % 2:
        size += 1
    return b"\n".join(lines[:size]).decode()


def _separator(header: str, usual: str) -> str:
    return ";" if usual == "," and ";" in header and "," not in header else usual


def _damaged(name: str, kind: str, error: Exception) -> InputError:
    why = " ".join(str(error).split())[:300].rstrip(".")
    if "pickle" in why:  # what numpy says of anything that it does not know, with bad advice
        why = "it is of another kind, or holds objects, which are never loaded"
    return InputError(name, "be a sound file", f"it cannot be read as {kind}: {why}")


def write_table(
    path: str | os.PathLike[str], table: Any, *, like: str | os.PathLike[str] | None = None
) -> None:
    """Write a pyarrow table in the format that the ending of the name asks for.

    Parameters
    ----------
    path : str or path
        The file. It is written whole or not at all.
    table : pyarrow.Table
        The table.
    like : str, path or None
        A file whose separator and line ends a CSV or TSV file gets, if it has the same ending.
    """
    ending = check_ending(path, TABLES, "path")
    example = None if like is None or Path(like).suffix.lower() != ending else Path(like)
    with atomic(path) as file:
        FORMATS[ending].write(file, table, like=example)


def with_column(table: Any, name: str, items: Sequence[Any]) -> Any:
    """Replace the entries of one column of a table; the column keeps its type."""
    import pyarrow as pa

    at = table.column_names.index(name)
    field = table.schema.field(at)
    return table.set_column(at, field, pa.array(items, type=field.type))


def write_csv(
    file: BinaryIO, columns: Mapping[str, Sequence[Any]], separator: str = ",", newline: str = "\n"
) -> None:
    """Write columns as CSV in UTF-8, each number in the fewest digits that give it back."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    try:
        writer = csv.writer(text, delimiter=separator, lineterminator=newline)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        text.flush()
    finally:
        text.detach()  # the file is not ours to close
