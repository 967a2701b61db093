"""Small files of knowledge: TOML or JSON, by the end of the name."""

import json
import tomllib
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from sges.errors import KnowledgeError


def knowledge_fields(path: str | PathLike[str]) -> Mapping[str, Any]:
    """Return what the file says, or one line on why it cannot be read."""
    file = Path(path)
    parse = {".toml": tomllib.loads, ".json": json.loads}.get(file.suffix.lower())
    if parse is None:
        raise KnowledgeError(f"{file}: a file of knowledge is named *.toml or *.json")
    try:
        record = parse(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise KnowledgeError(f"{file}: cannot be read ({error.strerror or error})") from None
    except UnicodeDecodeError as error:
        raise KnowledgeError(f"{file}: is not UTF-8 text ({error.reason})") from None
    except (tomllib.TOMLDecodeError, json.JSONDecodeError) as error:
        kind = file.suffix[1:].upper()
        raise KnowledgeError(f"{file}: is no {kind}: {error}") from None
    if not isinstance(record, Mapping):
        raise KnowledgeError(
            f"{file}: holds a {type(record).__name__}, and should hold a mapping with keys such "
            'as "required"'
        )
    return record
