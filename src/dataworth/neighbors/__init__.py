"""Neighbours: the only room that knows distances.

How it works
------------
A run asks for one *row* per validation point (`rows`). A row either holds the distances to all
training points (`Everyone`), or it lists some of them, nearest first, with the promise that all
others are farther (`Known`). Weights and games treat both kinds alike.

`Points` (`points`) hides where the training points are. There are four places: arrays in memory
(`InMemory`, or `Indexed` if they have an index), distances that the user computed (`Precomputed`),
blocks of a file (`blocks.BlockPoints`) and shards of a Dask cluster (`dask.DaskPoints`). Each knows
how to be sliced, hashed and searched. A search (`search`) takes validation points and returns their
rows.

Distances are computed for a few validation points at a time against all training points, so that no
n_val × n_train matrix ever exists. Every row comes out the same to the last bit, however many rows
are computed together. A matrix product would not promise that, nor would it promise that two copies
of a training point are at the same distance. So the Euclidean, cosine and Hamming distances have
compiled kernels that go pair by pair, and every other metric goes to scikit-learn row by row
(`distances`).

Equal distances are ranked by the position of the training point (`ranking`).

An approximate search, by faiss or by any neighbours transformer, only proposes candidates. Their
distances are computed as usual, and the result says what share of the true neighbours was found
(`approximate`). `registry` lists the searches that `KNNShapley(neighbors=...)` knows by name.
"""
