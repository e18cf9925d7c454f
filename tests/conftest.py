"""Fixtures that test modules share."""

from tests.browser import browser, show

__all__ = ["browser", "show"]
