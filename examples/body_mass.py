"""Bend, do not break: MARS says how the mass of a penguin grows with its measures."""

import baytree as bt

penguins = bt.datasets.load("penguins")[["flipper_length_mm", "bill_depth_mm", "sex", "body_mass_g"]].dropna()
model = bt.MARSRegressor().fit(penguins, "body_mass_g")
print(model)
drawn = model.plot()
drawn.figure.savefig("body_mass.svg")
