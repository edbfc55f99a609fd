"""`attn-cli run`: a sentence, its arrays, and its page in a notebook."""

from __future__ import annotations

import html
import json
from typing import Any

from .arrays import Folder
from .program import Result, call, words


class Run(Result):
    """What `attn-cli run` computed, by the names of its JSON: `.tokens`, T words; `.weights` (H, T, S), `.context` (T, H·d_v) and what
    else `show` named; of a trained model `.layers`, each with its own. In a notebook it is the page."""

    def page(self) -> str:
        """The page of the same run, as `-o page.html` has it: HTML in one file."""
        sentence, options = self._asked
        return _run(sentence, {**options, "show": None}, "html")

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self.page())}" title="attn-cli" style="width: 100%; height: 48em; border: 0"></iframe>'


def run(sentence: str | None = None, **options: Any) -> Run:
    """Attention on a sentence, with the options of `attn-cli run` by their names, _ for -: run("Life is short", heads=4, causal=True,
    show=["weights", "scores"], set={"key": 1}). An array may stand for a FILE, and a dict of arrays: params={"W_q": …}."""
    document = json.loads(_run(sentence, options, "json"))
    return Run(**_plain(document, document["config"].get("dtype", "float32")), _asked=(sentence, options))


def _run(sentence: str | None, options: dict[str, Any], form: str) -> str:
    with Folder() as folder:
        words_before = [*words(folder.give(options, set())), "--format", form]
        return call("run", *words_before, *(["--", sentence] if sentence is not None else []), renamed=folder.renamed)


def _plain(document: dict[str, Any], dtype: str) -> dict[str, Any]:
    """Lists of numbers become NumPy arrays, layers Results."""
    def plain(name: str, value: Any) -> Any:
        if name == "parameters":
            return _plain(value, dtype)
        if not isinstance(value, list) or name in ("tokens", "key_tokens", "warnings"):
            return value
        if value and isinstance(value[0], dict):
            return [Result(**_plain(each, dtype)) for each in value]
        import numpy as np
        array = np.array(value, object)
        whole = array.size > 0 and isinstance(array.flat[0], int)
        array[array == None] = -np.inf  # a masked score is null; what else is not finite is a word
        return array.astype("int64" if whole else dtype)

    return {name: plain(name, value) for name, value in document.items()}
