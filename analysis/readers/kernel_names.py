"""A kernel's full demangled name, shortened to what a table can show."""

import re
from functools import lru_cache

LONGEST = 64
_UNNAMED = re.compile(r"(?:<unnamed>|\(anonymous namespace\)|_GLOBAL__N__\w+)::")
_CLOSED_BY = {"(": ")", "<": ">", "[": "]", "{": "}"}


@lru_cache(maxsize=4096)
def short_name(full: str) -> str:
    """The name without return type, parameters and unnamed scopes.

    Template arguments stay where the whole is at most LONGEST characters, else "<...>" stands for
    them; what is still longer loses its beginning. A name whose brackets do not pair is only cut.
    """
    text = _UNNAMED.sub("", " ".join(full.split()))
    spans = _top_level_spans(text)
    if spans is None:
        return _cut(text)
    for start, _ in reversed(spans):
        if text[start] == "(" and start > 0 and not text[:start].endswith("operator"):
            text = text[:start]
            spans = [span for span in spans if span[1] <= start]
            break
    name = _after_return_type(text, spans)
    if len(name) > LONGEST:
        name = _without_arguments(name)
    return _cut(name) or full


def _top_level_spans(text: str) -> list[tuple[int, int]] | None:
    """(start, end) of each outermost bracket, or None where they do not pair.

    "<" and ">" inside round brackets are comparisons, and the ">" of "->" is no bracket.
    """
    spans: list[tuple[int, int]] = []
    waiting: list[str] = []
    start = 0
    for place, one in enumerate(text):
        inside_round = ")" in waiting
        if one in _CLOSED_BY and not (one == "<" and inside_round):
            if not waiting:
                start = place
            waiting.append(_CLOSED_BY[one])
        elif one in _CLOSED_BY.values():
            if one == ">" and (inside_round or text[place - 1 : place] == "-"):
                continue
            if not waiting or waiting.pop() != one:
                return None
            if not waiting:
                spans.append((start, place + 1))
    return None if waiting else spans


def _after_return_type(text: str, spans: list[tuple[int, int]]) -> str:
    covered = {place for start, end in spans for place in range(start, end)}
    spaces = [place for place, one in enumerate(text) if one == " " and place not in covered]
    if not spaces or "operator" in text:
        return text.removeprefix("void ").strip()
    trailing = text.rstrip()
    last = max((place for place in spaces if place < len(trailing)), default=-1)
    return trailing[last + 1 :]


def _without_arguments(name: str) -> str:
    spans = _top_level_spans(name) or []
    for start, end in reversed(spans):
        if name[start] == "<":
            name = f"{name[:start]}<...>{name[end:]}"
    return name


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST else f"...{name[3 - LONGEST :]}"
