"""What naive Bayes believes of a number: one curve for each class."""

import baytree as bt

penguins = bt.datasets.load("penguins")
model = bt.NaiveBayesClassifier().fit(penguins, "species")
print(model.likelihood("flipper_length_mm"))
ax = model.plot("flipper_length_mm")
ax.figure.savefig("flipper_curves.svg")
