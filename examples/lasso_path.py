"""One weight after the other: the lasso's coefficients as its penalty falls."""

import baytree as bt

penguins = bt.datasets.load("penguins").dropna()
model = bt.LogisticRegressionCV(penalty="l1", cv=5).fit(penguins, "sex")
print(model)
drawn = model.plot_path()
drawn.figure.savefig("lasso_path.svg", bbox_inches="tight")
