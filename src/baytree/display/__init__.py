"""Text and HTML display of results: terminal tables, escaping, notebook tables, data frames."""
