#include "attn/io/models/sentencepiece.hpp"

#include "attn/io/models/model_files.hpp"
#include "attn/io/models/scored_pieces.hpp"
#include "attn/text/pieces/pieces.hpp"

#include "unit/error_of.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using attn::io::PieceType;
using attn::io::TextEnds;
using attn::text::PieceTokenizer;
using namespace std::string_literals;

// ---- models by hand --------------------------------------------------------------------------------------------------------

std::string varint_of(std::uint64_t value)
{
    return value < 128 ? std::string(1, static_cast<char>(value))
                       : static_cast<char>(value % 128 + 128) + varint_of(value / 128);
}

std::string sized_field(unsigned number, const std::string& bytes)
{
    return varint_of(number << 3U | 2U) + varint_of(bytes.size()) + bytes;
}

std::string varint_field(unsigned number, std::uint64_t value)
{
    return varint_of(number << 3U) + varint_of(value);
}

/// A field of the whole model.
std::string piece(const std::string& text, float score, PieceType type = PieceType::normal)
{
    std::string bits;
    attn::io::append_little(bits, std::bit_cast<std::uint32_t>(score));
    return sized_field(1, sized_field(1, text) + "\x15" + bits + varint_field(3, static_cast<std::uint64_t>(type)));
}

const std::string unknown_piece = piece("<unk>", 0, PieceType::unknown);
const std::string of_pairs = sized_field(2, "\x18\x02");
const std::string of_characters = sized_field(2, "\x18\x04");
const std::string without_prefix = sized_field(3, "\x18\x00"s);

PieceTokenizer tokenizer_of(const std::string& file)
{
    return PieceTokenizer(attn::io::sentencepiece_tokenizer(attn::io::as_bytes(file)));
}

/// "piece:id …"
std::string encoded(const PieceTokenizer& tokenizer, std::string_view sentence, std::optional<std::string_view> pair = {})
{
    std::string out;
    for (const attn::text::Piece& each : tokenizer.encode(sentence, pair)) {
        out += (out.empty() ? "" : " ") + each.text + ":" + std::to_string(each.id);
    }
    return out;
}

std::string fault_in(const std::string& file)
{
    return error_of([&] { (void)tokenizer_of(file); });
}

// ---- what it reads ---------------------------------------------------------------------------------------------------------

TEST(SentencePiece, ReadsAModelByteByByte)
{
    const std::string file = "\x0a\x09" // a piece of 9 bytes
                             "\x0a\x05<unk>\x18\x02"
                             "\x0a\x0a"
                             "\x0a\x03\u2581\x15\x00\x00\x80\xbf" // -1
                             "\x0a\x08"
                             "\x0a\x01"
                             "a\x15\x00\x00\x00\xc0" // -2
                             "\x0a\x0b"
                             "\x0a\x04\u2581"
                             "a\x15\x00\x00\x20\xc0" // -2.5
                             "\x12\x02\x18\x01"      // trainer_spec: a Unigram model
                             "\x1a\x00"              // normalizer_spec
                             "\xa2\x3e\x01x"s;       // and what is not known here
    const PieceTokenizer tokenizer = tokenizer_of(file);
    EXPECT_EQ(encoded(tokenizer, "a aab"), "\u2581a:3 \u2581a:3 a:2 b:0");
    EXPECT_EQ(tokenizer.size(), 4);
    EXPECT_EQ(tokenizer.shown(3), " a");
}

TEST(SentencePiece, MindsSpacesAsTheFileSays)
{
    const std::string pieces = unknown_piece + piece("\u2581", -1) + piece("a", -1) + piece(" ", -1);
    const auto with = [&](const std::string& normalizer, const std::string& trainer = "") {
        return encoded(tokenizer_of(pieces + sized_field(2, trainer) + sized_field(3, normalizer)), "  a  a ");
    };
    EXPECT_EQ(with(""), "\u2581:1 a:2 \u2581:1 a:2");
    EXPECT_EQ(with("\x18\x00"s), "a:2 \u2581:1 a:2"); // no dummy prefix
    EXPECT_EQ(with("\x20\x00"s), "\u2581:1 \u2581:1 \u2581:1 a:2 \u2581:1 \u2581:1 a:2 \u2581:1");
    EXPECT_EQ(with("\x28\x00"s), " :3 a:2  :3 a:2");                  // not escaped
    EXPECT_EQ(with("", "\xc0\x01\x01"), "a:2 \u2581:1 a:2 \u2581:1"); // as a suffix
    EXPECT_EQ(with("\x18\x00"s, "\xc0\x01\x01"), "a:2 \u2581:1 a:2");
}

