"""The command line.

`main` runs it and turns errors into one line. `app` lists the commands, each in a file of its own;
`options` holds what they share. These load fast, so that `--help` and shell completion answer at
once: whatever reads, computes or writes (`data`, `results`, `terminal`) is imported inside the
command that uses it.
"""

STANDARD_OUTPUT = "standard output"  # what errors call it
