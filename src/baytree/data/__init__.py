"""From raw tables to encoded rows.

`files` reads files into frames, `frames` converts frames of any library to raw columns, `parsing` turns strings into
values, `inference` decides what a column holds, `schema` records the result, `encoding` produces the encoded table with
label and weights. No other package reads data frames or tables on disk.
"""
