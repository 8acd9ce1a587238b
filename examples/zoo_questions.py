"""Twenty questions: think of a penguin, and answer what is asked."""

import matplotlib.pyplot as plt

import baytree as bt

zoo = bt.datasets.load("zoo").drop(columns="type")
penguin = zoo[zoo["animal"] == "penguin"].iloc[0]
talk = bt.NaiveBayesClassifier(alpha=0.02).fit(zoo, "animal").interview()

beliefs = [talk.belief["penguin"]]
while (question := talk.next()) and len(beliefs) < 12:
    talk.answer(penguin[question.column])
    beliefs.append(talk.belief["penguin"])
    print(f"{question.column}? {penguin[question.column]}: {beliefs[-1]:.3f}")

figure, ax = plt.subplots(figsize=(6, 3))
ax.plot(beliefs, marker="o")
ax.set(xlabel="questions", ylabel="P(penguin)", ylim=(0, 1))
figure.savefig("zoo_questions.svg", bbox_inches="tight")
