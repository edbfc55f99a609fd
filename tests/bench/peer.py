#!/usr/bin/env python3
"""One peer in a process of its own, with threads of its own; peers.py starts one for each and tells it what to do.

usage: peer.py onnxruntime|openvino|ncnn|torch|zentorch THREADS

Reads one JSON object per line and answers each with one:

  (at the start)                                    {"name": "ONNX Runtime 1.32.0"}, or {"missing": why}
  {"load": FOLDER, "dtype", "causal", "forms"}      {"forms": {FORM: {"seconds": …, "right": …, "error": …}}}
      q.npy, k.npy, v.npy (H, n, d), float32 numbers that `dtype` holds; result.npy, what they give. Of each form (null: of all)
      the seconds of a call, the share of elements that are `result` rounded to the dtype, and the error: the root
      of the mean square of what is between both, of that of the result. A form that cannot compute it says {"missing": why}
  {"time": FORM, "seconds": S}                      {"seconds": that of the fastest call, "threads": CPU time over time}
      calls it for about S seconds, once at least

A form is one of the ways to ask a peer for the same attention; which is the fastest depends on the sizes.
"""

import json
import os
import sys
import time

THREADS = int(sys.argv[2])
for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # read when libraries are loaded
    os.environ[variable] = str(THREADS)

import numpy  # noqa: E402


class Missing(Exception):
    pass


