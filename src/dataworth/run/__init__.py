"""Running: workers value blocks of validation points, and the results are added up in order.

`job` is the work of one worker, `workers` are those who do it, `adding_up` hands out the blocks and
adds up what comes back, and `checkpoints` saves the state to disk.
"""
