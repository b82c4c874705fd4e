"""`ConfigDict`: how a model treats its data."""


class ConfigDict(dict):
    """Settings of a model, for example `extra="forbid"`."""


_OLD_NAMES = {
    "allow_population_by_field_name": "populate_by_name",
    "orm_mode": "from_attributes",
    "anystr_strip_whitespace": "str_strip_whitespace",
    "schema_extra": "json_schema_extra",
    "validate_all": "validate_default",
}


def merged(bases, namespace, keywords):
    """The settings of a new class: those of its bases, of its body, and of its header."""
    config = ConfigDict()
    for base in reversed(bases):
        config.update(getattr(base, "model_config", {}))
    config.update(namespace.get("model_config") or {})
    old = namespace.get("Config")
    if old is not None:
        config.update(
            (_OLD_NAMES.get(name, name), value)
            for name, value in vars(old).items() if not name.startswith("__"))
        if config.get("allow_mutation") is False:
            config["frozen"] = True
    config.update(keywords)
    extra = config.get("extra")
    if extra is not None:
        config["extra"] = getattr(extra, "value", extra)
    return config


class Extra:
    """The older names of the choices for `extra`."""

    allow = "allow"
    forbid = "forbid"
    ignore = "ignore"
