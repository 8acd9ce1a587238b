"""Where rows are, and how one round over them is made: parts of rows, threads, one pool."""
