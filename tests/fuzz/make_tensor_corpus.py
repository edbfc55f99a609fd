#!/usr/bin/env python3
"""Writes the seeds of the fuzz targets npy, npz, parameters, raw, safetensors and tensor_json: valid files of every kind, and one file for each rule that a
reader has, which breaks it. Together they reach nearly every line of the readers.

    tests/fuzz/make_tensor_corpus.py tests/fuzz/corpus

The files depend on nothing but this script and zlib; findings of the fuzzer lie beside them under other names.
"""

import io
import json
import struct
import sys
import zipfile
from pathlib import Path

DOUBLES = struct.pack("<2d", 1.5, -2.0)


def npy(descr="'<f8'", shape="(2,)", data=DOUBLES, fortran="False", version=(1, 0), header=None, length=None):
    header = f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n" if header is None else header
    size = struct.pack("<H" if version[0] == 1 else "<I", len(header) if length is None else length)
    return b"\x93NUMPY" + bytes(version) + size + header.encode("latin1") + data


def npy_files():
    yield "one", npy()
    yield "version-2", npy(version=(2, 0))
    yield "version-3", npy(version=(3, 0))
    yield "half", npy("'<f2'", "(3, 1)", struct.pack("<3e", 1, -0.5, 65504))
    yield "single-big-endian", npy("'>f4'", "(2, 2)", struct.pack(">4f", 1, 2, 3, 4))
    yield "fortran", npy("'=f4'", "(3, 2)", struct.pack("<6f", *range(6)), "True")
    yield "bool", npy("'|b1'", "(2, 2)", b"\0\1\1\0")
    yield "int32", npy("'<i4'", "(2,)", struct.pack("<2i", -1, 2**30))
    yield "int64", npy("'<i8'", "(2,)", struct.pack("<2q", -1, 2**62))
    yield "no-type", npy("'<V2'", "(2, 2)", b"\x80\x3f\xc0\xbf\x80\x7f\x01\x00", "True")
    yield "no-type-big-endian", npy("'>V2'", "(1,)", b"\x3f\x80")
    yield "rank-0", npy(shape="()", data=DOUBLES[:8])
    yield "empty", npy(shape="(0, 3)", data=b"")
    yield "infinite", npy(data=struct.pack("<2d", float("inf"), float("nan")))
    yield "python-2", npy(shape="(2L,)")
    yield "quotes", npy(header='{"shape":(2,),"descr":"f8","fortran_order":False}')
    yield "bool-of-2", npy("'|b1'", "(2,)", b"\1\2")
    yield "object", npy("'|O'", data=b"\x80\x04N.")
    yield "structured", npy("[('a', '<f4'), ('b', '<i4', (2,))]", data=bytes(24))
    yield "complex", npy("'<c16'", "(1,)")
    yield "long-header", npy(version=(2, 0), length=2**32 - 1, data=b"", header="")
    yield "header-past-the-end", npy(length=500)
    yield "version-4", npy(version=(4, 0))
    yield "no-npy", b"\x93NUMPX\1\0"
    yield "short", b"\x93NUMPY\1\0"
    yield "short-version-2", b"\x93NUMPY\2\0\0\0"
    yield "trailing", npy(data=DOUBLES + b"\0")
    yield "overflow", npy(shape="(4611686018427387904, 4)")
    yield "overflow-dimensions", npy(shape="(" + "9223372036854775807, " * 9 + ")")
    yield "dimensions", npy(shape="(" + "1, " * 65 + ")")
    for number, header in enumerate([
        "", "{", "{'descr'", "{'descr': '<f8', 'fortran_order': 0}", "{'shape': (3)}", "{'shape': (03,)}", "{'shape': (3 4)}",
        "{'shape': 3}", "{'shape': (-3,)}", "{'descr': '\\x3c'}", "{'descr': [", "{'descr': ['<f8'", "{'more': 1}", "{}",
        "{'shape': (), 'shape': ()}", "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)} 1", "{descr: 1}",
    ]):
        yield f"header-{number}", npy(header=header)


