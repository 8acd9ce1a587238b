"""The statistic of linear rules: weight, mean and centred scatter of features, which add up and can be taken apart again."""
