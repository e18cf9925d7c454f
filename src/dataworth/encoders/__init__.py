"""Encoders: how points become numbers among which near means alike.

Any scikit-learn transformer or pipeline can be the encoder of `KNNShapley`. Four ship here:

- `TableEncoder` (`tables`) makes features of tables with columns of any kind. How each kind of
  column does so is in `columns`; a new kind is one class and one entry in its list.
- `ForestLeaves` (`forest`) takes the leaves of a random forest, which learns from the labels.
- `OutOfBagForest` (`out_of_bag`) also says how much the forest lets each training point count, and
  lets no tree judge a point that it has seen.
- `LinearScores` (`linear`) takes what a linear model thinks of each class; points that judge each
  other are split into folds for it.

`choice` answers what the rest of the package asks about an encoder: which one "auto" stands for,
whether it learns from labels, which metric belongs to it, whether it weighs points itself, and
whether points that judge each other are split into folds for it.
"""

from dataworth.encoders.forest import ForestLeaves
from dataworth.encoders.linear import LinearScores
from dataworth.encoders.out_of_bag import OutOfBagForest
from dataworth.encoders.tables import TableEncoder

__all__ = ["ForestLeaves", "LinearScores", "OutOfBagForest", "TableEncoder"]
