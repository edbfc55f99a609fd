#include "attn/text/pieces/pieces.hpp"

#include "unit/error_of.hpp"

#include <gtest/gtest.h>

#include <random>

namespace {

using namespace attn::text;

PieceList list_of(const std::vector<std::string>& pieces)
{
    PieceList list;
    for (const std::string& piece : pieces) {
        list.add(piece, static_cast<std::int32_t>(list.entries.size()));
    }
    return list;
}

/// A BERT of a dozen pieces.
TokenizerSpec bert()
{
    TokenizerSpec spec;
    spec.normalizer = {CleanText(), SpaceChinese(), Form::nfd, DropMarks{.nonspacing_alone = true}, Lowercase()};
    spec.splitter = {Split{{Pattern::Kind::white_space, {}}, Behavior::removed}, Split{{Pattern::Kind::punctuation, {}}}};
    spec.vocabulary = list_of({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "##s", "sat", ".", "cafe", "中"});
    spec.model = WordPieceModel();
    spec.added = {{.id = 4, .content = "[MASK]", .special = true}};
    spec.templates = {std::vector<TemplateItem>{{-1, 2, 0}, {0, 0, 0}, {-1, 3, 0}},
                      std::vector<TemplateItem>{{-1, 2, 0}, {0, 0, 0}, {-1, 3, 0}, {1, 0, 1}, {-1, 3, 1}}};
    return spec;
}

/// A byte-level tokenizer whose words are GPT-2's.
TokenizerSpec byte_level()
{
    TokenizerSpec spec;
    spec.splitter = {Split{{Pattern::Kind::regex, std::string(gpt2_pattern)}}, ByteAlphabet()};
    spec.vocabulary = list_of({"t", "h", "e", "Ġ", "Ã", "©", "th", "the", "Ġthe"});
    BytePairModel model;
    model.merges.add("t", "h");
    model.merges.add("th", "e");
    model.merges.add("Ġ", "the");
    spec.model = model;
    return spec;
}

std::string text_of(const std::vector<Piece>& pieces)
{
    std::string text;
    for (const Piece& piece : pieces) {
        text += text.empty() ? "" : " ";
        text += piece.text;
    }
    return text;
}

TEST(PieceTokenizer, SaysOfEachPieceWhatItIsAndWhereItStands)
{
    const std::vector<Piece> pieces = PieceTokenizer(bert()).encode("The cats sat.");
    const std::vector<Piece> expected{{.id = 2, .text = "[CLS]", .sentence = -1, .special = true},
                                      {.id = 5, .text = "the", .begin = 0, .end = 3},
                                      {.id = 6, .text = "cat", .begin = 4, .end = 7},
                                      {.id = 7, .text = "##s", .begin = 7, .end = 8},
                                      {.id = 8, .text = "sat", .begin = 9, .end = 12},
                                      {.id = 9, .text = ".", .begin = 12, .end = 13},
                                      {.id = 3, .text = "[SEP]", .sentence = -1, .special = true}};
    EXPECT_EQ(pieces, expected);
}

TEST(PieceTokenizer, PutsTwoSentencesIntoTheirTemplate)
{
    const std::vector<Piece> pieces = PieceTokenizer(bert()).encode("the cat", "sat");
    EXPECT_EQ(text_of(pieces), "[CLS] the cat [SEP] sat [SEP]");
    std::string types;
    std::string sentences;
    for (const Piece& piece : pieces) {
        types += std::to_string(piece.type);
        sentences += std::to_string(piece.sentence) + " ";
    }
    EXPECT_EQ(types, "000011");
    EXPECT_EQ(sentences, "-1 0 0 -1 1 -1 ");
    EXPECT_EQ(pieces[4].begin, 0U); // of its own sentence
    EXPECT_EQ(text_of(PieceTokenizer(bert()).encode("the", "")), "[CLS] the [SEP] [SEP]");
    EXPECT_EQ(text_of(PieceTokenizer(bert()).encode("")), "[CLS] [SEP]");
}

TEST(PieceTokenizer, KnowsWhereRewrittenTextComesFrom)
{
    const std::vector<Piece> pieces = PieceTokenizer(bert()).encode("\u200bCafé\u3000中x");
    ASSERT_EQ(text_of(pieces), "[CLS] cafe 中 [UNK] [SEP]");
    EXPECT_EQ(pieces[1].begin, 3U);
    EXPECT_EQ(pieces[1].end, 8U);
    EXPECT_EQ(pieces[2].begin, 11U);
    EXPECT_EQ(pieces[2].end, 14U);
    EXPECT_EQ(pieces[3].end, 15U);
}

TEST(PieceTokenizer, TakesAnAddedTokenOutOfTextUntouched)
{
    const std::vector<Piece> pieces = PieceTokenizer(bert()).encode("the[MASK]sat [mask]");
    EXPECT_EQ(text_of(pieces), "[CLS] the [MASK] sat [UNK] [UNK] [UNK] [SEP]"); // "[", "mask" and "]" are ordinary text
    EXPECT_EQ(pieces[2], (Piece{.id = 4, .text = "[MASK]", .begin = 3, .end = 9, .special = true, .found = true}));
}

TEST(PieceTokenizer, LooksForNormalizedTokensInNormalizedText)
{
    TokenizerSpec spec = bert();
    spec.added.push_back({.id = 20, .content = "NEW", .normalized = true});
    const PieceTokenizer tokenizer(std::move(spec));
    const std::vector<Piece> pieces = tokenizer.encode("cat néw sat");
    ASSERT_EQ(text_of(pieces), "[CLS] cat NEW sat [SEP]");
    EXPECT_EQ(pieces[2], (Piece{.id = 20, .text = "NEW", .begin = 4, .end = 8, .found = true}));
    EXPECT_EQ(tokenizer.size(), 21);
    EXPECT_EQ(tokenizer.id_of("NEW"), 20);
}

TEST(PieceTokenizer, GoesByNamesWhereThereAreSome)
{
    TokenizerSpec spec = bert();
    spec.templates[0] = {{0, 0, 0}};
    spec.added.push_back({.id = 20, .content = "NEW"});
    spec.added.push_back({.id = 20, .content = "OLD"});
    spec.names = list_of({"cat", "##s", "<unk>", "NEW"});
    const PieceTokenizer tokenizer(std::move(spec));
    std::string ids;
    for (const Piece& piece : tokenizer.encode("the cats NEW OLD")) {
        ids += piece.text + ":" + std::to_string(piece.id) + " ";
    }
    EXPECT_EQ(ids, "the:2 cat:0 ##s:1 NEW:3 OLD:2 ");
    EXPECT_EQ(tokenizer.size(), 4);
    EXPECT_EQ(tokenizer.id_of("the"), std::nullopt);
    EXPECT_EQ(tokenizer.text_of(1), "##s");
}

TEST(PieceTokenizer, KnowsIdsAndPiecesBothWays)
{
    const PieceTokenizer tokenizer(bert());
    EXPECT_EQ(tokenizer.size(), 12);
    EXPECT_EQ(tokenizer.id_of("##s"), 7);
    EXPECT_EQ(tokenizer.id_of("dog"), std::nullopt);
    EXPECT_TRUE(tokenizer.has(7));
    EXPECT_FALSE(tokenizer.has(tokenizer.size()));
    EXPECT_FALSE(tokenizer.has(-1));
    EXPECT_EQ(tokenizer.text_of(7), "##s");
    EXPECT_EQ(tokenizer.shown(7), "##s");
    EXPECT_EQ(error_of([&] { (void)tokenizer.text_of(12); }), "id: got 12; allowed: the tokenizer's, up to 11");
    EXPECT_NE(error_of([&] { (void)tokenizer.text_of(-1); }), "no error");
}

TEST(PieceTokenizer, ShowsBytesAsText)
{
    TokenizerSpec spec = byte_level();
    spec.added = {{.id = 30, .content = "Ġ!"}};
    const PieceTokenizer tokenizer(std::move(spec));
    EXPECT_EQ(tokenizer.shown(8), " the");
    EXPECT_EQ(tokenizer.shown(4), "\\xc3"); // half a character
    EXPECT_EQ(tokenizer.shown(30), "Ġ!");   // an added token is itself
    EXPECT_EQ(text_of(tokenizer.encode("the thé")), "the Ġ th Ã ©");
}

TEST(PieceTokenizer, ShowsSentencePieceSpaces)
{
    TokenizerSpec spec;
    spec.vocabulary = list_of({"<unk>", "▁a", "b"});
    spec.model = UnigramModel{.scores = {0, -1, -1}, .unknown = 0};
    EXPECT_EQ(PieceTokenizer(spec).shown(1), "▁a"); // nothing writes spaces so
    spec.splitter = {Metaspace()};
    const PieceTokenizer tokenizer(spec);
    EXPECT_EQ(tokenizer.shown(1), " a");
    EXPECT_EQ(text_of(tokenizer.encode("ab?!")), "▁a b ?!");
    EXPECT_EQ(tokenizer.encode("ab?!").back().id, 0);
    spec.splitter = {};
    spec.normalizer = {Replace{{Pattern::Kind::literal, " "}, "▁"}};
    EXPECT_EQ(PieceTokenizer(spec).shown(1), " a");
}

TEST(PieceTokenizer, GivesWholeCharactersToHalfOnes)
{
    const std::vector<Piece> pieces = PieceTokenizer(byte_level()).encode("é");
    ASSERT_EQ(text_of(pieces), "Ã ©");
    EXPECT_EQ(pieces[0].begin, 0U);
    EXPECT_EQ(pieces[0].end, 2U);
    EXPECT_EQ(pieces[1].begin, 0U);
    EXPECT_EQ(pieces[1].end, 2U);
}

TEST(PieceTokenizer, LeavesSpacesOutOfTrimmedBounds)
{
    const auto bounds = [](std::optional<TrimmedBounds> trimmed) {
        TokenizerSpec spec = byte_level();
        spec.trimmed = trimmed;
        std::string out;
        for (const Piece& piece : PieceTokenizer(std::move(spec)).encode(" the the")) {
            out += std::to_string(piece.begin) + "-" + std::to_string(piece.end) + " ";
        }
        return out;
    };
    EXPECT_EQ(bounds({}), "0-4 4-8 ");
    EXPECT_EQ(bounds(TrimmedBounds{.prefix_space = false}), "1-4 5-8 ");
    EXPECT_EQ(bounds(TrimmedBounds{.prefix_space = true}), "0-4 5-8 ");
}

TEST(PieceTokenizer, TrimsWhatAnAddedTokenTookAlsoWhereTheVocabularyHasIt)
{
    TokenizerSpec spec = byte_level();
    spec.vocabulary = list_of({"t", "h", "e", "Ġ", "Ã", "©", "th", "the", "Ġthe", "<mask>"});
    spec.added = {{.id = 9, .content = "<mask>", .lstrip = true}};
    spec.trimmed = TrimmedBounds();
    const std::vector<Piece> pieces = PieceTokenizer(std::move(spec)).encode("the <mask>");
    ASSERT_EQ(text_of(pieces), "the <mask>");
    EXPECT_EQ(pieces[1].begin, 4U);
    EXPECT_EQ(pieces[1].end, 10U);
}

TEST(PieceTokenizer, TrimsNothingOfAnUnknownWord)
{
    TokenizerSpec spec = bert();
    spec.added.push_back({.id = 1, .content = "[UNK]"});
    spec.trimmed = TrimmedBounds();
    const std::vector<Piece> pieces =
        PieceTokenizer(std::move(spec)).encode("Ġⅷ"); // begins with how byte-level pieces write a space
    ASSERT_EQ(text_of(pieces), "[CLS] [UNK] [SEP]");
    EXPECT_EQ(pieces[1].begin, 0U);
    EXPECT_EQ(pieces[1].end, 5U);
}

TEST(PieceTokenizer, TrimsWholeCharacters)
{
    TokenizerSpec spec = byte_level();
    spec.splitter.insert(spec.splitter.begin(), PrefixSpace());
    spec.trimmed = TrimmedBounds();
    const std::vector<Piece> pieces = PieceTokenizer(std::move(spec)).encode("é");
    ASSERT_EQ(text_of(pieces), "Ġ Ã ©"); // the space stands for é, and is nothing else than space
    EXPECT_EQ(pieces[0].begin, 0U);
    EXPECT_EQ(pieces[0].end, 0U);
    EXPECT_EQ(pieces[1].end, 2U);
}

TEST(PieceTokenizer, RefusesWhatDoesNotFitTogether)
{
    const auto message = [](const std::function<void(TokenizerSpec&)>& change) {
        TokenizerSpec spec = bert();
        change(spec);
        return error_of([&] { (void)PieceTokenizer(std::move(spec)); });
    };
    EXPECT_EQ(message([](TokenizerSpec&) {}), "no error");
    EXPECT_EQ(message([](TokenizerSpec& spec) { spec.vocabulary.add("dog", 5); }),
              "the tokenizer's id 5: got 'the' and 'dog'; allowed: one piece");
    EXPECT_EQ(message([](TokenizerSpec& spec) { spec.vocabulary.add("the", 12); }),
              "model.vocab: got 'the' twice; allowed: each piece once");
    EXPECT_EQ(message([](TokenizerSpec& spec) { spec.added.push_back({.id = 5, .content = "dog"}); }),
              "the tokenizer's id 5: got 'the' and 'dog'; allowed: one piece");
    EXPECT_EQ(message([](TokenizerSpec& spec) { spec.added.push_back(spec.added[0]); }), "no error"); // as real files do
    EXPECT_EQ(message([](TokenizerSpec& spec) {
                  spec.templates[0].push_back({-1, 99, 0});
              }),
              "id: got 99; allowed: the tokenizer's, up to 11");
    EXPECT_EQ(message([](TokenizerSpec& spec) { spec.vocabulary.add(std::string(5000, 'x'), 12); }),
              "model.vocab: got a piece of 5000 bytes; allowed: up to 2048");
}

TEST(PieceTokenizer, RefusesSentencesThatAreNoText)
{
    const PieceTokenizer tokenizer(bert());
    EXPECT_EQ(error_of([&] { (void)tokenizer.encode("a\xff"); }),
              "the sentence: got byte 0xff at offset 1; allowed: well-formed UTF-8 without NUL bytes");
    EXPECT_NE(error_of([&] { (void)tokenizer.encode("a", std::string_view("\0", 1)); }), "no error");
}

TEST(PieceTokenizer, TakesATextOfHundredKilobytesAsOneWord)
{
    TokenizerSpec spec = byte_level();
    spec.splitter = {ByteAlphabet()};
    const PieceTokenizer tokenizer(std::move(spec));
    std::string text;
    while (text.size() < 100000) {
        text += " the";
    }
    EXPECT_EQ(tokenizer.encode(text).size(), text.size() / 4);
}

/// Bounds lie within the sentence, in order, at the borders of characters.
TEST(PieceTokenizer, KeepsBoundsWithinTheSentence)
{
    constexpr std::array parts{"the", " ", "cat", "é", "e\u0301", "中", "[MASK]", ".", "\u200b", "\u3000", "İ", "🙂"};
    const PieceTokenizer words(bert());
    const PieceTokenizer bytes(byte_level());
    for (unsigned seed = 0; seed < 500; ++seed) {
        std::mt19937 random(seed);
        std::string sentence;
        for (auto count = random() % 12; count > 0; --count) {
            sentence += parts.at(random() % parts.size());
        }
        for (const PieceTokenizer* tokenizer : {&words, &bytes}) {
            std::size_t behind = 0;
            for (const Piece& piece : tokenizer->encode(sentence)) {
                if (piece.sentence < 0) {
                    continue;
                }
                ASSERT_LT(piece.begin, piece.end) << seed;
                ASSERT_LE(piece.end, sentence.size()) << seed;
                ASSERT_GE(piece.end, behind) << seed;
                EXPECT_NE(static_cast<unsigned char>(sentence[piece.begin]) & 0xC0U, 0x80U) << seed;
                EXPECT_EQ(tokenizer->text_of(piece.id), piece.text) << seed;
                behind = piece.end;
            }
        }
    }
}

} // namespace
