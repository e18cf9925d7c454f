"""What a tied vote is worth in the hard game. A new rule is an entry here."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TieRule:
    """A rule for tied votes.

    Attributes
    ----------
    name : str
        What `ties=` and the command line call it.
    words : str
        What a tied vote counts as, for the documentation.
    worth : float
        The utility of a set whose vote is tied, such as the empty set.
    """

    name: str
    words: str
    worth: float


TIES = {
    rule.name: rule
    for rule in (
        TieRule("right", "a tied vote counts as won, as in the paper", 1.0),
        TieRule("wrong", "a tied vote counts as lost, as in the code of its authors", 0.0),
        TieRule("half", "a tied vote counts as half won", 0.5),
    )
}
