"""Text columns: documents in, a sorted vocabulary and a bag of words per row out."""
