"""Levels that do not differ share a branch: CHAID merges them by a test, and stops by one."""

from pathlib import Path

import baytree as bt

titanic = bt.datasets.load("titanic")
tree = bt.CHAIDClassifier().fit(titanic, "survived")
print(tree)
Path("titanic_chaid.svg").write_text(tree.to_svg(), encoding="utf-8")
