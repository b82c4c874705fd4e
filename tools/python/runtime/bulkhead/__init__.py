"""Runs Python tools that arrive as source text: one call in each fresh copy of the interpreter.

| module | what it holds |
|---|---|
| `source` | parsing, the choice of the function, the module in which source runs |
| `schema` | name, description and JSON Schema, read without running anything |
| `call`, `script` | the two ways to run source |
| `arguments`, `coercion` | from a JSON object to Python arguments |
| `agent`, `record` | `agent_state` |
| `peers` | other tools as functions |
| `results`, `failures` | from a value or an exception to what the host gets |
| `environment` | variables, packages, randomness: what is set anew for each call |
| `waiting` | the event loop for `async def` |
| `refusals` | clear errors where a sandbox has nothing to offer |
| `web` | requests, httpx, urllib and http.client over the host's `http` interface |
| `hashing`, `zones` | parts of the standard library that need something else here |
| `signature` | the parameters of a function, read cheaply |
| `stdlib`, `snapshot` | what is imported and done before the snapshot |
| `heap`, `census` | what makes calls write to few pages of the snapshot |
"""
