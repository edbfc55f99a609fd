"""plot FILE -o FILE.html: the page of what a file holds."""

import struct

from program import SENTENCE, succeeds


def npy(path, shape, values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}f", *values))


def test_a_saved_result_makes_the_page_that_run_makes(browser, tmp_path):
    shown = "tokens,vocabulary,token_ids,queries,keys,values,scores,scaled_scores,masked_scores,weights,head_context,context,output,entropy"
    succeeds("run", SENTENCE, "--heads", 2, "--causal", "--show", shown, "--json", "-o", tmp_path / "saved.json")
    succeeds("plot", tmp_path / "saved.json", "-o", tmp_path / "plotted.html")
    succeeds("run", SENTENCE, "--heads", 2, "--causal", "-o", tmp_path / "run.html")
    assert (tmp_path / "plotted.html").read_bytes() == (tmp_path / "run.html").read_bytes()


def test_weights_of_another_program_make_a_page(browser, tmp_path):
    npy(tmp_path / "w.npy", (2, 2, 3), [0.5, 0.25, 0.25, 0, 0, 1, 1, 0, 0, 0, 0.5, 0.5])
    (tmp_path / "words").write_text("one\ntwo\n")
    (tmp_path / "keys").write_text("<b>\nfish\nblue\n")
    succeeds("plot", tmp_path / "w.npy", "--tokens", tmp_path / "words", "--key-tokens", tmp_path / "keys", "-o", tmp_path / "w.html")
    browser.open(tmp_path / "w.html")
    assert browser.run("return [result.rows, result.columns, result.H]") == [["one", "two"], ["<b>", "fish", "blue"], 2]
    browser.run("update({head: 1, row: 1, column: 2})")
    assert browser.text("#row .weights li") == "fish0.5000"
    assert "no queries and keys" in browser.text("#step")
    assert browser.complaints() == []


def test_weights_without_words_have_positions(browser, tmp_path):
    npy(tmp_path / "w.npy", (2, 2), [0.5, 0.5, 0, 1])
    succeeds("plot", tmp_path / "w.npy", "-o", tmp_path / "w.html")
    browser.open(tmp_path / "w.html")
    assert [token.text for token in browser.all(".token")] == ["0", "1"]
    assert browser.complaints() == []
