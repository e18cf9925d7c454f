"""Games: from the ranked neighbours of one validation point to values, through a kernel.

`registry` lists the games, one module each; `semivalues` and `ties` list rules that they share.
`game` says what a run needs of a game, `solutions` what a game answers, and `kernels` compute.
"""
