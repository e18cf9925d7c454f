"""Neighbours: the only room that knows distances.

How it works
------------
A run asks for one *row* per validation point (`rows`). A row holds the distances to all training
points (`Everyone`), or some of the training points, nearest first, with the promise that all others
are farther (`Known`). What comes after, weights and games, is the same for both.

Where the training points are is the business of `Points` (`points`). There are four places: arrays
in memory (`InMemory`, with an index beside them `Indexed`), distances that the user computed
(`Precomputed`), blocks of a file (`blocks.BlockPoints`) and shards of a Dask cluster
(`dask.DaskPoints`). Each of them says how it is sliced, digested and searched. A search (`search`)
takes validation points and gives their rows.

Distances are computed for a few validation points at a time against all training points, so that no
n_val × n_train matrix ever exists. Every row comes out the same to the last bit, however many rows
are computed together. A matrix product would not promise that, nor that two copies of a training
point are at the same distance. So the Euclidean, cosine and Hamming distances have compiled kernels
that go pair by pair, and every other metric goes to scikit-learn row by row (`distances`).

Equal distances are ranked by the position of the training point (`ranking`).

An approximate search, by faiss or by any neighbours transformer, only proposes candidates; their
distances are computed as ever, and the result says what share of the true neighbours was found
(`approximate`). `registry` lists the searches that `KNNShapley(neighbors=...)` knows by name.
"""
