"""Name, description and JSON Schema of a tool, read from its syntax tree without running it."""