TEST(SentencePiece, JoinsThePairOfTheHighestScoreTheLeftmostOfEquals)
{
    const std::string pieces = of_pairs + without_prefix + unknown_piece + piece("a", -9) + piece("b", -9) + piece("c", -9);
    EXPECT_EQ(encoded(tokenizer_of(pieces + piece("bc", -1) + piece("ab", -2)), "abc"), "a:1 bc:4");
    EXPECT_EQ(encoded(tokenizer_of(pieces + piece("bc", -1) + piece("ab", -1)), "abc"), "ab:5 c:3");
    EXPECT_EQ(encoded(tokenizer_of(pieces), "axyb"), "a:1 xy:0 b:2"); // the unknown as the sentence has it
}

TEST(SentencePiece, TakesAUsersPiecesBeforeAllOthersAndNoControlPieceFromText)
{
    for (const std::string& kind : {""s, of_pairs, of_characters}) {
        const PieceTokenizer tokenizer = tokenizer_of(
            kind + without_prefix + unknown_piece + piece("<s>", 0, PieceType::control) + piece("|", 0, PieceType::control) +
            piece("a", -3) + piece("<", -3) + piece("s", -3) + piece(">", -3) + piece("\u2581", -3));
        EXPECT_EQ(encoded(tokenizer, "a<s>|a"), "a:3 <:4 s:5 >:6 |:0 a:3") << kind;
        EXPECT_EQ(tokenizer.text_of(1), "<s>");
        const PieceTokenizer users =
            tokenizer_of(kind + without_prefix + unknown_piece + piece("bc", 0, PieceType::user_defined) + piece("a", -3) +
                         piece("b", -3) + piece("c", -3));
        EXPECT_EQ(encoded(users, "abcb"), "a:2 bc:1 b:3") << kind;
    }
}

TEST(SentencePiece, FallsBackOnBytes)
{
    std::string bytes;
    for (unsigned byte = 0; byte < 256; ++byte) {
        constexpr std::string_view digits = "0123456789ABCDEF";
        bytes += piece("<0x"s + digits[byte / 16] + digits[byte % 16] + ">", 0, PieceType::byte);
    }
    const std::string rest = unknown_piece + piece("a", -1) + sized_field(2, "\x98\x02\x01");
    for (const std::string& kind : {""s, of_pairs}) {
        EXPECT_EQ(encoded(tokenizer_of(kind + without_prefix + bytes + rest), "a\u00e9"), "a:257 <0xC3>:195 <0xA9>:169");
    }
    EXPECT_EQ(fault_in(bytes + rest + piece("<0xff>", 0, PieceType::byte)),
              "pieces of type byte: got 257; allowed: 256, as its byte_fallback says");
    EXPECT_EQ(fault_in(unknown_piece + piece("<0x00>", 0, PieceType::byte)),
              "pieces of type byte: got 1; allowed: 0, as its byte_fallback says");
}