class Stream(io.RawIOBase):
    """Like a pipe: what was written stays as it is, so that zipfile puts sizes behind the data."""

    def __init__(self):
        self.bytes = bytearray()

    def writable(self):
        return True

    def write(self, part):
        self.bytes += part
        return len(part)


def archive(members, method=zipfile.ZIP_STORED, comment=b"", zip64=False, stream=False):
    target = Stream() if stream else io.BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        for name, contents in members:
            information = zipfile.ZipInfo(name)  # 1980-01-01
            information.compress_type = method
            with file.open(information, "w", force_zip64=zip64) as member:
                member.write(contents)
        file.comment = comment
    return bytes(target.bytes) if stream else target.getvalue()


def wide(contents=npy(), method=0, flags=0, size=None):
    """An archive in which every number has 64 bits, as if it were larger than 4 GiB."""
    name = b"a.npy"
    crc = zipfile.crc32(contents)
    common = struct.pack("<HHHHHLLLH", 45, flags, method, 0, 33, crc, 2**32 - 1, 2**32 - 1, len(name))
    size = len(contents) if size is None else size
    extra = struct.pack("<HHQQ", 1, 16, size, len(contents))
    out = b"PK\3\4" + common + struct.pack("<H", len(extra)) + name + extra + contents
    extra = struct.pack("<HHH", 0x7075, 2, 0) + struct.pack("<HHQQQ", 1, 24, size, len(contents), 0)
    entry = b"PK\1\2" + struct.pack("<H", 45) + common + struct.pack("<HHHHLL", len(extra), 0, 0, 0, 0, 2**32 - 1) + name + extra
    end = b"PK\6\6" + struct.pack("<QHHLLQQQQ", 44, 45, 45, 0, 0, 1, 1, len(entry), len(out))
    end += b"PK\6\7" + struct.pack("<LQL", 0, len(out) + len(entry), 1)
    return out + entry + end + b"PK\5\6" + struct.pack("<HHHHLLH", 0, 0, 2**16 - 1, 2**16 - 1, 2**32 - 1, 2**32 - 1, 0)


def patched(file, mark, offset, new, last=False):
    at = (file.rindex(mark) if last else file.index(mark)) + offset
    return file[:at] + new + file[at + len(new):]


