"""A tree of fourteen days: ID3 asks for the column of largest information gain."""

from pathlib import Path

import baytree as bt

tennis = bt.datasets.load("play-tennis")
tree = bt.ID3Classifier().fit(tennis, "PlayTennis")
print(tree)
Path("tennis_tree.svg").write_text(tree.to_svg(), encoding="utf-8")
