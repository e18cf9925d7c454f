"""Encoders: representations in which near means alike."""

from dataworth.encoders.forest import ForestLeaves
from dataworth.encoders.tables import TableEncoder

__all__ = ["ForestLeaves", "TableEncoder"]
