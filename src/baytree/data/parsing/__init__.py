"""Parse strings of a table: numbers, dates, times, booleans and missing tokens.

`string_format` parses the strings of a column by a `StringFormat`, which is stored in the schema; `numbers` and `dates`
match and convert one string; `vocabulary` lists words. Only distinct strings are parsed. `data.inference` chooses the
format.
"""
