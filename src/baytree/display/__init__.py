"""What a person sees: tables and charts in text, SVG and matplotlib."""
