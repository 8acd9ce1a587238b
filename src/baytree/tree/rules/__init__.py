"""Rule sets derived from decision trees."""
