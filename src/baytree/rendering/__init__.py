"""Linear models and splines in words.

A tree as a person sees it: text, cards, SVG and DOT, all of records.
"""
