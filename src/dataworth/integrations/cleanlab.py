"""Values in the issue table of cleanlab's Datalab."""

from typing import Any, ClassVar

import numpy as np
import pandas as pd

from dataworth import DataValues
from dataworth.arrays import Floats
from dataworth.errors import InputError, InputTypeError
from dataworth.inputs import checks

try:
    from cleanlab import Datalab
    from cleanlab.datalab.internal.issue_manager import IssueManager
    from cleanlab.datalab.internal.issue_manager_factory import register
except ImportError as error:
    raise ImportError("this bridge needs Datalab: pip install 'cleanlab[datalab]'.") from error


class DataValueIssueManager(IssueManager):
    """The issue type `data_value`; use it through `add_values`."""

    issue_name: ClassVar[str] = "data_value"
    description: ClassVar[str] = (
        "The examples that are worth least to a nearest-neighbour model: their value is the lowest."
        "\n\n    A score of 0.5 is a value of 0, and the value farthest from 0 has score 0 or 1;\n"
        "    so the overall quality below is near 0.5 and says little."
    )
    verbosity_levels: ClassVar[dict[int, list[str]]] = {0: [], 1: [], 2: ["n_validation"], 3: []}

    def find_issues(self, *, values: DataValues, n_worst: int, **_: Any) -> None:
        """Fill the table of issues."""
        score = scores(values.values)
        flagged = np.zeros(len(values), bool)
        flagged[values.order[:n_worst]] = True
        self.issues = pd.DataFrame(
            {f"is_{self.issue_name}_issue": flagged, self.issue_score_key: score}
        )
        self.summary = self.make_summary(score=float(score.mean()))
        self.info = self.collect_info(values)

    def collect_info(self, values: DataValues) -> dict[str, Any]:
        """Return the values themselves, and how they were computed."""
        return {
            "values": values.values.copy(),
            "n_validation": values.n_validation,
            "params": dict(values.params),
            "version": values.version,
        }


for _task in ("classification", "regression", "multilabel"):
    register(DataValueIssueManager, task=_task)


def scores(values: Floats) -> Floats:
    """Turn values into scores from 0, bad, to 1: 0.5 (1 + value / largest absolute value).

    The order stays, and a value of 0 has the score 0.5, as in cleanlab's own `data_valuation`.

    Parameters
    ----------
    values : array of float64
        The values.

    Returns
    -------
    array of float64
        The scores.

    Examples
    --------
    >>> import numpy as np
    >>> from dataworth.integrations.cleanlab import scores
    >>> scores(np.array([-0.02, 0.0, 0.01]))
    array([0.  , 0.5 , 0.75])
    """
    largest = np.abs(values).max(initial=0.0)
    if largest == 0.0:
        return np.full(values.shape, 0.5)
    score: Floats = 0.5 * (1.0 + values / largest)
    return score


def add_values(lab: Datalab, values: DataValues, *, n_worst: int) -> None:
    """Put values into the issue table of a Datalab, as the issue type `data_value`.

    `lab.issues` gets the columns `is_data_value_issue` and `data_value_score`. `lab.report()` and
    `lab.get_issues("data_value")` show them, and `lab.get_info("data_value")` has the values
    themselves. Values that were added before are replaced. Datalab's overall health score includes
    the new scores, as it does those of every issue type. Import this module before you load a lab
    that was saved: only then does Datalab know the issue type.

    Parameters
    ----------
    lab : Datalab
        The lab of the training points that were valued, in the same order.
    values : DataValues
        What `KNNShapley.value` returned.
    n_worst : int
        How many of the least valuable points are marked as issues. There is no natural threshold:
        choose as many as you are ready to look at.

    Examples
    --------
    >>> from cleanlab import Datalab
    >>> from dataworth import KNNShapley
    >>> from dataworth.integrations.cleanlab import add_values
    >>> X, y = [[0.0], [0.1], [0.2], [1.0], [1.1], [0.15]], ["a", "a", "a", "b", "b", "b"]
    >>> lab = Datalab({"X": X, "y": y}, label_name="y", verbosity=0)
    >>> add_values(lab, KNNShapley(n_neighbors=2).fit(X, y).value(), n_worst=1)
    >>> lab.get_issues("data_value")["is_data_value_issue"].tolist()
    [False, False, False, False, False, True]
    """
    if not isinstance(lab, Datalab):
        raise InputTypeError("lab", "be a Datalab", f"got {type(lab).__name__}")
    if not isinstance(values, DataValues):
        raise InputTypeError(
            "values",
            "be a DataValues, as KNNShapley.value returns it",
            f"got {type(values).__name__}",
        )
    most = len(values)
    if len(lab.data) != most:
        raise InputError(
            "values", f"be of the {len(lab.data)} points of lab", f"they are of {most}"
        )
    number = checks.integer(n_worst, "n_worst", least=0, most=most)
    name = DataValueIssueManager.issue_name
    found = lab.data_issues
    before = found.issues, found.issue_summary, dict(found.info)
    _forget(lab, name)
    lab.find_issues(issue_types={name: {"values": values, "n_worst": number}})
    # Datalab prints the error of an issue manager and goes on, so look whether it worked.
    if name not in set(found.issue_summary["issue_type"]):
        found.issues, found.issue_summary, found.info = before
        raise RuntimeError("Datalab could not take the values; what it printed says why.")


def _forget(lab: Datalab, name: str) -> None:
    """Drop what was added before; Datalab would warn of it."""
    found = lab.data_issues
    found.issues = found.issues.drop(columns=[f"is_{name}_issue", f"{name}_score"], errors="ignore")
    found.info.pop(name, None)
    kept = found.issue_summary["issue_type"] != name
    found.issue_summary = found.issue_summary[kept].reset_index(drop=True)
