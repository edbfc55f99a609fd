"""Sizes that follow from what a recipe writes, forms in which PyTorch prints one row or a batch of one, and messages that name the
place where the size stands."""

import pytest
from program import assert_fails, run, succeeds
from tensors import attention, close, normal, numpy

torch = pytest.importorskip("torch")

MATRICES = ("W_q", "W_k", "W_v")
IDENTITIES = [{"tensor": name, "init": "identity"} for name in MATRICES]
LINEAR = [{"tensor": name, "init": "linear"} for name in MATRICES]


def results(path, *options):
    return succeeds("run", "--recipe", path, "--json", *options).json_lines


def refused(path, *parts):
    """A part that ends a line ends the message."""
    done = run("run", "--recipe", path)
    assert_fails(done, 65, *(part.rstrip("\n") for part in parts))
    assert all(done.message.endswith(part) for part in parts if part.endswith("\n")), done.message


def drawn(tensor, *shape, **more):
    return {"tensor": tensor, "init": "normal", **({"shape": list(shape)} if shape else {}), **more}


def stated(tensor, values, **more):
    return {"tensor": tensor, "values": numpy.asarray(values).tolist(), **more}


def of_torch(queries_from, keys_from, d=3):
    """nn.Linear for queries, keys and values, and their attention."""
    with torch.no_grad():
        wide, narrow = queries_from.shape[-1], keys_from.shape[-1]
        q, k, v = (torch.nn.Linear(width, d, bias=False) for width in (wide, narrow, narrow))
        return torch.softmax(q(queries_from) @ k(keys_from).transpose(-2, -1) / d**0.5, -1) @ v(keys_from)


# ---- sizes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("said", [{"dims": {"embed_dim": 6, "key_dim": 4, "d_k": 3, "d_v": 3}}, {}], ids=["dims", "shapes"])
def test_keys_of_a_batch_are_as_wide_as_W_k_reads(write, said):
    torch.manual_seed(7)
    want = of_torch(torch.randn(2, 3, 6), torch.randn(2, 5, 4))
    widths = {"W_q": 6, "W_k": 4, "W_v": 4}
    matrices = LINEAR if said else [{**draw, "shape": [3, widths[draw["tensor"]]]} for draw in LINEAR]
    draws = [{"seed": 7}, drawn("embeddings"), drawn("key_embeddings"), *matrices]
    path = write(draws, input={"positions": 3, "key_positions": 5, "batch": 2}, **said)
    close([entry["context"] for entry in results(path, "--show", "context")], want, 1e-6)


def test_heads_that_queries_state_are_those_of_drawn_keys_of_a_batch(write):
    draws = [stated("queries", normal(1, 2, 3, 4, 5)), {"seed": 1}, drawn("keys"), drawn("values", 2, 3, 4, 6)]
    torch.manual_seed(1)
    keys = torch.randn(2, 3, 4, 5)
    path = write(draws, input={"positions": 4, "batch": 2})
    close([entry["keys"] for entry in results(path, "--show", "keys")], keys, 1e-6)


@pytest.mark.parametrize("dims", [{"dims": {"heads": 2}}, {}], ids=["heads", "no dims"])
def test_heads_drawn_one_by_one_say_how_many_and_how_wide(write, dims):
    """nn.ModuleList([Head(6, 4) for _ in range(2)]), values of 5."""
    widths = {"W_q": 4, "W_k": 4, "W_v": 5}
    draws = [{"seed": 3}, drawn("embeddings", 3, 6)]
    draws += [{"tensor": name, "init": "linear", "head": head, "shape": [widths[name], 6]} for head in (0, 1) for name in MATRICES]
    torch.manual_seed(3)
    with torch.no_grad():
        x = torch.randn(3, 6)
        heads = [[torch.nn.Linear(6, widths[name], bias=False)(x).numpy() for name in MATRICES] for _ in (0, 1)]
    Q, K, V = (numpy.stack([head[i] for head in heads])[None].astype("float64") for i in range(3))
    (done,) = results(write(draws, input={"positions": 3}, **dims), "--show", "head_context")
    close(done["head_context"], attention(Q, K, V)[1][0], 1e-5)


