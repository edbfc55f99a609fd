#include "attn/io/json/tokenizer_file.hpp"

#include "attn/text/pieces/pieces.hpp"
#include "unit/error_of.hpp"

#include <gtest/gtest.h>

namespace {

using attn::io::read_tokenizer;
using attn::text::Piece;
using attn::text::PieceTokenizer;

/// A file of single letters and a few words, in which one member at a time is another than null.
struct File {
    std::string normalizer = "null";
    std::string pre_tokenizer = "null";
    std::string post_processor = "null";
    std::string added = "[]";
    std::string model =
        R"({"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "a": 1, "b": 2, "ab": 3, " ": 4, "a b": 5, "Ġa": 6, "▁a": 7, "1": 8, "-": 9}})";

    [[nodiscard]] std::string text() const
    {
        return R"({"version": "1.0", "truncation": {"max_length": 1}, "padding": null, "added_tokens": )" + added +
               R"(, "normalizer": )" + normalizer + R"(, "pre_tokenizer": )" + pre_tokenizer + R"(, "post_processor": )" +
               post_processor + R"(, "decoder": {"type": "Whatever"}, "model": )" + model + "}";
    }
};

std::string pieces_of(const File& file, std::string_view sentence, std::optional<std::string_view> pair = {})
{
    std::string out;
    for (const Piece& piece : PieceTokenizer(read_tokenizer(file.text())).encode(sentence, pair)) {
        out += out.empty() ? "" : "|";
        out += piece.text;
    }
    return out;
}

std::string normalized(const std::string& normalizer, std::string_view sentence)
{
    return pieces_of({.normalizer = normalizer, .model = R"({"type": "Unigram", "unk_id": 0, "vocab": [["?", 0.0]]})"},
                     sentence); // an unknown piece is the text itself
}

std::string tokenizer_refusal(const std::string& text)
{
    return error_of([&] { (void)PieceTokenizer(read_tokenizer(text)); });
}

TEST(TokenizerFile, ReadsEveryNormalizer)
{
    EXPECT_EQ(normalized("null", "É x"), "É x");
    EXPECT_EQ(
        normalized(
            R"({"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true})",
            "É\t中"),
        "e  中 ");
    EXPECT_EQ(
        normalized(
            R"({"type": "BertNormalizer", "clean_text": false, "handle_chinese_chars": false, "strip_accents": null, "lowercase": false})",
            "É\t中"),
        "É\t中");
    EXPECT_EQ(
        normalized(
            R"({"type": "BertNormalizer", "clean_text": false, "handle_chinese_chars": false, "strip_accents": true, "lowercase": false})",
            "É"),
        "E");
    EXPECT_EQ(
        normalized(
            R"({"type": "BertNormalizer", "clean_text": false, "handle_chinese_chars": false, "strip_accents": false, "lowercase": true})",
            "É"),
        "é");
    EXPECT_EQ(normalized(R"({"type": "NFC"})", "e\u0301ﬁ"), "éﬁ");
    EXPECT_EQ(normalized(R"({"type": "NFD"})", "éﬁ"), "e\u0301ﬁ");
    EXPECT_EQ(normalized(R"({"type": "NFKC"})", "e\u0301ﬁ"), "éfi");
    EXPECT_EQ(normalized(R"({"type": "NFKD"})", "éﬁ"), "e\u0301fi");
    EXPECT_EQ(normalized(R"({"type": "Lowercase"})", "ÀB"), "àb");
    EXPECT_EQ(normalized(R"({"type": "StripAccents"})", "e\u0301é"), "eé");
    EXPECT_EQ(normalized(R"({"type": "Strip", "strip_left": true, "strip_right": false})", " a "), "a ");
    EXPECT_EQ(normalized(R"({"type": "Prepend", "prepend": "▁"})", "a"), "▁a");
    EXPECT_EQ(normalized(R"({"type": "Replace", "pattern": {"String": " "}, "content": "▁"})", "a b"), "a▁b");
    EXPECT_EQ(normalized(R"({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "})", "a   b"), "a b");
    EXPECT_EQ(
        normalized(R"({"type": "Sequence", "normalizers": [{"type": "Lowercase"}, {"type": "Prepend", "prepend": "X"}]})", "A"),
        "Xa");
}

