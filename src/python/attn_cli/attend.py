"""`attn-cli attend` over arrays: attention and its gradients, the verdict on a kernel's result, and what a test cannot see."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any, Callable, Literal, Mapping, Sequence, TypedDict, TypeVar, Union

from .arrays import Array, Folder, maker
from .program import Difference, Result, UsageError, call, words

if TYPE_CHECKING:
    from typing_extensions import Unpack

File = Union[Array, str]  # an array, or FILE[:NAME] as the program takes it
Type = Literal["float16", "bfloat16", "float32", "float64"]
__tracebackhide__ = True
F = TypeVar("F", bound=Callable[..., Any])
PYTORCH = {"attn_mask": "mask", "dropout_p": "dropout", "is_causal": "causal"}


class Options(TypedDict, total=False):
    """PyTorch's names, then the options of `attn-cli attend` as its --help has them, with _ for -. B batch entries, H heads, H_kv of
    keys and values, T queries, P cached keys, S new ones."""
    attn_mask: File  # (T, P+S) up to (B, H, T, P+S), broadcast from the right: bool, True = seen, or numbers that are added
    dropout_p: float  # the share that `kept` leaves out
    is_causal: bool  # a query sees no later key
    enable_gqa: bool  # False refuses fewer heads of keys than of queries; otherwise they are shared
    scale: Union[float, Literal["none"]]  # 1/√d_k without it
    mask: File
    dropout: float
    causal: bool
    causal_align: Literal["offset", "top-left", "bottom-right"]
    window: Union[int, Sequence[int]]  # L, or (L, R)
    lengths: File  # (B)
    segments: File  # (P+S) or (B, P+S)
    cu_seqlens: File  # (N+1); queries, keys and values are (total, H, d)
    cu_seqlens_k: File  # (N+1)
    alibi: bool
    alibi_slopes: File  # (H) or (B, H)
    softcap: float
    sinks: File  # (H)
    past_key: File  # (B, H_kv, P, d_k)
    past_value: File  # (B, H_kv, P, d_v)
    heads: int  # that lie side by side: queries (B, T, H·d_k)
    kv_heads: int
    layout: Literal["bhsd", "bshd"]
    grad: File  # as the context: (B, H, T, d_v)
    grad_lse: File  # (B, H, T)
    grad_ones: bool
    kept: File  # broadcast as the mask: bool, True = kept
    softmax_dtype: Type
    weights_dtype: Type
    out_dtype: Type
    empty_rows: Literal["zero", "nan"]
    allow_nonfinite: bool
    rtol: float  # this and the four below: of assert_close and blind_spots
    atol: float
    strict: bool
    suggest_input: str
    require: int
    threads: int
    isa: Literal["auto", "portable", "avx2", "avx512"]
    max_input_bytes: int
    quiet: bool
    verbose: bool


KINDS: dict[str, Any] = {name: getattr(kind, "__forward_arg__", kind) for name, kind in Options.__annotations__.items()}
FILES = {name for name, kind in KINDS.items() if kind == "File"}


def _shows_options(function: F) -> F:
    """Names every option in the signature, for help() and the completion of notebooks."""
    shown = inspect.signature(function)
    more = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind) for name, kind in KINDS.items()]
    setattr(function, "__signature__", shown.replace(parameters=[*shown.parameters.values()][:-1] + more))
    return function


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None and value is not False}


def _attend(folder: Folder, q: Array, k: Array, v: Array, options: Mapping[str, Any], *more: str) -> str:
    """What the program says of these inputs, with `more` words behind those of the options."""
    given = _given(options)
    for name in PYTORCH.keys() & given.keys():
        if PYTORCH[name] in given:
            raise UsageError(f"{name}: got {PYTORCH[name]}, too; allowed: one, since they are the same")
        given[PYTORCH[name]] = given.pop(name)
    if not given.pop("enable_gqa", options.get("enable_gqa") is None):
        axis = -2 if given.get("layout") == "bshd" or "cu_seqlens" in given else -3
        if q.ndim >= -axis and q.shape[axis] != k.shape[axis] or "kv_heads" in given:
            raise UsageError("enable_gqa: got False; allowed: as many heads of keys as of queries, or True")
    if given.get("dropout") == 0:  # PyTorch's way to say none
        del given["dropout"]
    arrays = {"queries": q, "keys": k, "values": v}
    return call("attend", *words(folder.give({**arrays, **given}, FILES | arrays.keys())), *more, renamed=folder.renamed)


@_shows_options
def attention(q: Array, k: Array, v: Array, *, stages: Union[str, Sequence[str]] = (), **options: Unpack[Options]) -> Result:
    """Attention of queries (B, H, T, d_k), keys (B, H_kv, S, d_k) and values (B, H_kv, S, d_v), or without B, or without B and H.
    The result has `.context` (B, H, T, d_v), and what `stages` names: ["weights", "lse"] for `.weights` (B, H, T, S) and `.lse`
    (B, H, T), or "all". With `grad` (as the context), `grad_lse` or `grad_ones` it has `.dq`, `.dk` and `.dv`, too, each in the shape
    of its input. All are arrays of the kind and the type of `q`, but for what is float32 at least. `Options` has the rest."""
    gradients = ["dq", "dk", "dv"] if {"grad", "grad_lse", "grad_ones"} & _given(options).keys() else []
    chosen = [stages] if isinstance(stages, str) else stages
    shown = ["all"] if "all" in chosen else dict.fromkeys(["context", *gradients, *chosen])
    with Folder() as folder:
        _attend(folder, q, k, v, options, "--show", ",".join(shown), "-o", folder.file("result"))
        return Result(**folder.load("result", maker(q)))


@_shows_options
def assert_close(mine: Union[Array, Mapping[str, Array]], q: Array, k: Array, v: Array, **options: Unpack[Options]) -> None:
    """Passes where `mine` is the context (B, H, T, d_v) of these inputs, within the tolerance of its type or rtol and atol. Otherwise
    the message of the AssertionError says which mistake gives these numbers, or where they differ.

    `mine` may hold several arrays by name, which are judged together: {"context": y, "lse": lse}, or with `grad` those of a backward
    pass: {"dq": dq, "dk": dk, "dv": dv}, each in the shape of its input."""
    shown = ["--show", ",".join(mine)] if isinstance(mine, Mapping) else []
    with Folder() as folder:
        file = folder.save("mine", mine if isinstance(mine, Mapping) else {"context": mine})
        _attend(folder, q, k, v, options, *shown, "--against", file)


@_shows_options
def blind_spots(q: Array, k: Array, v: Array, *, stages: Union[str, None] = None, **options: Unpack[Options]) -> dict[str, Any]:
    """The mistakes that would pass a test on these inputs, as `attn-cli schema blind-spots` describes them: `seen` of `possible`, and
    the others in the list `unseen`, with `what` each is and the `change` that would show it. `stages` is what the test compares.
    With `require`, an AssertionError lists them where fewer than so many are seen: for a fixture."""
    asked: Any = ({**options, "require": None}, *(["--show", stages] if stages else []), "--blind-spots")
    with Folder() as folder:
        found: dict[str, Any] = json.loads(_attend(folder, q, k, v, *asked, "--json"))
        if found["seen"] < (options.get("require") or 0):
            raise Difference(f"{options['require']} are required\n{_attend(folder, q, k, v, *asked).strip()}")
    return found
