"""Schema of a table: columns, target, and the notes on how the table was read."""

from __future__ import annotations

from baytree.data.schema.column import Column, Kind, Text, level_map, sorted_levels
from baytree.data.schema.notes import Note, left_out_reason
from baytree.data.schema.schema import Schema, Target

__all__ = ["Column", "Kind", "Note", "Schema", "Target", "Text", "left_out_reason", "level_map", "sorted_levels"]