def npz_files():
    single = npy("'<f4'", "(2, 2)", struct.pack("<4f", 1, 2, 3, 4))
    zeros = npy("'<f8'", "(40, 40)", bytes(12800))
    both = [("a.npy", npy()), ("b.npy", single)]
    deflated = archive(both, zipfile.ZIP_DEFLATED)
    stored = archive(both)
    yield "stored", stored
    yield "deflated", deflated
    yield "zeros", archive([("z.npy", zeros)], zipfile.ZIP_DEFLATED)
    yield "as-numpy", archive(both, zip64=True)
    yield "as-numpy-deflated", archive(both, zipfile.ZIP_DEFLATED, zip64=True)
    yield "stream", archive(both, zipfile.ZIP_DEFLATED, stream=True)
    yield "stream-zip64", archive(both, zip64=True, stream=True)
    yield "wide", wide()
    yield "comment", archive(both, comment=b"a comment PK\5\6")
    yield "empty", archive([])
    yield "utf-8", archive([("λ.npy", npy())])
    yield "int32", archive([("i.npy", npy("'<i4'", "(1,)", b"1234")), ("a.npy", npy())], zipfile.ZIP_DEFLATED)
    yield "object", archive([("o.npy", npy("'|O'", "(1,)", b"N."))])
    yield "no-type", archive([("h.npy", npy("'<V2'", "(2,)", b"\x80\x3f\xc0\xbf")), ("a.npy", npy())], zipfile.ZIP_DEFLATED)
    yield "no-type-of-this-name", archive([("bfloat16.npy", npy("'|V2'", "(1,)", b"\x80\x3f")), ("a.npy", npy())])
    yield "twice", archive([("a.npy", npy()), ("b.npy", npy())]).replace(b"b.npy", b"a.npy")
    yield "no-npy", archive([("a.txt", b"text")])
    yield "short-member", archive([("a.npy", b"\x93NUM")], zipfile.ZIP_DEFLATED)
    yield "liar", archive([("a.npy", npy(shape="(1000000000,)"))], zipfile.ZIP_DEFLATED)
    for method, file in (("stored", stored), ("deflated", deflated)):
        yield f"crc-{method}", patched(patched(file, b"PK\1\2", 16, b"\0\0\0\0"), b"PK\3\4", 14, b"\0\0\0\0")
    yield "damaged", patched(deflated, b"PK\3\4", 35, b"\x07")
    size = patched(patched(deflated, b"PK\1\2", 24, b"\x55\0\0\0"), b"PK\3\4", 22, b"\x55\0\0\0")
    yield "other-size", size
    longer = archive([("a.npy", npy(shape="(3,)"))], zipfile.ZIP_DEFLATED)
    more = struct.pack("<L", len(npy(shape="(3,)")) + 8)
    yield "deflate-ends-early", patched(patched(longer, b"PK\1\2", 24, more), b"PK\3\4", 22, more)
    shorter = archive([("a.npy", npy(shape="(1,)"))], zipfile.ZIP_DEFLATED)
    less = struct.pack("<L", len(npy(shape="(1,)")) - 8)
    yield "deflate-goes-on", patched(patched(shorter, b"PK\1\2", 24, less), b"PK\3\4", 22, less)
    yield "bomb", wide(deflated, method=8, size=40 * 10**9)
    yield "bomb-within-the-ratio", archive([("a.npy", bytes(1100000))], zipfile.ZIP_DEFLATED)
    yield "stored-size", wide(size=1)
    yield "encrypted", patched(stored, b"PK\1\2", 8, b"\1")
    yield "method-12", archive([("a.npy", npy())], zipfile.ZIP_BZIP2)
    yield "other-name", patched(stored, b"PK\3\4", 30, b"b")
    yield "outside", patched(stored, b"PK\1\2", 42, b"\xff\xff")
    yield "larger", patched(patched(stored, b"PK\1\2", 20, b"\xff\xff\0\0" * 2), b"PK\3\4", 18, b"\xff\xff\0\0" * 2)
    overlap = patched(stored, b"PK\1\2", 42, b"\0\0\0\0", last=True)
    yield "overlap", patched(overlap, b"PK\1\2", 46, b"a", last=True)
    yield "no-local-header", patched(stored, b"PK\1\2", 42, b"\1\0")
    yield "members-more", patched(stored, b"PK\5\6", 8, b"\7\0\7\0")
    yield "members-fewer", patched(stored, b"PK\5\6", 8, b"\1\0\1\0")
    yield "parts", patched(stored, b"PK\5\6", 4, b"\1")
    yield "directory-elsewhere", patched(stored, b"PK\5\6", 16, b"\0\0\0\0")
    yield "cut", stored[:-30]
    yield "short", b"PK\5\6"
    yield "extra", patched(stored, b"PK\1\2", 30, b"\2")
    yield "locator", patched(wide(), b"PK\6\7", 8, b"\xff" * 8)
    yield "end-64-size", patched(wide(), b"PK\6\6", 4, b"\1")
    yield "end-64-parts", patched(wide(), b"PK\6\6", 16, b"\1")
    yield "end-64-contradicts", patched(wide(), b"PK\5\6", 10, b"\7\0")


def safetensors(header, data=b"", length=None):
    text = header if isinstance(header, str) else json.dumps(header, separators=(",", ":"), ensure_ascii=False)
    encoded = text.encode()
    return struct.pack("<Q", len(encoded) if length is None else length) + encoded + data


