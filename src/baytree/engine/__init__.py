"""Where rows are, and how one round over them is made: parts of rows, threads, one pool.

What a few rounds tell of all rows: quantiles, weights that count as rows, values far from the others.

What is made once of the rows of a part, and kept where they are.
"""
