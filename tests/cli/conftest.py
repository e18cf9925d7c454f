"""Fixtures that the tests of the command line share."""

from tests.commands import folder, run

__all__ = ["folder", "run"]
