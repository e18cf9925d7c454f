"""A fuzzer: it draws games at random and compares what the package says with enumeration.

`drawing` draws a `Case`, `playing` lets the package and `tests.naive` value it, `checking` says
what is wrong, and `shrinking` makes a case that failed as small as it gets. Small games are
enumerated. Games too large for that must add up, and every way to value them must give the same
bits. `python -m tests.fuzz --seconds 600` runs it, and the suite runs some seconds of it and all
cases in `cases/`.
"""
