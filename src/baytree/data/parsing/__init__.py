"""How strings are read as a person would: numbers, dates, times, yes and no, words for missing values.

`Evidence` counts what the strings of a column look like, and adds up over parts; `decide` turns it into a `Form`, which
travels in the schema; `forms` reads strings by a form. Only distinct strings are ever looked at.
"""
