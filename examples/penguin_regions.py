"""Three species and the straight lines between them: discriminant analysis over two columns."""

import baytree as bt

columns = ["species", "bill_length_mm", "bill_depth_mm"]
penguins = bt.datasets.load("penguins")[columns]
model = bt.LinearDiscriminantAnalysis().fit(penguins, "species")
print(model)
ax = bt.plot_regions(model, penguins, "bill_length_mm", "bill_depth_mm", resolution=60)
ax.figure.savefig("penguin_regions.svg")
