"""Values in the issue table of cleanlab's Datalab."""

from typing import Any, ClassVar

import numpy as np
import pandas as pd
from cleanlab import Datalab
from cleanlab.datalab.internal.issue_manager import IssueManager
from cleanlab.datalab.internal.issue_manager_factory import REGISTRY
from numpy.typing import NDArray

from dataworth import DataValues, checks


class DataValueIssueManager(IssueManager):
    """The issue type `data_value`; `add_values` is how to use it."""

    issue_name: ClassVar[str] = "data_value"
    description: ClassVar[str] = (
        "The examples that are worth least to a nearest-neighbour model: their value is the lowest."
        "\n\nA score of 0.5 is a value of 0; the value farthest from 0 has score 0 or 1."
    )
    verbosity_levels: ClassVar[dict[int, list[str]]] = {0: [], 1: [], 2: ["n_validation"], 3: []}

    def find_issues(self, *, values: DataValues, n_worst: int, **_: Any) -> None:
        """Fill the table of issues."""
        score = scores(values.values)
        flagged = np.zeros(len(values), bool)
        flagged[values.worst(n_worst)["index"]] = True
        self.issues = pd.DataFrame(
            {f"is_{self.issue_name}_issue": flagged, self.issue_score_key: score}
        )
        self.summary = self.make_summary(score=float(score.mean()))
        self.info = self.collect_info(values)

    def collect_info(self, values: DataValues) -> dict[str, Any]:
        """The values themselves, and where they come from."""
        return {
            "values": values.values,
            "n_validation": values.n_validation,
            "params": dict(values.params),
            "version": values.version,
        }


for _registered in REGISTRY.values():
    _registered[DataValueIssueManager.issue_name] = DataValueIssueManager


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
    values as they are. Values that were added before are replaced.

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
        raise TypeError(f"values must be a DataValues; got {type(values).__name__}.")
    most = len(values)
    if len(lab.data) != most:
        raise ValueError(
            f"values must be of the {len(lab.data)} points of lab; they are of {most}."
        )
    number = checks.integer(n_worst, "n_worst", least=0, most=most)
    # Datalab would keep a row and print a warning where there is one already.
    summary = lab.data_issues.issue_summary
    kept = summary["issue_type"] != DataValueIssueManager.issue_name
    lab.data_issues.issue_summary = summary[kept].reset_index(drop=True)
    arguments = {"values": values, "n_worst": number}
    lab.find_issues(issue_types={DataValueIssueManager.issue_name: arguments})