TEST(SentencePiece, RefusesWhatIsNoModel)
{
    EXPECT_EQ(fault_in(""), "pieces of type unknown: got 0; allowed: 1; is it a model of SentencePiece?");
    EXPECT_EQ(fault_in(unknown_piece + unknown_piece),
              "pieces of type unknown: got 2; allowed: 1; is it a model of SentencePiece?");
    EXPECT_EQ(fault_in(unknown_piece + sized_field(2, "\x18\x03")),
              "trainer_spec.model_type: got 3, words; allowed: 1, 2 or 4: unigram, bpe, char");
    EXPECT_EQ(fault_in(piece("a", -1, static_cast<PieceType>(7))), "pieces[0]: type: got 7; allowed: 1 to 6");
    EXPECT_EQ(fault_in(unknown_piece + piece("", 0)),
              "pieces[1]: got no text; allowed: text, and a score of up to 1e+28 on both sides of 0");
    EXPECT_EQ(fault_in(piece("a", std::numeric_limits<float>::infinity())),
              "pieces[0]: got a score of inf; allowed: text, and a score of up to 1e+28 on both sides of 0");
    EXPECT_EQ(fault_in(piece(std::string(2049, 'a'), 0)), "pieces[0]: got a piece of 2049 bytes; allowed: up to 2048");
    EXPECT_NE(fault_in(piece("\xff", 0)).find("pieces[0]"), std::string::npos);
    EXPECT_NE(fault_in(unknown_piece + piece("a", 0) + piece("a", 0)).find("'a' twice"), std::string::npos);
    EXPECT_EQ(fault_in(unknown_piece + sized_field(3, sized_field(2, "short"))).substr(0, 50),
              "the normalizer's precompiled_charsmap: got 5 bytes");
    EXPECT_EQ(fault_in("\x0a\x7f"s), "byte 2 of the protobuf: got 127 bytes; allowed: up to 0, which are left");
}

TEST(SentencePiece, RefusesPairsOfWhatIsNoPiece)
{
    EXPECT_EQ(fault_in(of_pairs + unknown_piece + piece("a", 0) + piece("ab", 0)),
              "pieces[2]: got 'ab', whose 'b' is no piece; allowed: pieces made of others in a byte-pair encoding");
    EXPECT_EQ(fault_in(of_pairs + unknown_piece + piece("a", 0, PieceType::unused)),
              "pieces[1]: got an unused piece; allowed: others in a byte-pair encoding");
}

// ---- what stands around a text ---------------------------------------------------------------------------------------------

TEST(TextEnds, AreThoseOfTheTokenizersClass)
{
    using Values = attn::transformer::ConfigValues;
    const auto ends_of = [](const Values& settings, std::string_view model_type) {
        const TextEnds ends = attn::io::text_ends(settings, model_type);
        return ends.begin.value_or("-") + " " + ends.end.value_or("-");
    };
    EXPECT_EQ(ends_of({}, "llama"), "<s> -");
    EXPECT_EQ(ends_of({}, "gemma2"), "<bos> -");
    EXPECT_EQ(ends_of({}, "t5"), "- </s>");
    EXPECT_EQ(ends_of({{"tokenizer_class", "T5TokenizerFast"s}}, "llama"), "- </s>");
    EXPECT_EQ(ends_of({{"add_bos_token", false}, {"add_eos_token", true}}, "llama"), "- </s>");
    EXPECT_EQ(ends_of({{"bos_token", attn::transformer::ConfigObject()}, {"bos_token.content", "<|b|>"s}}, "llama"), "<|b|> -");
    EXPECT_EQ(ends_of({{"bos_token", "<|b|>"s}}, "llama"), "<|b|> -");
    const std::string allowed =
        "; allowed: GemmaTokenizer, LlamaTokenizer, T5Tokenizer; of others save_pretrained() of the Python "
        "package transformers writes a tokenizer.json";
    EXPECT_EQ(error_of([&] {
                  (void)ends_of({{"tokenizer_class", "XLMRobertaTokenizer"s}}, "xlm-roberta");
              }),
              "tokenizer_class: got 'XLMRobertaTokenizer'" + allowed);
    EXPECT_EQ(error_of([&] { (void)ends_of({}, "bert"); }), "tokenizer_class: got none, and model_type 'bert'" + allowed);
}

