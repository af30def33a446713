"""Text from files and machines, made safe to print on one line."""


def clean(text: str) -> str:
    """The text on one line, with "?" for what a terminal would obey or could not show."""
    return "".join(one if one.isprintable() else "?" for one in " ".join(text.split()))
