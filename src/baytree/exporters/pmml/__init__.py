"""Export of formulas to PMML 4.4: trees as TreeModel, everything else as derived fields."""