TEST(TextEnds, StandAroundEachSentence)
{
    const std::string file = unknown_piece + piece("</s>", 0, PieceType::control) + piece("\u2581a", -1) + piece("a", -1);
    attn::text::TokenizerSpec spec = attn::io::sentencepiece_tokenizer(attn::io::as_bytes(file));
    EXPECT_EQ(error_of([&] { put_around(spec, TextEnds{.begin = "<s>"}); }),
              "the vocabulary: got no '<s>'; allowed: one that has this piece");
    put_around(spec, TextEnds{.end = "</s>"});
    const PieceTokenizer tokenizer(std::move(spec));
    EXPECT_EQ(encoded(tokenizer, "a a"), "\u2581a:2 \u2581a:2 </s>:1");
    EXPECT_EQ(encoded(tokenizer, "a", "aa"), "\u2581a:2 </s>:1 \u2581a:2 a:3 </s>:1");
}

// ---- Marian ----------------------------------------------------------------------------------------------------------------

TEST(Marian, LooksPiecesUpInItsVocabulary)
{
    const std::string file = unknown_piece + piece("</s>", 0, PieceType::control) + piece("\u2581a", -1) + piece("b", -1);
    attn::text::PieceList vocabulary;
    for (const std::string_view each : {"</s>", "<unk>", ">>fra<<", "b", "\u00e9", "\u2581c", "\u2581a"}) {
        vocabulary.add(each, static_cast<std::int32_t>(10 + vocabulary.entries.size()));
    }
    const auto make = [&](const attn::text::PieceList& names) {
        return PieceTokenizer(attn::io::marian_tokenizer(attn::io::as_bytes(file), names));
    };
    const PieceTokenizer tokenizer = make(vocabulary);
    EXPECT_EQ(encoded(tokenizer, "ab"), "\u2581a:16 b:13 </s>:10");
    EXPECT_EQ(encoded(tokenizer, ">>fra<< ab"), ">>fra<<:12 \u2581a:16 b:13 </s>:10");
    EXPECT_EQ(encoded(tokenizer, "a\u00e9bq"), "\u2581a:16 \u00e9:14 b:13 q:11 </s>:10"); // what the model alone does not know
    EXPECT_EQ(encoded(tokenizer, "a", "a"), "\u2581a:16 \u2581a:16 </s>:10");
    EXPECT_EQ(tokenizer.size(), 17);
    EXPECT_EQ(tokenizer.shown(15), " c"); // of the other language
    EXPECT_EQ(tokenizer.id_of("\u2581c"), 15);
    EXPECT_FALSE(tokenizer.has(0));

    attn::text::PieceList bare;
    bare.add("b", 0);
    EXPECT_EQ(error_of([&] { (void)make(bare); }), "the vocabulary: got no '</s>'; allowed: one that has this piece");
    bare.add("</s>", 1);
    EXPECT_EQ(error_of([&] { (void)make(bare); }),
              "the vocabulary's piece for what it does not know: got '<unk>'; allowed: a piece of the vocabulary");
}

TEST(Marian, ReadsItsVocabulary)
{
    const std::string file = unknown_piece + piece("\u2581a", -1);
    const auto pieces_of_vocabulary = [&](std::string_view json) {
        return attn::io::read_marian_pieces(attn::io::as_bytes(file), attn::io::as_bytes(json));
    };
    EXPECT_EQ(encoded(pieces_of_vocabulary(R"({"</s>": 0, "<unk>": 1, "\u2581a": 7})"), "a b"), "\u2581a:7 \u2581b:1 </s>:0");
    const auto fault = [&](std::string_view json) { return error_of([&] { (void)pieces_of_vocabulary(json); }); };
    EXPECT_EQ(fault("[]"), "the vocabulary: got another value; allowed: an object of pieces and ids");
    EXPECT_EQ(fault(R"({"a": -1})"), "the vocabulary['a']: got -1; allowed: an id from 0 to 2147483646");
    EXPECT_EQ(fault(R"({"</s>": 0, "</s>": 1})"), "the vocabulary: got '</s>' twice; allowed: each piece once");
    EXPECT_EQ(fault(R"({"</s>": 0, "<unk>": 0})"), "the tokenizer's id 0: got '</s>' and '<unk>'; allowed: one piece");
    EXPECT_NE(fault(R"({"</s>": 0} x)"), "no error");
}

} // namespace
