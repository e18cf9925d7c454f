"""What a tied vote is worth in the hard game. A new rule is an entry here."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TieRule:
    """What a tie counts as.

    Attributes
    ----------
    name : str
        What `ties=` and the command line call it.
    words : str
        What it means, for the documentation.
    worth : float
        The utility of a set whose vote is tied; the empty set is one of them.
    """

    name: str
    words: str
    worth: float


TIES = {
    rule.name: rule
    for rule in (
        TieRule("right", "a tied vote counts as won, as in the paper", 1.0),
        TieRule("wrong", "as lost, as in its authors' code", 0.0),
        TieRule("half", "as a half", 0.5),
    )
}
