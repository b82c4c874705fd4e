from string import Formatter, Template


def fill_template(template: str, values: dict) -> dict:
    """Fill a template in both of Python's styles.

    Args:
        template (str): Text with $names or {names}.
        values (dict): What stands for them.
    """
    fields = [name for _, name, _, _ in Formatter().parse(template) if name]
    return {
        "fields": fields,
        "dollar": Template(template).safe_substitute(values),
        "braces": template.format_map({**dict.fromkeys(fields, "?"), **values}),
    }
