"""A dictionary whose keys are attributes too: data of objects whose class is not here."""


class Record(dict):
    """What a JSON object becomes where a tool expects an object with attributes."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(
                f"there is no {name!r} here; there is: {', '.join(map(str, self)) or 'nothing'}"
            ) from None

    def __setattr__(self, name, value):
        self[name] = value

    def model_dump(self, **_):
        """The plain dictionary, as models give it."""
        return {key: _plain(value) for key, value in self.items()}

    dict = model_dump


def record(value):
    """A value from JSON with records in place of its dictionaries."""
    if isinstance(value, dict):
        return Record({key: record(part) for key, part in value.items()})
    if isinstance(value, list):
        return [record(part) for part in value]
    return value


def _plain(value):
    if isinstance(value, Record):
        return value.model_dump()
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return value
