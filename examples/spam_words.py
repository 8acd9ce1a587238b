"""Why is this message spam? What each of its words adds."""

import matplotlib.pyplot as plt

import baytree as bt

spam = bt.datasets.load("sms-spam")
model = bt.NaiveBayesClassifier().fit(spam, "type")
reason = model.explain({"text": ["Free prize! Call now to claim your cash, or text me when you are home"]})[0]
print(reason)

effects = [(each["value"], each["effect"][1] - each["effect"][0]) for each in reason.to_dict()["evidence"]]
words, weights = zip(*sorted(effects, key=lambda pair: pair[1]), strict=True)
figure, ax = plt.subplots(figsize=(6, 4))
ax.barh(words, weights)
ax.set_xlabel("log-odds of spam")
figure.savefig("spam_words.svg", bbox_inches="tight")