def tensor(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def safetensors_files():
    yield "one", safetensors({"a": tensor("F64", [2], 0, 16)}, DOUBLES)
    every = {
        "__metadata__": {"format": "pt", "é": ""}, "d": tensor("F64", [1, 2], 0, 16), "l": tensor("I64", [], 16, 24),
        "f": tensor("F32", [2], 24, 32), "h": tensor("F16", [1, 1, 1], 32, 34), "b": tensor("BF16", [1], 34, 36),
        "t": tensor("BOOL", [2], 36, 38), "i": tensor("I32", [1], 38, 42), "": tensor("F32", [0, 9], 42, 42),
    }
    data = DOUBLES + struct.pack("<q2fe", 7, 1.0, 2.0, 0.5) + b"\x80\x3f" + b"\0\1" + b"1234"
    yield "every-type", safetensors(every, data)
    yield "infinite", safetensors({"a": tensor("F32", [1], 0, 4)}, struct.pack("<f", float("-inf")))
    yield "bool-of-2", safetensors({"a": tensor("BOOL", [1], 0, 1)}, b"\2")
    yield "empty", safetensors("{}   ")
    yield "short", b"\2\0\0\0"
    yield "length", safetensors("{}", length=3)
    yield "length-limit", safetensors("{}", length=2**63)
    yield "no-object", safetensors("[]")
    yield "malformed", safetensors('{"a":')
    yield "twice", safetensors('{"a":1,"a":1}')
    yield "metadata", safetensors({"__metadata__": {"a": 1}})
    yield "type", safetensors({"a": tensor("F128", [1], 0, 16)}, DOUBLES)
    yield "bits", safetensors({"a": tensor("F4", [3], 0, 2)}, b"12")
    yield "half-bytes", safetensors({"a": tensor("F4", [4], 0, 2)}, b"12")
    yield "dimensions", safetensors({"a": tensor("F32", [1] * 65, 0, 4)}, b"1234")
    yield "negative", safetensors({"a": tensor("F32", [-1], 0, 4)}, b"1234")
    yield "offsets", safetensors({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0]}}, b"1234")
    yield "size", safetensors({"a": tensor("F32", [2], 0, 4)}, b"1234")
    yield "overflow", safetensors({"a": tensor("F32", [2**62, 4], 0, 4)}, b"1234")
    yield "overlap", safetensors({"a": tensor("F32", [1], 0, 4), "b": tensor("F32", [1], 2, 6)}, b"123456")
    yield "gap", safetensors({"a": tensor("F32", [1], 0, 4), "b": tensor("F32", [1], 5, 9)}, b"123456789")
    yield "trailing", safetensors({"a": tensor("F32", [1], 0, 4)}, b"12345")
    yield "missing", safetensors({"a": {"dtype": "F32", "shape": [1]}}, b"1234")
    yield "unknown-key", safetensors({"a": {**tensor("F32", [1], 0, 4), "more": 1}}, b"1234")
    yield "deep", safetensors('{"a":' + "[" * 40)
    yield "no-utf-8", struct.pack("<Q", 9) + b'{"\xff":{}}'


def layer(shapes, dtype="F32"):
    """Tensors of small numbers by name and shape, without metadata."""
    size = {"F32": 4, "F16": 2, "I64": 8}[dtype]
    header, end = {}, 0
    for name, shape in shapes.items():
        count = 1
        for length in shape:
            count *= length
        header[name] = tensor(dtype, list(shape), end, end + count * size)
        end += count * size
    return safetensors(header, bytes(i * 7 % 61 for i in range(end)))


