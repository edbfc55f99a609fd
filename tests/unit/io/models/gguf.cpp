#include "attn/io/models/gguf.hpp"

#include "attn/io/models/gguf_model.hpp"
#include "attn/io/models/gguf_tokenizer.hpp"
#include "attn/text/pieces/pieces.hpp"
#include "attn/transformer/architectures/describe.hpp"

#include "unit/error_of.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace {

namespace io = attn::io;
using attn::Shape;

template <typename Unsigned>
std::string number(Unsigned value)
{
    std::string bytes;
    io::append_little(bytes, value);
    return bytes;
}

std::string text(std::string_view value)
{
    return number<std::uint64_t>(value.size()) + std::string(value);
}

std::string key(std::string_view name, io::GgufKind kind, const std::string& value)
{
    return text(name) + number(static_cast<std::uint32_t>(kind)) + value;
}

std::string key(std::string_view name, std::string_view value)
{
    return key(name, io::GgufKind::text, text(value));
}

std::string key(std::string_view name, std::uint32_t value)
{
    return key(name, io::GgufKind::u32, number(value));
}

std::string list(io::GgufKind kind, std::uint64_t count, const std::string& elements)
{
    return number(static_cast<std::uint32_t>(kind)) + number(count) + elements;
}

std::string texts(std::string_view name, const std::vector<std::string_view>& values)
{
    std::string elements;
    for (const std::string_view value : values) {
        elements += text(value);
    }
    return key(name, io::GgufKind::list, list(io::GgufKind::text, values.size(), elements));
}

std::string tensor(std::string_view name, const std::vector<std::uint64_t>& lengths, std::uint32_t type, std::uint64_t offset)
{
    std::string bytes = text(name) + number(static_cast<std::uint32_t>(lengths.size()));
    for (const std::uint64_t length : lengths) {
        bytes += number(length);
    }
    return bytes + number(type) + number(offset);
}

std::string file(const std::vector<std::string>& keys, const std::vector<std::string>& tensors = {},
                 const std::string& data = {})
{
    std::string bytes =
        "GGUF" + number<std::uint32_t>(3) + number<std::uint64_t>(tensors.size()) + number<std::uint64_t>(keys.size());
    for (const auto* parts : {&keys, &tensors}) {
        for (const std::string& part : *parts) {
            bytes += part;
        }
    }
    bytes.resize((bytes.size() + 31) / 32 * 32);
    return bytes + data;
}

std::string gguf_refusal(const std::string& bytes)
{
    return error_of([&] { (void)io::read_gguf(io::as_bytes(bytes)); });
}

