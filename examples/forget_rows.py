"""To forget exactly: after `forget`, the model is the one that never saw these rows, to the last bit."""

import matplotlib.pyplot as plt

import baytree as bt

titanic = bt.datasets.load("titanic")
gone, kept = titanic[:500], titanic[500:]
model = bt.NaiveBayesClassifier().fit(titanic, "survived")
before = model.predict_proba(kept)[:, 1]
model.forget(gone, "survived")
after = model.predict_proba(kept)[:, 1]
never = bt.NaiveBayesClassifier().fit(kept, "survived").predict_proba(kept)[:, 1]
print("as if never seen, bit for bit:", bool((after == never).all()))

figure, ax = plt.subplots(figsize=(4, 4))
ax.scatter(before, after)
ax.axline((0, 0), slope=1, color="grey")
ax.set(xlabel="P(survived) before", ylabel="after 500 rows are forgotten", xlim=(0, 1), ylim=(0, 1))
figure.savefig("forget_rows.svg", bbox_inches="tight")
