"""Fixtures that test modules share."""

from importlib.util import find_spec

if find_spec("playwright"):  # the environments of peers do without a browser
    from tests.browser import browser, show

__all__ = ["browser", "show"]
