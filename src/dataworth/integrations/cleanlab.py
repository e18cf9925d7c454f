"""Values in the issue table of cleanlab's Datalab."""

from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dataworth import DataValues
from dataworth.inputs import checks

try:
    from cleanlab import Datalab
    from cleanlab.datalab.internal.issue_manager import IssueManager
    from cleanlab.datalab.internal.issue_manager_factory import register
except ImportError as error:
    raise ImportError("this bridge needs Datalab: pip install 'cleanlab[datalab]'.") from error


class DataValueIssueManager(IssueManager):
    """The issue type `data_value`; `add_values` is how to use it."""

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
        flagged[np.argsort(values.values, kind="stable")[:n_worst]] = True
        self.issues = pd.DataFrame(
            {f"is_{self.issue_name}_issue": flagged, self.issue_score_key: score}
        )
        self.summary = self.make_summary(score=float(score.mean()))
        self.info = self.collect_info(values)

    def collect_info(self, values: DataValues) -> dict[str, Any]:
        """The values themselves, and where they come from."""
        return {
            "values": values.values.copy(),
            "n_validation": values.n_validation,
            "params": dict(values.params),
            "version": values.version,
        }


for _task in ("classification", "regression", "multilabel"):
    register(DataValueIssueManager, task=_task)


def scores(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values as scores in [0, 1], low being bad: 0.5 (1 + value / largest absolute value).

    The order stays, and 0.5 stands for 0, as in cleanlab's own `data_valuation`.

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
    score: NDArray[np.float64] = 0.5 * (1.0 + values / largest)
    return score


def add_values(lab: Datalab, values: DataValues, *, n_worst: int) -> None:
    """Put values into the issue table of a Datalab, as the issue type `data_value`.

    `lab.issues` gets the columns `is_data_value_issue` and `data_value_score`, and `lab.report()`,
    `lab.get_issues("data_value")` and `lab.get_info("data_value")` know of them; the last holds the
    values as they are. Values that were added before are replaced. Datalab's overall health score
    takes the new scores in, as it does those of every issue type. With a lab that was saved and
    loaded, import this module first: it is what makes the issue type known.

    Parameters
    ----------
    lab : Datalab
        Holds the training points that were valued, in the same order.
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
        raise TypeError(f"lab must be a Datalab; got {type(lab).__name__}.")
    if not isinstance(values, DataValues):
        raise TypeError(
            "values must be a DataValues, as KNNShapley.value returns it; got "
            f"{type(values).__name__}."
        )
    most = len(values)
    if len(lab.data) != most:
        raise ValueError(
            f"values must be of the {len(lab.data)} points of lab; they are of {most}."
        )
    number = checks.integer(n_worst, "n_worst", least=0, most=most)
    name = DataValueIssueManager.issue_name
    found = lab.data_issues
    before = found.issues, found.issue_summary, dict(found.info)
    _forget(lab, name)
    lab.find_issues(issue_types={name: {"values": values, "n_worst": number}})
    # Datalab prints what an issue manager raises, and goes on.
    if name not in set(found.issue_summary["issue_type"]):
        found.issues, found.issue_summary, found.info = before
        raise RuntimeError("Datalab could not take the values; what it printed says why.")


def _forget(lab: Datalab, name: str) -> None:
    """Drop what was added before, over which Datalab would warn."""
    found = lab.data_issues
    found.issues = found.issues.drop(columns=[f"is_{name}_issue", f"{name}_score"], errors="ignore")
    found.info.pop(name, None)
    kept = found.issue_summary["issue_type"] != name
    found.issue_summary = found.issue_summary[kept].reset_index(drop=True)