TEST(TokenizerFile, ReadsACompiledMapInBase64)
{
    // 256 units, all of them 0, which lead nowhere: nothing is replaced. "AAQA" is 00 04 00, of the size.
    const std::string nothing = "AAQA" + std::string(1364, 'A') + "AAA=";
    EXPECT_EQ(normalized(R"({"type": "Precompiled", "precompiled_charsmap": ")" + nothing + "\"}", "aé"), "aé");
    const auto message = [](const std::string& map) {
        return tokenizer_refusal(
            File{.normalizer = R"({"type": "Precompiled", "precompiled_charsmap": ")" + map + "\"}"}.text());
    };
    EXPECT_EQ(message("BAAA*AAAAAA="), "normalizer.precompiled_charsmap: got 'BAAA*AAAAAA='; allowed: base64");
    EXPECT_EQ(message("BAAA="), "normalizer.precompiled_charsmap: got 'BAAA='; allowed: base64");
    EXPECT_EQ(message("BA=A"), "normalizer.precompiled_charsmap: got 'BA=A'; allowed: base64");
    EXPECT_EQ(message("CAAAAAAAAAA="),
              "the normalizer's precompiled_charsmap: got 8 bytes; allowed: a size, a double array of so many "
              "bytes, and replacements");
}

TEST(TokenizerFile, ReadsEveryPreTokenizer)
{
    const auto words = [](const std::string& pre_tokenizer, std::string_view sentence) {
        return pieces_of({.pre_tokenizer = pre_tokenizer}, sentence);
    };
    EXPECT_EQ(words("null", "a b"), "a b");
    EXPECT_EQ(words(R"({"type": "BertPreTokenizer"})", "a b-ab"), "a|b|-|ab");
    EXPECT_EQ(words(R"({"type": "WhitespaceSplit"})", "a b-ab"), "a|?");
    EXPECT_EQ(words(R"({"type": "Whitespace"})", "a b-ab"), "a|b|-|ab");
    EXPECT_EQ(words(R"({"type": "Whitespace"})", "a\u200Db"), "?"); // the joiners belong to its words, unlike ²
    EXPECT_EQ(words(R"({"type": "Whitespace"})", "a²b"), "a|?|b");
    EXPECT_EQ(words(R"({"type": "Split", "pattern": {"Regex": "\\w+"}, "behavior": "Isolated", "invert": false})", "a\u200Db"),
              "a|?|b");
    EXPECT_EQ(words(R"({"type": "Punctuation", "behavior": "Removed"})", "a-b"), "a|b");
    EXPECT_EQ(words(R"({"type": "Punctuation"})", "a-b"), "a|-|b");
    EXPECT_EQ(words(R"({"type": "Digits", "individual_digits": true})", "a11b"), "a|1|1|b");
    EXPECT_EQ(words(R"({"type": "Digits", "individual_digits": false})", "a11b"), "a|?|b");
    EXPECT_EQ(words(R"({"type": "CharDelimiterSplit", "delimiter": "-"})", "a-b"), "a|b");
    EXPECT_EQ(
        words(R"({"type": "Split", "pattern": {"String": "b"}, "behavior": "MergedWithPrevious", "invert": false})", "abab"),
        "ab|ab");
    EXPECT_EQ(words(R"({"type": "Split", "pattern": {"Regex": "[ab]+"}, "behavior": "Removed", "invert": true})", "ab1a"),
              "ab|a");
    EXPECT_EQ(words(R"({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true})", "a a"),
              "Ġa|Ġa");
    EXPECT_EQ(words(R"({"type": "ByteLevel", "add_prefix_space": false, "use_regex": false})", "a"), "a");
    EXPECT_EQ(words(R"({"type": "Metaspace", "replacement": "▁", "add_prefix_space": true})", "a a"), "▁a|▁a");
    EXPECT_EQ(words(R"({"type": "Metaspace", "replacement": "▁", "add_prefix_space": false})", "a a"), "a|▁a");
    EXPECT_EQ(words(R"({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never", "split": false})", "a"), "a");
    EXPECT_EQ(words(R"({"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "Punctuation"}]})", "a b-"),
              "a|b|-");
}

