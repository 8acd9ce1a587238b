"""A server of model files: rows in, answers out, over HTTP.

What comes over the wire is bytes of strangers: it is counted while it is read, refused in a sentence that repeats none of
it, and never names a file. `wire` makes rows of bytes, `answering` makes bytes of answers; both are plain functions.
`app` joins them to routes, `connections` and `running` to sockets and signals.

What came over the wire: bytes counted while they are read, JSON, CSV and Arrow made into rows of a model.
"""
