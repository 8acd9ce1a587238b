"""Renderers: they turn summaries, explanations and page records into text, HTML, SVG, DOT and plots, and compute nothing."""
