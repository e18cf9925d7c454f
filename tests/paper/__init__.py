"""Tests of the experiments in `paper/`, which need its extra: `make test-paper`."""