TEST(TokenizerFile, ReadsEveryModel)
{
    EXPECT_EQ(
        pieces_of(
            {.pre_tokenizer = R"({"type": "WhitespaceSplit"})",
             .model =
                 R"({"type": "WordPiece", "unk_token": "U", "continuing_subword_prefix": "##", "max_input_chars_per_word": 3,
                                      "vocab": {"U": 0, "a": 1, "##b": 2}})"},
            "ab ac abbb"),
        "a|##b|U|U");
    const std::string merging = R"("vocab": {"a": 0, "b": 1, "ab": 2, "<0xC3>": 3, "<0xA9>": 4, "?": 5, " ": 6, "a ": 7})";
    EXPECT_EQ(pieces_of({.model = R"({"type": "BPE", )" + merging + R"(, "merges": ["a b"]})"}, "abé"), "ab");
    EXPECT_EQ(pieces_of({.model = R"({"type": "BPE", )" + merging +
                                  R"(, "merges": [["a", "b"]], "byte_fallback": true, "unk_token": "?"})"},
                        "abéñ"),
              "ab|<0xC3>|<0xA9>|?");
    EXPECT_EQ(pieces_of({.model = R"({"type": "BPE", )" + merging +
                                  R"(, "merges": [["a", " "]], "fuse_unk": true, "unk_token": "?"})"},
                        "a xyb"),
              "a |?|b");
    EXPECT_EQ(
        pieces_of({.model = R"({"type": "BPE", )" + merging + R"(, "merges": [], "ignore_merges": true, "dropout": null})"},
                  "ab"),
        "ab");
    EXPECT_EQ(
        pieces_of(
            {.model =
                 R"({"type": "BPE", "vocab": {"a": 0, "b</w>": 1, "ab</w>": 2}, "merges": ["a b</w>"], "end_of_word_suffix": "</w>"})"},
            "ab"),
        "ab</w>");
    EXPECT_EQ(
        pieces_of({.model = R"({"type": "Unigram", "unk_id": 0, "vocab": [["?", 0], ["a", -1.5], ["b", -1e0], ["ab", -2.0]]})"},
                  "abc"),
        "ab|c");
    EXPECT_EQ(pieces_of({}, "ab"), "ab");
    EXPECT_EQ(pieces_of({}, "c"), "?");
}

TEST(TokenizerFile, GuessesTheModelOfAFileThatDoesNotSay)
{
    EXPECT_EQ(pieces_of({.model = R"({"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]})"}, "ab"), "ab");
    EXPECT_EQ(pieces_of({.model = R"({"vocab": [["a", 0], ["b", 0]]})"}, "ab"), "a|b");
    EXPECT_EQ(pieces_of({.model = R"({"vocab": {"[UNK]": 0, "a": 1, "##b": 2}, "max_input_chars_per_word": 100})"}, "ab"),
              "a|##b");
}

TEST(TokenizerFile, ReadsEveryPostProcessor)
{
    const auto around = [](const std::string& post_processor, std::optional<std::string_view> pair = {}) {
        return pieces_of({.post_processor = post_processor}, "ab", pair);
    };
    const std::string bert = R"({"type": "BertProcessing", "sep": ["b", 2], "cls": ["a", 1]})";
    EXPECT_EQ(around(bert), "a|ab|b");
    EXPECT_EQ(around(bert, "ab"), "a|ab|b|ab|b");
    const std::string roberta =
        R"({"type": "RobertaProcessing", "sep": ["b", 2], "cls": ["a", 1], "trim_offsets": true, "add_prefix_space": true})";
    EXPECT_EQ(around(roberta, "ab"), "a|ab|b|b|ab|b");
    const std::string templates = R"({"type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "X", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "B", "type_id": 1}}, {"SpecialToken": {"id": "X", "type_id": 3}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "special_tokens": {"X": {"id": "X", "ids": [1, 2], "tokens": ["a", "b"]}}})";
    EXPECT_EQ(around(templates), "a|b|ab");
    EXPECT_EQ(around(templates, "-"), "-|a|b|ab");
    EXPECT_EQ(around(R"({"type": "Sequence", "processors": [{"type": "ByteLevel", "trim_offsets": false}, )" + bert + "]}"),
              "a|ab|b");
    EXPECT_EQ(around("null", "-"), "ab|-");
}

TEST(TokenizerFile, KnowsTheTypesOfTwoSentences)
{
    const auto types = [](const std::string& post_processor) {
        std::string out;
        for (const Piece& piece :
             PieceTokenizer(read_tokenizer(File{.post_processor = post_processor}.text())).encode("ab", "ab")) {
            out += std::to_string(piece.type);
        }
        return out;
    };
    EXPECT_EQ(types("null"), "01");
    EXPECT_EQ(types(R"({"type": "ByteLevel"})"), "01");
    EXPECT_EQ(types(R"({"type": "BertProcessing", "sep": ["b", 2], "cls": ["a", 1]})"), "00011");
    EXPECT_EQ(types(R"({"type": "RobertaProcessing", "sep": ["b", 2], "cls": ["a", 1]})"), "000000");
}

