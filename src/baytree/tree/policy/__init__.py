"""Tree policies: criterion, branching, missing-value rule, stopping and pruning of each algorithm, class costs, impurity."""
