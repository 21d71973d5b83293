"""Chat models: configured in a file, lent by a host, or scripted.

config.py         `ModelConfig`: the model as the file names it
clients.py        which chat model answers; the clients of the providers, and their keys
question.py       one question, and its answer as the outputs of a node
attempts.py       repeated tries, and the time between them
model_scripts.py  `ScriptedModel`, the double for tests
recordings.py     `RecordingModel`, `ReplayingModel`: answers stored in a file
totals.py         `ModelUsage`: tokens and price of a run
uploads.py        files uploaded to providers, for questions that name them

`cinatra_sdk.models` has its public names.  Reading a config must not load LangChain.
"""
