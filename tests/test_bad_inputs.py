"""Bad input of every kind to every public function: one line each, which names the argument.

The rows are in `tests/bad_inputs`. Other tests say what a message is; this one holds all of them to
the same form. `tests/cli/test_bad_inputs.py` does so for the command line.
"""

import re
from pathlib import Path

import pytest

from dataworth.errors import InputError
from tests.bad_inputs import Row, data, files, parameters, results

ROWS = [*parameters.ROWS, *data.ROWS, *results.ROWS, *files.ROWS]


def test_there_are_many() -> None:
    assert len(ROWS) >= 400


@pytest.mark.filterwarnings("ignore::UserWarning")  # a bad input may be warned about first
@pytest.mark.parametrize("row", [pytest.param(row, id=row.done) for row in ROWS])
def test_one_line_names_the_argument(
    row: Row, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files.make()
    with pytest.raises((InputError, OSError)) as caught:  # an OSError if there is no such file
        row.call()
    said = str(caught.value)
    assert "\n" not in said
    assert said.endswith((".", "?"))
    assert len(said) < 600
    assert re.search(rf"(?<!\w){re.escape(row.argument)}(?!\w)", said), said