def parameters_files():
    plain = {"W_q": (2, 3), "W_k": (2, 3), "W_v": (4, 3)}
    fused = {"in_proj_weight": (12, 4), "in_proj_bias": (12,), "out_proj.weight": (4, 4), "out_proj.bias": (4,)}
    separate = {"q_proj_weight": (4, 4), "k_proj_weight": (4, 3), "v_proj_weight": (4, 5), "bias_k": (1, 1, 4), "bias_v": (1, 1, 4)}
    bert = {f"h.attention.self.{name}.weight": (4, 4) for name in ("query", "key", "value")} | {"h.attention.output.dense.weight": (4, 4)}
    gpt2 = {"h.0.attn.c_attn.weight": (4, 12), "h.0.attn.c_attn.bias": (12,), "h.0.attn.c_proj.weight": (4, 4)}
    llama = {"q_proj.weight": (8, 5), "k_proj.weight": (4, 5), "v_proj.weight": (4, 5), "o_proj.weight": (5, 8)}
    stacks = {"W_q": (2, 2, 3), "W_k": (1, 2, 3), "W_v": (1, 2, 3), "W_o": (4, 3), "embedding": (5, 3)}
    yield "plain", layer(plain)
    yield "half", layer(plain, "F16")
    yield "integers", layer(plain, "I64")
    yield "fused", layer(fused)
    yield "separate", layer(separate)
    yield "bert", layer(bert)
    yield "gpt2", layer(gpt2)
    yield "layers", layer(gpt2 | {"h.1.attn.c_attn.weight": (4, 12)})
    yield "llama", layer(llama)
    yield "stacks", layer(stacks)
    yield "square", layer({name: (4, 4) for name in plain})
    yield "rows", layer({**plain, "embeddings": (3, 3)})
    yield "tables", layer({**separate, "key_embedding": (2, 3), "value_embedding": (2, 5)})
    yield "tables-differ", layer({**separate, "key_embedding": (2, 3), "value_embedding": (3, 5)})
    yield "alone", layer({**fused, "bias_k": (4,)})
    yield "no-element", layer({name: (0, 3) for name in plain})
    yield "no-width", layer({name: (2, 0) for name in plain})
    yield "no-dimension", layer({name: () for name in plain})
    yield "empty-stack", layer({name: (0, 2, 3) for name in plain})
    yield "two-kinds", layer(plain | fused)
    yield "missing", layer({"W_q": (2, 3), "W_k": (2, 3), "Wv": (2, 3)})
    yield "wrong-bias", layer({**plain, "b_q": (3,)})
    yield "wrong-output", layer({**llama, "o_proj.weight": (5, 9)})
    yield "other-width", layer({**plain, "W_v": (4, 9)})


def tensor_json(dtype="float32", shape="[2]", data="[1.5,-2.0]", more="", schema="attn-cli/tensor/1"):
    return f'{{"schema":"{schema}",{more}"dtype":"{dtype}","shape":{shape},"data":{data}}}'.encode()


def tensor_json_files():
    yield "one", tensor_json()
    yield "named", tensor_json(more='"name":"weights λ\\n",')
    yield "half", tensor_json("float16", data="[0.099975586,65504.0]")
    yield "bfloat", tensor_json("bfloat16", data="[1.0078125,-0.0]")
    yield "double", tensor_json("float64", data="[0.1,5e-324]")
    yield "nested", tensor_json(shape="[2,1,2]", data="[[[1,2.5]],[[3e2,-0]]]") + b"\n"
    yield "rank-0", tensor_json(shape="[]", data="0.5")
    yield "not-finite", tensor_json(shape="[2,2]", data='[["inf","-inf"],["nan",null]]')
    yield "empty", tensor_json(shape="[0]", data="[]")
    yield "empty-rows", tensor_json(shape="[2,0,3]", data="[[],[]]")
    yield "empty-and-huge", tensor_json(shape="[4611686018427387904,0,4611686018427387904]", data="[]")
    yield "beyond-float32", tensor_json(shape="[4]", data="[1e39,-1e39,1e-310,-1e-310]")
    yield "beyond-float64", tensor_json("float64", "[3]", "[1e400,1e-310,1e-400]")
    yield "below-float64", tensor_json("float64", data="[1e-310,-1e-400]")
    yield "far-below-float64", tensor_json("float64", "[1]", "[1e-99999999999999999999]")
    yield "overflow", tensor_json(shape="[4611686018427387904,4]", data="[]")
    yield "dimensions", tensor_json(shape="[" + "0," * 64 + "0]", data="[]")
    yield "other-shape", tensor_json(shape="[3]")
    yield "other-rank", tensor_json(shape="[2,1]")
    yield "ragged", tensor_json(shape="[2,2]", data="[[1,2],[3]]")
    yield "negative", tensor_json(shape="[-2]")
    yield "fraction", tensor_json(shape="[2.0]")
    yield "no-list", tensor_json(shape="2")
    yield "type", tensor_json("int64", data="[1,2]")
    yield "word", tensor_json(data='[1,"Infinity"]')
    yield "truth", tensor_json(data="[1,true]")
    yield "object", tensor_json(data="[1,{}]")
    yield "schema", tensor_json(schema="attn-cli/tensor/2")
    yield "unknown-key", tensor_json(more='"more":1,')
    yield "twice", tensor_json(more='"dtype":"float32",')
    yield "name", tensor_json(more='"name":1,')
    yield "missing", b'{"schema":"attn-cli/tensor/1","dtype":"float32","shape":[1]}'
    yield "deep", tensor_json(shape="[1]", data="[" * 40 + "]" * 40)
    yield "cut", tensor_json()[:-3]
    yield "more", tensor_json() + b"{"
    yield "no-object", b"[1,2]"


