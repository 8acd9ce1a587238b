"""HTTP server of model files: rows in, predictions out.

Requests are untrusted. Bodies are counted while they are read (`limits`, `request_body`, `connections`), errors never repeat
values of the request, and no request can name a file. `json_body`, `arrow_messages` and `cell_values` convert bytes to
the raw
columns of a model, `responses` and `inference_protocol` convert predictions to plain values; all are plain functions.
`routes` lists the endpoints, `app` is the ASGI application, `models` loads and reloads files, `monitoring` counts and logs,
`batching` joins concurrent requests, and `server` runs the process with its socket and signals.
"""
