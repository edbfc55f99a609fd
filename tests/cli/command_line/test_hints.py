"""What a newcomer mistypes or asks: the message says what to do."""

from program import SENTENCE, assert_fails, run, succeeds


def test_a_word_that_names_something_else_is_computed_with_a_hint(tmp_path):
    (tmp_path / "l.txt").write_text("a b\n")
    (tmp_path / "l.json").write_text("{}")
    for arguments in (["l.txt"], ["l.json"], ["owen-2025"], ["--show", "tokens", "weights"], ["—heads"]):
        done = run("run", *arguments, cwd=tmp_path)
        assert (done.code, done.message.count("\n"), done.message.count("warning: ")) == (0, 1, 1), done
        assert done.out == succeeds("run", *arguments, "--quiet", cwd=tmp_path).out
    for sentence in ("l.txt is a file", "none.txt", "weights", "."):
        succeeds("run", sentence, cwd=tmp_path)


def test_an_unknown_ending_needs_a_format(tmp_path):
    assert_fails(run("run", SENTENCE, "-o", tmp_path / "x.jsn"), 2, "did you mean '.json'?")
    assert not (tmp_path / "x.jsn").exists()
    succeeds("run", SENTENCE, "--json", "-o", tmp_path / "x.jsn")
    succeeds("run", SENTENCE, "-o", tmp_path / "table")
    assert (tmp_path / "table").read_bytes() == succeeds("run", SENTENCE).out


def test_csv_holds_numbers():
    for names in ("tokens", "vocabulary", "tokens,vocabulary"):
        assert_fails(run("run", SENTENCE, "--format", "csv", "--show", names), 2)
    assert succeeds("run", SENTENCE, "--format", "csv", "--show", "tokens,token_ids").text.count("\n") == 7


def test_a_saved_result_serves_as_a_recipe(tmp_path):
    golden = tmp_path / "golden.json"
    succeeds("run", SENTENCE, "--heads", "2", "--seed", "7", "--show", "weights", "-o", golden)
    assert succeeds("run", "--recipe", golden, "--show", "weights", "--json").out == golden.read_bytes()


def test_quiet_silences_the_verify_note():
    assert succeeds("run", SENTENCE, "--verify", "--quiet").out == run("run", SENTENCE, "--verify").out


def test_verbose_tells_the_shape_of_every_stage():
    done = run("run", SENTENCE, "--heads", "2", "--kv-heads", "1", "--d-k", "3", "--d-v", "5", "--verify", "--verbose")
    for stage in ("tokens (6,)", "embeddings (6, 16)", "queries (2, 6, 3)", "keys (1, 6, 3)", "values (1, 6, 5)", "attention (2, 6, 6)", "output (6, 16)"):
        assert f" {stage} " in done.message, done.message
    assert "()" not in done.message
