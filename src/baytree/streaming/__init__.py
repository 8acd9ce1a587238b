"""Learning from, and answering for, tables on disk: a batch at a time where the model allows it."""
