"""Files as the present state writes them, kept so that later states can be tried on them.

`python -m tests.upgrades` writes a file of values in every format, decisions about points, and a
checkpoint that stopped halfway, into a folder of tests/fixtures named after the version. Run it
once for each release, and commit the folder; tests/test_upgrades.py reads them all.
"""

from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import dataworth
from dataworth import DataValues, KNNShapley, decisions
from dataworth.files import values as value_files
from dataworth.result import write_values
from dataworth.run.checkpoints import Checkpoint

FIXTURES = Path(__file__).parent / "fixtures"
OWNERS = np.array(["Ann", "Bob", "Cleo"] * 8)


def points() -> tuple[Any, Any]:
    """The training points, without a generator whose numbers might change one day."""
    grid = np.arange(24.0)
    return np.column_stack([grid % 5, grid * 7 % 11]), np.array(["ä", "b,c"] * 12)


def valued(**options: Any) -> DataValues:
    """The values that the files hold."""
    X, y = points()
    return KNNShapley(n_neighbors=3, progress=False).fit(X, y).value(**options)


class Stopped(Exception):
    """Ends a run after its second block."""


def main() -> None:
    """Write the files of this version."""
    folder = FIXTURES / dataworth.__version__
    folder.mkdir(parents=True)
    values = valued()
    for ending in value_files.ENDINGS:
        write_values(folder / f"values{ending}", values, groups=OWNERS)
    y = points()[1].tolist()
    rows = [f'1,remove,,"{y[1]}",,y,,{decisions.describe(y)}']
    lines = [",".join(decisions.COLUMNS), *rows, ""]
    (folder / "decisions.csv").write_text("\n".join(lines), encoding="utf-8")
    save, saved = Checkpoint.save, 0

    def counted(self: Any, *args: Any) -> None:
        nonlocal saved
        save(self, *args)
        saved += 1
        if saved == 2:
            raise Stopped

    with (
        patch.object(Checkpoint, "due", lambda self: True),
        patch.object(Checkpoint, "save", counted),
        suppress(Stopped),
    ):
        valued(checkpoint=folder / "checkpoint")


if __name__ == "__main__":
    main()
