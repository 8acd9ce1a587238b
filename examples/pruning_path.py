"""How large should a tree be? The error of every pruning, on the rows it has seen and on others."""

import baytree as bt

penguins = bt.datasets.load("penguins").dropna().drop(columns="species")
tree = bt.CARTClassifier(cp=0, min_split=2).fit(penguins, "sex")
path = tree.cost_complexity_path(penguins, "sex")
print(path)
ax = path.plot()
ax.figure.savefig("pruning_path.svg")
