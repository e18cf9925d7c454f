"""Text that a spreadsheet could take for a formula, and the apostrophe that keeps it from that.

Files that people open in a spreadsheet hold ids and labels of strangers. A guarded text is shown as
it is, and removing the guards gives it back exactly. The report guards what the browser downloads
in the same way (`guard` in marks.js).
"""

import re

# The places where a spreadsheet could begin to read a formula: the start of a cell, or of a part
# that would be a cell if the spreadsheet split the line at another separator. One apostrophe goes
# to each of them, even before an apostrophe, so that removing one restores the text.
_PLACE = r"""(?:^|(?<=[;,\t\n\r])){}(?=[ \t\r\n'"]*[=+\-@\t\r\n＝＋－＠])"""
_UNGUARDED, _GUARDED = re.compile(_PLACE.format("")), re.compile(_PLACE.format("'"))
NUMBER = re.compile(r"[+-]?([0-9]{1,300}(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")


def guarded(text: str) -> str:
    """Put an apostrophe wherever a formula could begin. A plain number is none.

    Examples
    --------
    >>> from dataworth.files import spreadsheets
    >>> spreadsheets.guarded("=1+1"), spreadsheets.guarded("-1.5"), spreadsheets.guarded("a=b")
    ("'=1+1", '-1.5', 'a=b')
    """
    return text if NUMBER.fullmatch(text) else _UNGUARDED.sub("'", text)


def unguarded(text: str) -> str:
    """Remove the apostrophes that `guarded` put in.

    Examples
    --------
    >>> from dataworth.files import spreadsheets
    >>> spreadsheets.unguarded("'=1+1"), spreadsheets.unguarded("'tis")
    ('=1+1', "'tis")
    """
    return _GUARDED.sub("", text)
