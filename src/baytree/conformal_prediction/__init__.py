"""Prediction sets: how unlike the rows that were seen a row would be with each answer, and which answers are left."""
