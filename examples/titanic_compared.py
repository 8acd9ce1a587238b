"""Which model? All of them on the same folds, and the one of the best with the least to read."""

import baytree as bt

titanic = bt.datasets.load("titanic")
found = bt.compare(titanic, "survived", models=["nb", "c45", "cart", "chaid", "logistic"], cv=5)
print(found)
ax = found.plot()
ax.figure.savefig("titanic_compared.svg", bbox_inches="tight")
