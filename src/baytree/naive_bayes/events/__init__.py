"""Events of text columns: documents as bags of words.

Events that count as another program counts, for its numbers to the last digit.
"""