TEST(TokenizerFile, TrimsBoundsAsByteLevelSays)
{
    const auto begin = [](const std::string& post_processor) {
        const File file{.pre_tokenizer = R"({"type": "ByteLevel", "add_prefix_space": false})",
                        .post_processor = post_processor};
        return PieceTokenizer(read_tokenizer(file.text())).encode("b a").back().begin;
    };
    EXPECT_EQ(begin("null"), 1U);
    EXPECT_EQ(begin(R"({"type": "ByteLevel", "trim_offsets": true})"), 2U);
    EXPECT_EQ(begin(R"({"type": "ByteLevel", "trim_offsets": false})"), 1U);
}

TEST(TokenizerFile, ReadsAddedTokens)
{
    const std::string added =
        R"([{"id": 20, "content": "<m>", "single_word": false, "lstrip": true, "rstrip": false, "normalized": false, "special": true},
                                  {"id": 21, "content": "\u0041"}])";
    const File file{.normalizer = R"({"type": "Lowercase"})", .added = added};
    const std::vector<Piece> pieces = PieceTokenizer(read_tokenizer(file.text())).encode("b <m>-A");
    ASSERT_EQ(pieces.size(), 4U);
    EXPECT_EQ(pieces[1], (Piece{.id = 20, .text = "<m>", .begin = 1, .end = 5, .special = true, .found = true}));
    // Normalized unless told otherwise, when not special.
    EXPECT_EQ(pieces[3], (Piece{.id = 21, .text = "A", .begin = 6, .end = 7, .found = true}));
}

TEST(TokenizerFile, RefusesUnknownTypesByName)
{
    const std::string odd = R"({"type": "Nmt"})";
    EXPECT_EQ(tokenizer_refusal(File{.normalizer = odd}.text()),
              "normalizer.type: got 'Nmt'; allowed: NFC, NFD, NFKC, NFKD, "
              "BertNormalizer, Lowercase, Strip, Prepend, Replace, StripAccents, "
              "Precompiled, Sequence");
    EXPECT_EQ(
        tokenizer_refusal(File{.normalizer = R"({"type": "Sequence", "normalizers": [{"type": "NFC"}, )" + odd + "]}"}.text())
            .substr(0, 40),
        "normalizer.normalizers[1].type: got 'Nmt");
    EXPECT_EQ(tokenizer_refusal(File{.pre_tokenizer = odd}.text()).substr(0, 29), "pre_tokenizer.type: got 'Nmt'");
    EXPECT_EQ(tokenizer_refusal(File{.post_processor = odd}.text()).substr(0, 30), "post_processor.type: got 'Nmt'");
    EXPECT_EQ(tokenizer_refusal(File{.model = R"({"type": "Nmt", "vocab": {}})"}.text()),
              "model.type: got 'Nmt'; allowed: BPE, WordPiece, WordLevel, Unigram");
}

