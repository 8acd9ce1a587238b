"""Events of text columns: documents as bags of words."""
