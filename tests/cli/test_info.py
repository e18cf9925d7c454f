"""`dataworth info`."""

import re
from typing import Any


def test_info_shows_parameters(run: Any) -> None:
    run("value train.csv --label y --max-rank sqrt --validation val.csv -o v.arrow")
    ran = run("info v.arrow --top 3")
    assert ran.code == 0
    for fact in (r"dataworth +0\.1\.0", r"max_rank +sqrt", r"n_neighbors +5", r"points +60\b"):
        assert re.search(fact, ran.out), ran.out
    assert ran.out.count("\n") > 20
    run("value train.csv --label y -o v.tsv")
    assert "Parameters are not known" in run("info v.tsv").out
