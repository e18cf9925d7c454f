r"""Compiled kernels: ranked neighbours and weights in, values out.

The identity
------------
Fix one validation point. Rank the training points by distance, nearest first, and write K for the
number of neighbours, U(S) for the utility of a training set S; U(S) depends only on the
min(K, |S|) nearest members of S. Write E_{n,l}[...] for the mean over all l-subsets S of the n
nearest points, point i left out. Then the Shapley value of the point at rank i among N points is

    phi_i = sum_{l<K} room_l * E_{N,l}[U(S + i) - U(S)]                          (room is left)
          + sum_{m > max(i, K)} displace_m * E_{m-1,K-1}[U(S + i) - U(S + m)]    (i displaces m)

with room_l = 1/N and displace_m = K / (m (m - 1)).

The first sum counts the sets with fewer than K members, to which i is simply added. In a larger
set, i matters only if the K-th nearest member m lies behind i; then i pushes m out, and the value
of the set is decided by m and the K-1 members before it. Let every other point arrive before i
with probability t, with t uniform on [0, 1]: m is present and exactly K-1 of the m-2 others before
m are with probability (m-2 choose K-1) B(K+1, m-K) = K / (m (m-1)). No binomial coefficient is
left, so nothing can overflow. Another density of t gives another semivalue, which changes
the two coefficient sequences and nothing else: the kernels take them as arguments.

Every kernel computes the expectations of this identity for one kind of game, in one pass over the
ranks. A kernel knows nothing of distances, label objects, chunks or threads.

Null players
------------
A point of weight 0 with only points of weight 0 behind it changes no utility. Null players
can be removed without changing the value of any other point, so callers pass the ranks up to the
last non-zero weight and leave the rest at 0.
"""