TEST(TokenizerFile, RefusesModelsThatAreDamaged)
{
    const auto message = [](const std::string& model) { return tokenizer_refusal(File{.model = model}.text()); };
    EXPECT_EQ(message(R"({"type": "WordLevel", "unk_token": "a", "vocab": {"a": -1}})"),
              "model.vocab['a']: got -1; allowed: an id from 0 to 2147483646");
    EXPECT_EQ(message(R"({"type": "WordLevel", "unk_token": "a", "vocab": {"a": 9223372036854775808}})"),
              "model.vocab['a']: got 9223372036854775808; allowed: an id from 0 to 2147483646");
    EXPECT_EQ(message(R"({"type": "WordLevel", "unk_token": "a", "vocab": {"a": 1.0}})"),
              "model.vocab['a']: got 1.0; allowed: an id from 0 to 2147483646");
    EXPECT_EQ(message(R"({"type": "WordLevel", "unk_token": "a", "vocab": {"a": "1"}})"),
              "model.vocab['a']: got \"1\"; allowed: an id from 0 to 2147483646");
    EXPECT_EQ(message("{\"type\": \"WordLevel\", \"unk_token\": \"a\", \"vocab\": {\"a\": {\r\n}}}"),
              "model.vocab['a']: got another value; allowed: an id from 0 to 2147483646");
    EXPECT_EQ(message(R"({"type": "WordLevel", "unk_token": "a", "vocab": {"a": 0, "b": 0}})"),
              "the tokenizer's id 0: got 'a' and 'b'; allowed: one piece");
    EXPECT_EQ(message(R"({"type": "WordLevel", "unk_token": "a", "vocab": {"a": 0, "a": 1}})"),
              "model.vocab: got 'a' twice; allowed: each piece once");
    EXPECT_EQ(message(R"({"type": "WordLevel", "unk_token": "x", "vocab": {"a": 0}})"),
              "model.unk_token: got 'x'; allowed: a piece of the vocabulary");
    EXPECT_EQ(message(R"({"type": "WordLevel", "vocab": {"a": 0}})"), "model: key 'unk_token' is missing");
    EXPECT_EQ(message(R"({"type": "WordLevel", "vocab": {}, "vocab": {}})"), "model.vocab: got two of them; allowed: one");
    EXPECT_EQ(message(R"({"type": "BPE", "vocab": {}, "merges": [], "merges": []})"),
              "model.merges: got two of them; allowed: one");
    EXPECT_EQ(message(R"({"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": ["a b"]})"),
              "model.merges[0]: got 'ab'; allowed: pieces of the vocabulary");
    EXPECT_EQ(message(R"({"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": ["a b c"]})"),
              "model.merges[0]: got 'a b c'; allowed: two pieces and a space between them");
    EXPECT_EQ(message(R"({"type": "BPE", "vocab": {"a": 0, "aa": 1}, "merges": [["a", "a"], ["a", "a", "a"]]})"),
              "model.merges[1]: got another value; allowed: two pieces");
    EXPECT_EQ(message(R"({"type": "BPE", "vocab": {}, "merges": [["a"]]})"),
              "model.merges[0]: got another value; allowed: two pieces");
    EXPECT_EQ(message(R"({"type": "BPE", "vocab": {}, "merges": [7]})"),
              "model.merges[0]: got another value; allowed: two pieces");
    EXPECT_EQ(message(R"({"type": "BPE", "vocab": {}, "merges": {}})"), "model.merges: got another value; allowed: an array");
    EXPECT_EQ(message(R"({"type": "BPE", "vocab": {}})"), "model: key 'merges' is missing");
    EXPECT_EQ(message(R"({"type": "BPE", "vocab": {}, "merges": [], "dropout": 0.1})"),
              "model.dropout: got 0.1; allowed: null or 0: pieces are the same every time");
    EXPECT_EQ(message(R"({"type": "Unigram", "vocab": {"a": 0}})"),
              "model.vocab: got an object; allowed: an array of pieces and scores");
    EXPECT_EQ(message(R"({"type": "BPE", "vocab": [["a", 0]], "merges": []})"),
              "model.vocab: got an array; allowed: an object of pieces and ids");
    EXPECT_EQ(message(R"({"type": "Unigram", "vocab": [["a", 1e999]]})"),
              "model.vocab[0]: got 1e999; allowed: a score within float64");
    EXPECT_EQ(message(R"({"type": "Unigram", "vocab": [["a"]]})"),
              "model.vocab[0]: got 1 value; allowed: a piece and its score");
    EXPECT_EQ(message(R"({"type": "Unigram", "vocab": [["a", "b"]]})"),
              "model.vocab[0]: got another value; allowed: a piece and its score");
    EXPECT_EQ(message(R"({"type": "Unigram", "vocab": [["a", 1, 2]]})"),
              "model.vocab[0]: got another value; allowed: a piece and its score");
    EXPECT_EQ(message(R"({"type": "Unigram", "vocab": [3]})"),
              "model.vocab[0]: got another value; allowed: a piece and its score");
    EXPECT_EQ(message(R"({"type": "Unigram", "unk_id": 1, "vocab": [["a", 1]]})"),
              "model.unk_id: got 1; allowed: an integer from 0 to 0");
    EXPECT_EQ(message(R"({"type": "Unigram", "unk_id": 0, "vocab": []})"),
              "model.unk_id: got 0; allowed: null, as there are no pieces");
    EXPECT_EQ(message(R"({"type": "WordPiece"})"), "model: key 'vocab' is missing");
    EXPECT_EQ(message("[]"), "model: got another value; allowed: an object");
    EXPECT_EQ(message(R"({"type": "WordLevel", "unk_token": "a", "vocab": 1})"),
              "model.vocab: got another value; allowed: an object of pieces and ids, or an array of pieces and scores");
}

