"""Twenty questions with any classifier: which column to ask for next, and what is believed after each answer.

Reads a model, its schema and the profile of the rows that it has learnt from, and nothing else.
"""
