"""Inputs: arrays, data frames, labels and groups are checked here, once, before any work.

`checks` checks arguments, `frames` reads and makes data frames, `targets` holds the targets of the
training points, and `groups` adds up values by group.
"""
