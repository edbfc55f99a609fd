"""Arrays of NumPy, PyTorch and whatever speaks DLPack to and from .safetensors, in a folder in memory."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from typing import Any, Callable, Mapping

Array = Any
"""A NumPy array, a torch.Tensor (of any device), or what has `__array__` or `__dlpack__`; nested lists, too, as NumPy takes them."""
CODES = {"bool": "BOOL", "uint8": "U8", "int32": "I32", "int64": "I64", "float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64"}
STORED = {"BOOL": "?", "U8": "u1", "I32": "<i4", "I64": "<i8", "F16": "<f2", "BF16": "<i2", "F32": "<f4", "F64": "<f8"}


def stored(name: str, value: Array) -> tuple[str, Any]:
    """The code of its type, and its numbers as a contiguous NumPy array, of bfloat16 the bits."""
    import numpy as np
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        kind, value = str(value.dtype).removeprefix("torch."), value.detach().cpu()
        array = (value.view(torch.int16) if kind == "bfloat16" else value).numpy()
    else:
        array = np.from_dlpack(value) if not hasattr(value, "__array__") and hasattr(value, "__dlpack__") else np.asarray(value)
        kind = array.dtype.name
    if kind not in CODES:
        raise TypeError(f"{name}: got an array of {kind}; allowed: {', '.join(CODES)}")
    code = CODES[kind]
    array = array.view("i2") if code == "BF16" else array.astype(STORED[code], copy=False)
    return code, array if array.flags.c_contiguous else np.ascontiguousarray(array)


def maker(model: Array) -> Callable[[str, Any], Array]:
    """What makes an array of the kind of `model`, on its device, out of a code and stored numbers; of NumPy where no kind is known."""
    torch, namespace = sys.modules.get("torch"), getattr(model, "__array_namespace__", None)

    def make(code: str, numbers: Any) -> Array:
        if torch is not None and isinstance(model, torch.Tensor):
            made = torch.from_numpy(numbers)
            return (made.view(torch.bfloat16) if code == "BF16" else made).to(model.device)
        if code == "BF16":
            from ml_dtypes import bfloat16  # which NumPy itself has not
            numbers = numbers.view(bfloat16)
        return namespace().asarray(numbers) if namespace else numbers

    return make


class Folder:
    """A folder for one call, in memory where the system has such files, and gone with it; `renamed` is for what the program says."""

    def __enter__(self) -> Folder:
        roomy = os.access("/dev/shm", os.W_OK) and shutil.disk_usage("/dev/shm").free >= 1 << 30  # in a container it may be 64 MB
        self.path = tempfile.mkdtemp(prefix="attn-cli-", dir="/dev/shm" if roomy else None)
        self.renamed = {f"{self.file('given')}:": "", self.file("mine"): "mine", f"{self.path}/": ""}
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.path, ignore_errors=True)

    def file(self, name: str) -> str:
        return f"{self.path}/{name}.safetensors"

    def save(self, name: str, arrays: Mapping[str, Array]) -> str:
        """The file, written."""
        header, parts, end = {}, [], 0
        for key, value in arrays.items():
            code, numbers = stored(key, value)
            parts.append(numbers)
            begin, end = end, end + numbers.nbytes
            header[key] = {"dtype": code, "shape": numbers.shape, "data_offsets": [begin, end]}
        text = json.dumps(header).encode()
        with open(self.file(name), "wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            for numbers in parts:
                numbers.tofile(file)
        return self.file(name)

    def load(self, name: str, make: Callable[[str, Any], Array]) -> dict[str, Array]:
        import numpy as np
        everything = np.fromfile(self.file(name), "u1")
        begin = 8 + int.from_bytes(everything[:8].tobytes(), "little")
        found = {}
        for key, entry in json.loads(everything[8:begin].tobytes()).items():
            if key != "__metadata__":
                numbers = everything[begin + entry["data_offsets"][0] : begin + entry["data_offsets"][1]]
                found[key] = make(entry["dtype"], numbers.view(STORED[entry["dtype"]]).reshape(entry["shape"]))
        return found

    def give(self, options: dict[str, Any], files: set[str]) -> dict[str, Any]:
        """The options with FILE or FILE:NAME in place of arrays, of lists for an option that is one of `files`, and of dicts of arrays."""
        arrays, saved = {}, {}
        for name, value in options.items():
            if isinstance(value, dict) and name != "set":
                saved[name] = self.save(name, value)
            # A number of NumPy has a shape, too, which is ().
            elif hasattr(value, "__dlpack__") or getattr(value, "shape", None) or name in files and isinstance(value, (list, tuple)):
                arrays[name] = value
                saved[name] = f"{self.file('given')}:{name}"
        if arrays:
            self.save("given", arrays)
        return {**options, **saved}