TEST(TokenizerFile, RefusesStepsThatAreDamaged)
{
    EXPECT_EQ(tokenizer_refusal(File{.normalizer = "[]"}.text()).substr(0, 14), "normalizer: go");
    EXPECT_EQ(tokenizer_refusal(File{.normalizer = R"({"type": "Replace", "content": ""})"}.text()),
              "normalizer: key 'pattern' is missing");
    EXPECT_EQ(
        tokenizer_refusal(File{.normalizer = R"({"type": "Replace", "pattern": {"Regex": "[a&&b]"}, "content": ""})"}.text()),
        "regular expression '[a&&b]': got '&& in a class'; allowed: what Oniguruma and PCRE2 read alike");
    EXPECT_EQ(
        tokenizer_refusal(
            File{.pre_tokenizer = R"({"type": "Split", "pattern": {"String": "a"}, "behavior": "Merged"})"}.text()),
        "pre_tokenizer.behavior: got 'Merged'; allowed: Removed, Isolated, Contiguous, MergedWithPrevious, MergedWithNext");
    EXPECT_EQ(tokenizer_refusal(File{.pre_tokenizer = R"({"type": "Metaspace", "replacement": ""})"}.text()),
              "pre_tokenizer.replacement: got ''; allowed: a character");
    const std::string bert = R"({"type": "BertProcessing", "sep": ["b", 2], "cls": ["a", 1]})";
    EXPECT_EQ(
        tokenizer_refusal(File{.post_processor = R"({"type": "Sequence", "processors": [)" + bert + "," + bert + "]}"}.text()),
        "post_processor.processors[1]: got a second template; allowed: one");
    EXPECT_EQ(
        tokenizer_refusal(File{.post_processor = R"({"type": "BertProcessing", "sep": ["b", 99], "cls": ["a", 1]})"}.text()),
        "id: got 99; allowed: the tokenizer's, up to 9");
    EXPECT_EQ(tokenizer_refusal(File{
                  .post_processor = R"({"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "X"}}], "pair": []})"}
                                    .text()),
              "post_processor.single[0].SpecialToken.id: got 'X'; allowed: one of special_tokens");
    EXPECT_EQ(tokenizer_refusal(
                  File{.post_processor = R"({"type": "TemplateProcessing", "single": [{"Sequence": {"id": "B"}}], "pair": []})"}
                      .text()),
              "post_processor.single[0].Sequence.id: got 'B'; allowed: A");
    EXPECT_EQ(tokenizer_refusal(File{.added = R"([{"id": -1, "content": "x"}])"}.text()),
              "added_tokens[0].id: got -1; allowed: an integer from 0 to 2147483646");
    EXPECT_EQ(tokenizer_refusal(File{.added = R"([{"id": 1, "content": "x"}])"}.text()),
              "the tokenizer's id 1: got 'a' and 'x'; allowed: one piece");
    EXPECT_EQ(tokenizer_refusal(File{.added = R"({})"}.text()).substr(0, 13), "added_tokens:");
}

TEST(TokenizerFile, RefusesWhatIsNoTokenizer)
{
    EXPECT_EQ(tokenizer_refusal(""),
              "malformed JSON at line 1, column 1: unexpected end of input; expected '[', '{', or a literal");
    EXPECT_EQ(tokenizer_refusal("[]"), "the tokenizer: got another value; allowed: an object");
    EXPECT_EQ(tokenizer_refusal("{}"), "key 'model' is missing: is it a tokenizer.json?");
    EXPECT_EQ(tokenizer_refusal("{\"model\": {\"vocab\": {\"a\" 1}}}").substr(0, 40),
              "malformed JSON at line 1, column 26: une");
    EXPECT_EQ(tokenizer_refusal("{\"x\": " + std::string(1000000, '[')),
              "malformed JSON at line 1, column 38: nested deeper than 32 levels");
    const std::string text = File().text();
    EXPECT_EQ(tokenizer_refusal(text + "x").substr(0, 14), "malformed JSON");
    EXPECT_EQ(tokenizer_refusal("\xEF\xBB\xBF" + text), "no error");
    EXPECT_EQ(tokenizer_refusal("{\"model\": {\"vocab\": {}, \"merges\": []}, \"model\": {}}"),
              "model: got two of them; allowed: one");
    EXPECT_NE(tokenizer_refusal(R"({"normalizer": null, "normalizer": null, "model": {"vocab": {}, "merges": []}})")
                  .find("'normalizer' given twice"),
              std::string::npos);
    for (std::size_t size = 0; size < text.size(); ++size) {
        EXPECT_NE(tokenizer_refusal(text.substr(0, size)), "no error") << size;
    }
}

} // namespace