def test_heads_without_shapes_say_how_many_there_are(write):
    draws = [{"seed": 3}, drawn("embeddings", 3, 6)]
    draws += [{"tensor": name, "init": "linear", "head": head} for head in (0, 1) for name in MATRICES]
    (done,) = results(write(draws, input={"positions": 3}), "--show", "queries")
    assert numpy.shape(done["queries"]) == (2, 3, 3)
    refused(write(draws[:-3], input={"positions": 3}, dims={"heads": 2}), "W_q of head 1 is not drawn")


def test_a_shape_with_letters_says_its_numbers(write):
    draws = [{"seed": 3}, drawn("embeddings", "T", 6), {"tensor": "W_q", "init": "linear", "shape": [5, "D"]}, *LINEAR[1:]]
    (done,) = results(write(draws, input={"positions": 3}), "--show", "embeddings,queries")
    assert numpy.shape(done["embeddings"]) == (3, 6) and numpy.shape(done["queries"]) == (1, 3, 5)


# ---- one row, a batch of one -------------------------------------------------------------------------------------------


def test_the_numbers_of_one_query_need_no_row_around_them(write):
    sides = {"input": {"positions": 1, "key_positions": 2}}
    others = [stated("keys", [[1, 2], [3, 4]]), stated("values", [[1, 2, 3], [4, 5, 6]])]
    (flat,) = results(write([stated("queries", [0.1, 0.2]), *others], **sides), "--show", "queries,weights,context")
    (rows,) = results(write([stated("queries", [[0.1, 0.2]]), *others], **sides), "--show", "queries,weights,context")
    assert flat["queries"] == [[[0.1, 0.2]]]
    assert {**flat, "config": None} == {**rows, "config": None}
    (one,) = results(write([{"seed": 1}, drawn("queries", 2), *others], **sides), "--show", "queries")
    (same,) = results(write([{"seed": 1}, drawn("queries", 1, 2), *others], **sides), "--show", "queries")
    assert one["queries"] == same["queries"]


def test_the_numbers_of_one_word_need_no_row_around_them(write):
    draws = [stated("embeddings", [1, 2]), stated("key_embeddings", [[1, 2], [3, 4]]), *IDENTITIES]
    (done,) = results(write(draws, input={"positions": 1, "key_positions": 2}), "--show", "embeddings,context")
    assert done["embeddings"] == [[1, 2]] and numpy.shape(done["context"]) == (1, 2)
    refused(write([stated("embeddings", [1, 2]), *IDENTITIES], input={"positions": 2}), "embeddings: got the shape (2,)", "(2, 2)")


@pytest.mark.parametrize("batch", [{}, {"batch": 1}])
@pytest.mark.parametrize("x", [stated("embeddings", [[[0.1, 0.2], [3, 4]]]), drawn("embeddings", 1, 2, 2)], ids=["stated", "drawn"])
def test_a_batch_of_one_is_its_entry(write, x, batch):
    draws = [{"seed": 5}, x, *IDENTITIES]
    (done,) = results(write(draws, input={"positions": 2, **batch}), "--show", "embeddings,weights,context")
    entry = {**x, "values": x["values"][0]} if "values" in x else {**x, "shape": [2, 2]}
    (same,) = results(write([{"seed": 5}, entry, *IDENTITIES], input={"positions": 2}), "--show", "embeddings,weights,context")
    assert [done[name] for name in ("embeddings", "weights", "context")] == [same[name] for name in ("embeddings", "weights", "context")]


def test_heads_in_a_batch_of_one_are_heads(write):
    Q, K, V = normal(1, 1, 2, 3, 4), normal(2, 1, 2, 3, 4), normal(3, 1, 2, 3, 4)
    draws = [stated(name, numbers) for name, numbers in (("queries", Q), ("keys", K), ("values", V))]
    (done,) = results(write(draws, input={"positions": 3}, dtype="float64"), "--show", "head_context")
    close(done["head_context"], attention(Q, K, V)[1][0], 1e-12)


