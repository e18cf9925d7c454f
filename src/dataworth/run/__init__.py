"""Running: values of blocks of validation points, computed by workers and added up in order.

`job` is the work of one worker, `adding_up` hands out the blocks and adds up what comes back, and
`checkpoints` keeps the state on disk.
"""