TEST(Gguf, ReadsValuesOfEveryKind)
{
    using io::GgufKind;
    const std::string bytes =
        file({key("a", 7U), key("b", "x"), key("c", GgufKind::boolean, "\1"), key("d", GgufKind::i8, "\xff"),
              key("e", GgufKind::f32, number(0x3fc00000U)), key("f", GgufKind::i64, number(~std::uint64_t{0})),
              key("g", GgufKind::list, list(GgufKind::u8, 3, "\1\2\3")), texts("h", {"p", "", "qr"})});
    const io::GgufFile read = io::read_gguf(io::as_bytes(bytes));
    EXPECT_EQ(std::get<double>(read.metadata.at("a")), 7);
    EXPECT_EQ(std::get<std::string_view>(read.metadata.at("b")), "x");
    EXPECT_EQ(std::get<bool>(read.metadata.at("c")), true);
    EXPECT_EQ(std::get<double>(read.metadata.at("d")), -1);
    EXPECT_EQ(std::get<double>(read.metadata.at("e")), 1.5);
    EXPECT_EQ(std::get<double>(read.metadata.at("f")), -1);
    EXPECT_EQ(io::numbers_of(std::get<io::GgufList>(read.metadata.at("g")), "g"), (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(io::texts_of(std::get<io::GgufList>(read.metadata.at("h")), "h"), (std::vector<std::string_view>{"p", "", "qr"}));
}

TEST(Gguf, ReadsTensorsWithTheirRowsFirst)
{
    const std::string numbers = number(0x3f800000U) + number(0x40000000U); // 1, 2
    const std::string bytes = file({}, {tensor("w", {1, 2}, 0, 0), tensor("q", {32, 2}, 8, 32)},
                                   numbers + std::string(24, '\0') + std::string(68, '\1'));
    const io::GgufFile read = io::read_gguf(io::as_bytes(bytes));
    ASSERT_EQ(read.tensors.size(), 2U);
    EXPECT_EQ(read.tensors.at("w").view.shape, (Shape{2, 1}));
    EXPECT_EQ(attn::load<float>(read.tensors.at("w").view).values, (std::vector<float>{1, 2}));
    EXPECT_EQ(read.tensors.at("q").blocks->name, "Q8_0");
    EXPECT_EQ(read.tensors.at("q").view.shape, (Shape{2, 34}));
    EXPECT_EQ(read.tensors.at("q").view.bytes.data(), io::as_bytes(bytes).data() + bytes.size() - 68);
}

TEST(Gguf, JudgesCountsBeforeItMakesRoomForThem)
{
    const std::string head = "GGUF" + number<std::uint32_t>(3);
    const std::uint64_t many = 1'000'000'000'000;
    EXPECT_EQ(gguf_refusal(head + number(many) + number<std::uint64_t>(0) + std::string(320, '\0')),
              "the number of tensors: got 1000000000000; allowed: up to 65536");
    EXPECT_EQ(
        gguf_refusal(file({key("a", io::GgufKind::list, list(io::GgufKind::text, many, {}))})),
        "the file ends too early for the value of 'a', 1000000000000: got 64 bytes; allowed: 8000000000049 or more; is it "
        "cut short?");
    EXPECT_EQ(gguf_refusal(file({key("a", io::GgufKind::list, list(io::GgufKind::list, 1, list(io::GgufKind::u8, 0, {})))})),
              "the value of 'a': got a list of lists; allowed: a list of numbers, texts or bools");
}

TEST(Gguf, SaysWhereTheFileEndsTooEarlyAndHowLongItIs)
{
    const std::string whole = file({key("a", "x")}, {tensor("t", {4}, 0, 0)}, std::string(16, '\0'));
    const auto cut = [&](std::size_t size) { return gguf_refusal(whole.substr(0, size)); };
    const std::string begins = "the file ends too early for ";
    EXPECT_EQ(cut(0), begins + "the first bytes: got 0 bytes; allowed: 4 or more; is it cut short?");
    EXPECT_EQ(cut(3), begins + "the first bytes: got 3 bytes; allowed: 4 or more; is it cut short?");
    EXPECT_EQ(cut(6), begins + "the version: got 6 bytes; allowed: 8 or more; is it cut short?");
    EXPECT_EQ(cut(24), begins + "the number of tensors, 1: got 24 bytes; allowed: 48 or more; is it cut short?");
    EXPECT_EQ(gguf_refusal(file({key("a", "x")}).substr(0, 45)),
              begins + "the value of 'a': got 45 bytes; allowed: 46 or more; is it cut short?");
    const std::string promise = key("a", io::GgufKind::text, number(~std::uint64_t{0}));
    EXPECT_EQ(gguf_refusal(file({promise})),
              begins + "the value of 'a': got 64 bytes; allowed: 18446744073709551615 or more; is it cut short?");
}

TEST(Gguf, RefusesTensorsThatOverlapOrEndBehindTheFile)
{
    const std::string data(64, '\0');
    EXPECT_EQ(gguf_refusal(file({}, {tensor("a", {9}, 0, 0), tensor("b", {4}, 0, 32)}, data)),
              "tensor 'b': offset: got 32; allowed: 36 or more, where 'a' ends");
    EXPECT_EQ(
        gguf_refusal(file({}, {tensor("a", {9}, 0, 32)}, data)),
        "tensor 'a': got 36 bytes from offset 32 of the data on; allowed: bytes within the 64 of the data; is the file cut "
        "short?");
    EXPECT_EQ(gguf_refusal(file({}, {tensor("a", {4}, 0, 4)}, data)), "tensor 'a': offset: got 4; allowed: a multiple of 32");
}

// ---- what it says of a model -----------------------------------------------------------------------------------------------

std::vector<std::string> llama_keys()
{
    return {
        key("general.architecture", "llama"), key("llama.embedding_length", 8U),     key("llama.block_count", 2U),
        key("llama.feed_forward_length", 6U), key("llama.attention.head_count", 4U), key("llama.vocab_size", 10U),
        key("llama.context_length", 64U),     key("llama.rope.dimension_count", 2U), key("llama.attention.head_count_kv", 2U)};
}

TEST(GgufModel, SaysWhatAConfigSays)
{
    const std::string bytes = file(llama_keys());
    const io::GgufFile read = io::read_gguf(io::as_bytes(bytes));
    attn::transformer::Architecture a = attn::transformer::describe(attn::transformer::Config(io::gguf_config(read)));
    io::settle_for_gguf(a, read);
    EXPECT_EQ(a.type, "llama");
    EXPECT_EQ(a.layers.size(), 2U);
    EXPECT_EQ(a.layers[1].attention.rope->dim, 2);
    EXPECT_EQ(a.layers[1].attention.query.rows.turned, 2);
    EXPECT_EQ(a.layers[1].attention.value.rows.turned, 0);
}

TEST(GgufModel, KnowsNoOtherArchitecture)
{
    const std::string bytes = file({key("general.architecture", "rwkv7")});
    const io::GgufFile read = io::read_gguf(io::as_bytes(bytes));
    EXPECT_EQ(
        error_of([&] { (void)io::gguf_config(read); }),
        "general.architecture: got 'rwkv7'; allowed: bert, gemma, gemma2, gemma3, gpt2, gptneox, llama, olmo2, phi2, qwen2, "
        "qwen3");
}

// ---- its tokenizer ---------------------------------------------------------------------------------------------------------

std::vector<std::string> gguf_pieces(const std::vector<std::string>& keys, std::string_view sentence)
{
    const std::string bytes = file(keys);
    const attn::text::PieceTokenizer tokenizer(io::gguf_tokenizer(io::read_gguf(io::as_bytes(bytes))));
    std::vector<std::string> pieces;
    for (const attn::text::Piece& piece : tokenizer.encode(sentence)) {
        pieces.push_back(piece.text);
    }
    return pieces;
}

TEST(GgufTokenizer, JoinsThePairOfTheHighestScore)
{
    const auto scores = [](std::uint32_t ab, std::uint32_t bc) { // of a, b, c, ab, bc, ▁
        const std::string one = number(0xbf800000U);             // -1
        return key("tokenizer.ggml.scores", io::GgufKind::list,
                   list(io::GgufKind::f32, 6, one + one + one + number(ab) + number(bc) + one));
    };
    std::vector<std::string> keys{
        key("tokenizer.ggml.model", "llama"), texts("tokenizer.ggml.tokens", {"a", "b", "c", "ab", "bc", "\u2581"}),
        key("tokenizer.ggml.add_bos_token", io::GgufKind::boolean, std::string(1, '\0')), scores(0x3f800000U, 0x40000000U)};
    EXPECT_EQ(gguf_pieces(keys, "abc"), (std::vector<std::string>{"\u2581", "a", "bc"}));
    keys.back() = scores(0x40000000U, 0x3f800000U);
    EXPECT_EQ(gguf_pieces(keys, "abc"), (std::vector<std::string>{"\u2581", "ab", "c"}));
    keys[1] = texts("tokenizer.ggml.tokens", {"a", "b", "c", "bc", "ab", "\u2581"});
    keys.back() = scores(0x3f800000U, 0x3f800000U); // equal: the leftmost pair
    EXPECT_EQ(gguf_pieces(keys, "abc"), (std::vector<std::string>{"\u2581", "ab", "c"}));
}

TEST(GgufTokenizer, GivesWordPiecesTheirMarksBack)
{
    EXPECT_EQ(gguf_pieces({key("tokenizer.ggml.model", "bert"),
                           texts("tokenizer.ggml.tokens", {"[UNK]", "[CLS]", "[SEP]", "\u2581play", "ing", "\u2581!"})},
                          "Playing!"),
              (std::vector<std::string>{"[CLS]", "play", "##ing", "!", "[SEP]"}));
}

} // namespace
