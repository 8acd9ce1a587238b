"""Twenty questions with any classifier: which column to ask for next, and the class probabilities after each answer.

`interview` holds the conversation; `answer_cells` the possible answers to a question; `posterior` and `tree_posterior`
compute class probabilities given some of the columns. Needs only a model, its schema and the profile of its training rows.
"""