def test_learned_positions_may_have_a_batch_of_one(write):
    added = [[1, 2], [3, 4], [5, 6]]
    draws = [stated("embeddings", [[0, 0], [0, 0]]), stated("position_embedding", [added]), *IDENTITIES]
    (done,) = results(write(draws, input={"positions": 2}), "--show", "embeddings")
    assert done["embeddings"] == added[:2]


def test_of_a_larger_batch_the_message_says_how_it_is_written(write):
    x = [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]
    path = write([stated("embeddings", x), *IDENTITIES], input={"positions": 2})
    refused(path, 'got the shape (2, 2, 2); allowed: with these dimensions (2, 2); "batch": 2 of input says that these are 2 entries\n')
    path = write([{"seed": 1}, drawn("embeddings", 3, 2, 4), *IDENTITIES], input={"positions": 2})
    refused(path, '(2, 4); "batch": 3 of input says that these are 3 entries, or "take": [0] of the draw keeps the first\n')


# ---- messages ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("table", "place"), [(drawn("embedding", 3, 2), "draws[1].shape"), (stated("embedding", [[1, 2]] * 3), "draws[1].values")])
def test_too_few_rows_name_the_draw_that_has_them(write, table, place):
    draws = [{"seed": 1}, table, *IDENTITIES]
    refused(write(draws, input={"sentence": "a b c d"}), f"vocab_size of {place}: got 3; allowed: 4 or more, the distinct words of the input\n")
    refused(write(draws, input={"ids": [1, 2, 3]}), f"id at position 2: got 3; allowed: 0 to 2 (vocab_size of {place} is 3)\n")
    refused(write([{"seed": 1}, drawn("embedding"), *IDENTITIES], input={"sentence": "a b"}, dims={"vocab_size": 1}), "error: dims.vocab_size: got 1")


def test_a_size_that_a_draw_says_is_named_by_it(write):
    keys, values = normal(2, 3, 2, 4).tolist(), normal(3, 3, 2, 4).tolist()
    draws = [stated("queries", normal(1, 4, 2, 4)), stated("keys", keys), stated("values", values)]
    refused(write(draws, input={"positions": 2}), "kv_heads of draws[1].values: got 3; allowed: a divisor of the number of heads, 4\n")
    rope = {"attention": {"positions": {"kind": "rope"}}}
    draws = [{"seed": 1}, drawn("embeddings", 2, 4), {"tensor": "W_q", "init": "linear", "shape": [3, 4]}, *LINEAR[1:]]
    refused(write(draws, input={"positions": 2}, **rope), "d_k of draws[2].shape: got 3; allowed: an even number")


def test_a_shape_that_does_not_fit_another_names_that_one(write):
    draws = [{"seed": 1}, drawn("embeddings", 2, 4), {"tensor": "W_q", "init": "linear", "shape": [3, 5]}, *LINEAR[1:]]
    refused(write(draws, input={"positions": 2}),
            "draws[2]: W_q: got the shape (3, 5); allowed: with these dimensions (3, 4) or (1, 3, 4); embed_dim is 4 in draws[1].shape\n")
    draws = [stated("embeddings", [[1, 2], [3, 4]]), stated("W_q", [[1, 2]]), stated("W_k", [[1, 2], [3, 4], [5, 6]]), stated("W_v", [[1, 2]])]
    refused(write(draws, input={"positions": 2}, dims={"heads": 1, "kv_heads": 1}), "(1, 2) or (1, 1, 2); d_k is 1 in draws[1].values\n")


def test_an_option_that_changes_a_draw_is_named_by_the_draw():
    assert_fails(run("run", "a b", "--set", "draws[1].shape=1,16"), 65, "vocab_size of draws[1].shape: got 1; allowed: 2 or more")
