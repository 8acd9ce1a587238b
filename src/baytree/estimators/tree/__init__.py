"""Decision tree estimators."""