def raw(dtype="float64", shape="[2]", offset="0", data=DOUBLES, size=None, schema="attn-cli/raw/1", more="", name='"a"', arrays=None):
    array = f'{{"name":{name},"dtype":"{dtype}","shape":{shape},"offset":{offset}{more}}}'
    size = len(data) if size is None else size
    return f'{{"schema":"{schema}","bytes":{size},"arrays":[{array if arrays is None else arrays}]}}\n'.encode() + data


def raw_files():
    yield "one", raw()
    yield "rank-0", raw(shape="[]", data=DOUBLES[:8])
    yield "empty", raw(shape="[0,3]", data=b"")
    yield "no-array", raw(arrays="", data=b"")
    yield "anywhere", raw("float16", "[1,2]", "3", data=bytes(3) + struct.pack("<2e", 1, -0.5) + b"\0")
    types = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "bool": 1, "int32": 4, "int64": 8}
    every = [f'{{"name":"{name}","dtype":"{name}","shape":[1],"offset":{64 * place}}}' for place, name in enumerate(types)]
    yield "every-type", raw(arrays=",".join(every), data=bytes(64 * 6 + 8))
    yield "infinite", raw(data=struct.pack("<2d", float("inf"), float("nan")))
    yield "bool-of-2", raw("bool", data=b"\1\2")
    yield "utf-8", raw(name='"\u03b1\\u0041"')
    yield "no-utf-8", raw().replace(b'"a"', b'"\xff"')
    yield "short", raw(size=17)
    yield "long", raw(size=15)
    yield "size", raw(size="16.0")
    yield "beyond", raw(shape="[3]")
    yield "beyond-by-offset", raw(offset="1")
    yield "offset", raw(offset="17")
    yield "negative-offset", raw(offset="-1")
    yield "negative", raw(shape="[-2]")
    yield "overflow", raw(shape="[4611686018427387904,4]")
    yield "empty-and-huge", raw(shape="[4611686018427387904,0,4611686018427387904]")
    yield "dimensions", raw(shape="[" + "1," * 64 + "1]")
    yield "no-list", raw(shape="2")
    yield "type", raw("float8")
    yield "schema", raw(schema="attn-cli/raw/2")
    yield "unknown-key", raw(more=',"more":1')
    yield "key-twice", raw(more=',"offset":0')
    yield "name-twice", raw(arrays=",".join(['{"name":"a","dtype":"bool","shape":[1],"offset":0}'] * 2), data=b"\0")
    yield "name", raw(name="1")
    yield "missing", raw(arrays='{"name":"a"}')
    yield "no-object", b"[]\n"
    yield "no-line", b'{"schema":"attn-cli/raw/1","bytes":0,"arrays":[]}'
    yield "cut", raw()[:40]
    yield "nothing", b""


def main():
    makers = {"npy": npy_files, "npz": npz_files, "parameters": parameters_files, "raw": raw_files, "safetensors": safetensors_files, "tensor_json": tensor_json_files}
    for target, files in makers.items():
        folder = Path(sys.argv[1]) / target
        folder.mkdir(parents=True, exist_ok=True)
        for name, contents in files():
            (folder / name).write_bytes(contents)


if __name__ == "__main__":
    main()
