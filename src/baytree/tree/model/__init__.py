"""What a grown tree is: flat arrays, the conditions of its branches, and the way of rows through it."""
