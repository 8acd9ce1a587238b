"""Is this mushroom edible? A handful of rules by C5.0, and the tree they come from."""

from pathlib import Path

import baytree as bt

mushroom = bt.datasets.load("mushroom")
rules = bt.C50Classifier(rules=True).fit(mushroom, "class")
print(rules)
tree = bt.C50Classifier().fit(mushroom, "class")
Path("mushroom_rules.svg").write_text(tree.to_svg(), encoding="utf-8")
