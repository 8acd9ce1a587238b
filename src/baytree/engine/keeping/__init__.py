"""What is made once of the rows of a part, and kept where they are."""
