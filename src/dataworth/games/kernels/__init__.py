r"""Compiled kernels: ranked neighbours and weights in, values out.

The identity
------------
Fix one validation point. Rank the training points by distance, nearest first, and write K for the
number of neighbours and U(S) for the utility of a training set S, which depends only on the
min(K, |S|) nearest members of S. Write E_{n,l}[...] for the mean over all l-subsets S of the n
nearest points without i. Then the Shapley value of the point at rank i among N points is

    phi_i = sum_{l<K} room_l * E_{N,l}[U(S + i) - U(S)]                          (room is left)
          + sum_{m > max(i, K)} displace_m * E_{m-1,K-1}[U(S + i) - U(S + m)]    (i displaces m)

with room_l = 1/N and displace_m = K / (m (m - 1)).

The first sum counts the sets with fewer than K members, to which i is simply added. In a larger
set, i matters only if the K-th nearest member m lies behind i. Then i pushes m out, and m and the
K-1 members before it decide the utility of the set. Let every other point arrive before i with
probability t, with t uniform on [0, 1]. The probability that m is present together with exactly K-1
of the m-2 others before it is (m-2 choose K-1) B(K+1, m-K) = K / (m (m-1)). No binomial coefficient
is left, so nothing can overflow. Another density of t gives another semivalue. It changes only the
two coefficient sequences, and the kernels take these as arguments.

Every kernel computes the expectations of this identity for one kind of game, in one pass over the
ranks. A kernel knows nothing of distances, label objects, chunks or threads.

Null players
------------
A point of weight 0 that has only points of weight 0 behind it changes no utility: it is a null
player. Null players can be removed without changing the value of any other point, so callers pass
the ranks up to the last weight that is not 0 and leave the other values at 0.
"""
