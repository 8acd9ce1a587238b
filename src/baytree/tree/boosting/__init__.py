"""Models that are put to the vote: the trees, or the rule sets, of C5.0's trials, and the learner that boosts them."""