class OnnxRuntime:
    """(1, n, H·d) for the operators of com.microsoft, (1, H, n, d) for ONNX's own."""

    def __init__(self):
        import onnx
        import onnxruntime

        self.onnx, self.runtime = onnx, onnxruntime
        self.name = f"ONNX Runtime {onnxruntime.__version__}"

    def session(self, node, inputs, domain):
        helper = self.onnx.helper
        infos = [helper.make_tensor_value_info(name, kind, None) for name, kind in inputs.items()]
        graph = helper.make_graph([node], "attention", infos, [helper.make_tensor_value_info("output", 1, None)])
        opsets = [helper.make_opsetid("", 23 if domain == "" else 17), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        settings = self.runtime.SessionOptions()
        settings.intra_op_num_threads = THREADS
        settings.inter_op_num_threads = 1
        return self.runtime.InferenceSession(model.SerializeToString(), settings, providers=["CPUExecutionProvider"])

    def forms(self, tensors, dtype, causal):
        if dtype != "float32":
            raise Missing("its CPU has no other type")
        heads, length, _ = tensors[0].shape
        make = self.onnx.helper.make_node
        names = ["query", "key", "value"]
        floats = dict.fromkeys(names, 1)
        side_by_side = dict(zip(names, (t.transpose(1, 0, 2).reshape(1, length, -1).copy() for t in tensors)))
        apart = dict(zip(names, (t[None] for t in tensors)))

        def multi_head():
            node = make("MultiHeadAttention", names, ["output"], domain="com.microsoft", num_heads=heads, unidirectional=int(causal))
            session = self.session(node, floats, "com.microsoft")
            return lambda: session.run(None, side_by_side)[0].reshape(length, heads, -1).transpose(1, 0, 2)

        def operator():
            session = self.session(make("Attention", names, ["output"], is_causal=int(causal)), floats, "")
            return lambda: session.run(None, apart)[0][0]

        def group_query():
            lengths = {"last": numpy.array([length - 1], "int32"), "total": numpy.array([length], "int32")}
            node = make("GroupQueryAttention", [*names, "", "", "last", "total"], ["output", "present_key", "present_value"],
                        domain="com.microsoft", num_heads=heads, kv_num_heads=heads)
            session = self.session(node, {**floats, "last": 6, "total": 6}, "com.microsoft")
            return lambda: session.run(["output"], {**side_by_side, **lengths})[0].reshape(length, heads, -1).transpose(1, 0, 2)

        forms = {"MultiHeadAttention": multi_head, "Attention": operator}
        return {**forms, "GroupQueryAttention": group_query} if causal else forms


class OpenVino:
    """(1, H, n, d), shapes known beforehand; float32 is asked for, since it takes bfloat16 where the processor has it."""

    def __init__(self):
        import openvino

        self.vino = openvino
        self.name = f"OpenVINO {openvino.__version__.split('-')[0]}"

    def forms(self, tensors, dtype, causal):
        if dtype not in ("float32", "bfloat16"):
            raise Missing("not tried")
        vino, ops = self.vino, self.vino.opset13
        inputs = [tensor[None] for tensor in tensors]
        length, d = tensors[0].shape[1:]

        def compiled(build):
            parameters = [ops.parameter(list(tensor.shape), numpy.float32) for tensor in inputs]
            model = vino.Model([build(*parameters)], parameters)
            request = vino.Core().compile_model(model, "CPU", {
                "INFERENCE_PRECISION_HINT": {"float32": "f32", "bfloat16": "bf16"}[dtype], "INFERENCE_NUM_THREADS": THREADS,
                "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY"}).create_infer_request()
            for i, tensor in enumerate(inputs):
                request.set_input_tensor(i, vino.Tensor(tensor, shared_memory=True))

            def compute():
                request.infer()
                return request.get_output_tensor(0).data[0]

            compute.keep = inputs  # whose memory it reads
            return compute

        def sdpa():
            return compiled(lambda q, k, v: ops.scaled_dot_product_attention(q, k, v, causal=causal))

        def products():
            def build(q, k, v):
                scores = ops.matmul(ops.multiply(q, numpy.float32(d**-0.5)), k, False, True)
                if causal:
                    hidden = numpy.triu(numpy.full((length, length), -numpy.inf, "float32"), 1)
                    scores = ops.add(scores, ops.constant(hidden[None, None]))
                return ops.matmul(ops.softmax(scores, -1), v, False, False)

            return compiled(build)

        return {"ScaledDotProductAttention": sdpa, "MatMul, Softmax, MatMul": products}


class Ncnn:
    """(H, n, d). It has no causal attention: a mask says what is seen."""

    def __init__(self):
        import ncnn

        self.ncnn = ncnn
        self.name = f"ncnn {ncnn.__version__}"

    def forms(self, tensors, dtype, causal):
        if dtype != "float32":
            raise Missing("not tried")
        net = self.ncnn.Net()
        net.opt.num_threads = THREADS
        net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = net.opt.use_bf16_storage = False
        names = ["q", "k", "v"] + ["mask"] * causal
        inputs = "".join(f"Input {name} 0 1 {name}\n" for name in names)
        masked = " 5=1" * causal
        text = f"7767517\n{len(names) + 1} {len(names) + 1}\n{inputs}SDPA sdpa {len(names)} 1 {' '.join(names)} output{masked}\n"
        length = tensors[0].shape[1]
        hidden = [numpy.triu(numpy.full((length, length), -numpy.inf, "float32"), 1)] * causal
        given = [self.ncnn.Mat(tensor) for tensor in [*tensors, *hidden]]

        def sdpa():
            if net.load_param_mem(text) != 0:
                raise Missing("no layer SDPA")

            def compute():
                extractor = net.create_extractor()
                for name, mat in zip(names, given):
                    extractor.input(name, mat)
                return numpy.array(extractor.extract("output")[1], copy=False)

            compute.keep = [*tensors, *hidden]
            return compute

        return {"SDPA": sdpa}


class Torch:
    def __init__(self):
        import torch

        self.torch = torch
        torch.set_num_threads(THREADS)
        self.name = f"PyTorch {torch.__version__.split('+')[0]}"
        if not hasattr(torch.nn.functional, "scaled_dot_product_attention"):
            raise ImportError(f"{self.name} has no scaled_dot_product_attention")

    def attend(self, q, k, v, causal):
        return self.torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

    def forms(self, tensors, dtype, causal):
        given = [self.torch.from_numpy(tensor).to(getattr(self.torch, dtype))[None] for tensor in tensors]

        def one_after_the_other():
            return lambda: self.attend(*given, causal)[0]

        def side_by_side():
            views = [tensor.transpose(1, 2).contiguous().transpose(1, 2) for tensor in given]
            return lambda: self.attend(*views, causal)[0]

        return {"(B, H, n, d)": one_after_the_other, "(B, n, H, d)": side_by_side}


class Zentorch(Torch):
    def __init__(self):
        super().__init__()
        import zentorch

        self.name = f"zentorch {zentorch.__version__.split('+')[0]}"

    def attend(self, q, k, v, causal):
        return self.torch.ops.zentorch.zentorch_sdpa(q, k, v, is_causal=causal)[0]


PEERS = {"onnxruntime": OnnxRuntime, "openvino": OpenVino, "ncnn": Ncnn, "torch": Torch, "zentorch": Zentorch}


def as_floats(output):
    return output.float().numpy() if hasattr(output, "float") else numpy.asarray(output, "float32")


def rounded(numbers, dtype):
    if dtype != "bfloat16":
        return numbers.astype(dtype).astype("float32")
    bits = numbers.astype("float32").view("uint32").astype("uint64")
    return (((bits + 0x7FFF + (bits >> 16 & 1)) >> 16) << 16).astype("uint32").view("float32")


def judged(output, result, dtype):
    between = numpy.sqrt(numpy.mean((output - result) ** 2) / numpy.mean(result**2))
    return {"right": float(numpy.mean(output == rounded(result, dtype))), "error": float(between)}


class Worker:
    def __init__(self, peer):
        self.peer, self.computations = peer, {}

    def load(self, request):
        tensors = [numpy.load(os.path.join(request["load"], f"{name}.npy")) for name in "qkv"]
        result = numpy.load(os.path.join(request["load"], "result.npy")).astype("float64")
        self.computations, told = {}, {}
        try:
            forms = self.peer.forms(tensors, request["dtype"], request["causal"])
        except Missing as missing:
            return {"forms": {}, "missing": str(missing)}
        for form, prepare in forms.items():
            if request["forms"] is not None and form not in request["forms"]:
                continue
            try:
                compute = prepare()
                begin = time.perf_counter()
                output = as_floats(compute())
                seconds = time.perf_counter() - begin
            except Exception as error:  # noqa: BLE001: whatever a peer throws, the others are measured
                told[form] = {"missing": f"{type(error).__name__}: {error}".splitlines()[0][:200]}
                continue
            if seconds < 0.3:  # short: warmed up now
                begin = time.perf_counter()
                compute()
                seconds = time.perf_counter() - begin
            self.computations[form] = compute
            told[form] = {"seconds": seconds, **judged(output, result, request["dtype"])}
        return {"forms": told}

    def time(self, request):
        compute = self.computations[request["time"]]
        fastest, begin, busy = None, time.perf_counter(), time.process_time()
        while fastest is None or time.perf_counter() - begin < request["seconds"]:
            start = time.perf_counter()
            compute()
            seconds = time.perf_counter() - start
            fastest = seconds if fastest is None else min(fastest, seconds)
        return {"seconds": fastest, "threads": (time.process_time() - busy) / (time.perf_counter() - begin)}


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer

    def answer(value):
        print(json.dumps(value), file=answers, flush=True)

    try:
        worker = Worker(PEERS[sys.argv[1]]())
    except Exception as error:  # noqa: BLE001: also what a library for another processor throws
        return answer({"missing": f"{type(error).__name__}: {error}".splitlines()[0][:200]})
    answer({"name": worker.peer.name})
    for line in sys.stdin:
        request = json.loads(line)
        answer(worker.load(request) if "load" in request else worker.time(request))


if __name__ == "__main__":
    main()
