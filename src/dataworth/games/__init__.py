"""Games: they turn the ranked neighbours of one validation point into values.

`registry` lists the games, each of which has a module; `semivalues` and `ties` list the rules that
they can be played by. `game` defines what a run needs of a game, `solutions` what a game returns,
and `kernels` does the computing.
"""
