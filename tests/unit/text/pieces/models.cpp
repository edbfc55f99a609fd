#include "attn/text/pieces/models.hpp"

#include "unit/error_of.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace {

using namespace attn::text;

PieceIndex index_of(const std::vector<std::string>& pieces)
{
    PieceList list;
    for (const std::string& piece : pieces) {
        list.add(piece, static_cast<std::int32_t>(list.entries.size()));
    }
    return {std::move(list), true, "model.vocab"};
}

/// "piece[begin,end) …"; of an unknown piece of Unigram, the word's own letters between question marks.
template <typename Model>
std::string tokens_of(const PieceIndex& index, const Model& model, std::string_view word)
{
    std::string out;
    Budget budget(word.size());
    for (const Token& token : model.tokens(index, word, budget)) {
        out += out.empty() ? "" : " ";
        out += token.unknown ? "?" + std::string(part(word, token.span)) + "?" : std::string(index.pieces().text(token.entry));
        out += "[" + std::to_string(token.span.begin) + "," + std::to_string(token.span.end) + ")";
    }
    return out;
}

TEST(PieceIndex, FindsWhatItHoldsAndNothingElse)
{
    const PieceIndex index = index_of({"a", "ab", "abc", "", "b", "中"});
    EXPECT_EQ(index.find("ab"), 1U);
    EXPECT_EQ(index.find("a", "bc"), 2U);
    EXPECT_EQ(index.find(""), 3U);
    EXPECT_EQ(index.find("abcd"), std::nullopt);
    EXPECT_EQ(index.find("中"), 5U);
    EXPECT_EQ(index.find_near(4, "ab", "c"), 2U);
    EXPECT_EQ(index.find_near(1, "ab", "c"), 2U);
    EXPECT_EQ(index.find_near(5, "x", ""), std::nullopt);
    std::vector<std::size_t> sizes;
    Budget budget(0);
    index.each_beginning("", "abd", budget, [&](std::size_t size, std::uint32_t) { sizes.push_back(size); });
    EXPECT_EQ(sizes, (std::vector<std::size_t>{1, 2}));
    index.each_beginning("a", "bc", budget, [&](std::size_t size, std::uint32_t entry) { sizes.push_back(10 * size + entry); });
    EXPECT_EQ(sizes, (std::vector<std::size_t>{1, 2, 11, 22}));
}

TEST(PieceIndex, RefusesAPieceThatIsThereTwice)
{
    EXPECT_EQ(error_of([] { (void)index_of({"a", "b", "a"}); }), "model.vocab: got 'a' twice; allowed: each piece once");
}

TEST(WordPiece, TakesTheLongestPieceAgainAndAgain)
{
    const PieceIndex index = index_of({"[UNK]", "un", "unaff", "##aff", "##able", "##a", "##ff", "a", "中"});
    const WordPiece model(index, {});
    EXPECT_EQ(tokens_of(index, model, "unaffable"), "unaff[0,5) ##able[5,9)");
    EXPECT_EQ(tokens_of(index, model, "una"), "un[0,2) ##a[2,3)");
    EXPECT_EQ(tokens_of(index, model, "中a"), "中[0,3) ##a[3,4)");
}

TEST(WordPiece, KnowsAWordWhollyOrNotAtAll)
{
    const PieceIndex index = index_of({"[UNK]", "un", "##aff"});
    EXPECT_EQ(tokens_of(index, WordPiece(index, {}), "unaffx"), "[UNK][0,6)");
    EXPECT_EQ(tokens_of(index, WordPiece(index, {}), "aff"), "[UNK][0,3)"); // ## alone
    EXPECT_EQ(tokens_of(index, WordPiece(index, {.longest_word = 5}), "unaff"), "un[0,2) ##aff[2,5)");
    EXPECT_EQ(tokens_of(index, WordPiece(index, {.longest_word = 4}), "unaff"), "[UNK][0,5)");
    EXPECT_EQ(error_of([&] { (void)WordPiece(index, {.unknown = "<?>"}); }),
              "model.unk_token: got '<?>'; allowed: a piece of the vocabulary");
}

TEST(WordPiece, CountsCharactersAndNotBytes)
{
    const PieceIndex index = index_of({"[UNK]", "中", "##中"});
    EXPECT_EQ(tokens_of(index, WordPiece(index, {.longest_word = 2}), "中中"), "中[0,3) ##中[3,6)");
}

TEST(WordLevel, IsAWordOrUnknown)
{
    const PieceIndex index = index_of({"[UNK]", "cat"});
    const WordLevel model(index, {});
    EXPECT_EQ(tokens_of(index, model, "cat"), "cat[0,3)");
    EXPECT_EQ(tokens_of(index, model, "cats"), "[UNK][0,4)");
}

MergeList merges(const std::vector<std::pair<std::string, std::string>>& pairs)
{
    MergeList list;
    for (const auto& [left, right] : pairs) {
        list.add(left, right);
    }
    return list;
}

TEST(BytePair, JoinsThePairOfTheLowestRankFirst)
{
    const PieceIndex index = index_of({"a", "b", "c", "ab", "bc", "abc"});
    EXPECT_EQ(tokens_of(index, BytePair(index, {.merges = merges({{"a", "b"}, {"b", "c"}})}), "abc"), "ab[0,2) c[2,3)");
    EXPECT_EQ(tokens_of(index, BytePair(index, {.merges = merges({{"b", "c"}, {"a", "b"}})}), "abc"), "a[0,1) bc[1,3)");
    EXPECT_EQ(tokens_of(index, BytePair(index, {.merges = merges({{"b", "c"}, {"a", "bc"}})}), "abcabc"), "abc[0,3) abc[3,6)");
}

TEST(BytePair, JoinsFromTheLeftWhereRanksAreEqual)
{
    const PieceIndex index = index_of({"a", "aa", "aaaa"});
    const BytePair model(index, {.merges = merges({{"a", "a"}, {"aa", "aa"}})});
    EXPECT_EQ(tokens_of(index, model, "aaa"), "aa[0,2) a[2,3)");
    EXPECT_EQ(tokens_of(index, model, "aaaaaaa"), "aaaa[0,4) aa[4,6) a[6,7)");
}

TEST(BytePair, JoinsTheLeftmostOfWhatIsWantedAlike)
{
    const PieceIndex index = index_of({"a", "b", "c", "ab", "bc"});
    BytePairModel model{.merges = merges({{"b", "c"}, {"a", "b"}})};
    EXPECT_EQ(tokens_of(index, BytePair(index, model), "abc"), "a[0,1) bc[1,3)");
    model.ranks = {7, 7};
    EXPECT_EQ(tokens_of(index, BytePair(index, model), "abc"), "ab[0,2) c[2,3)");
}

TEST(BytePair, TakesNoCharacterThatIsNeverInText)
{
    const PieceIndex index = index_of({"<unk>", "a", "|"});
    const BytePair model(index, {.unknown = "<unk>", .show_unknown = true, .never_in_text = {0, 2}});
    EXPECT_EQ(tokens_of(index, model, "a|"), "a[0,1) ?|?[1,2)");
}

TEST(BytePair, LeavesUnknownCharactersOutOrNamesThem)
{
    const PieceIndex index = index_of({"<unk>", "a", "b"});
    EXPECT_EQ(tokens_of(index, BytePair(index, {}), "axyb"), "a[0,1) b[3,4)");
    EXPECT_EQ(tokens_of(index, BytePair(index, {.unknown = "<unk>"}), "axyb"), "a[0,1) <unk>[1,2) <unk>[2,3) b[3,4)");
    EXPECT_EQ(tokens_of(index, BytePair(index, {.unknown = "<unk>", .fuse_unknown = true}), "axybz"),
              "a[0,1) <unk>[1,3) b[3,4) <unk>[4,5)");
    const BytePair without(index, {.unknown = "<none>"}); // harmless until it is needed
    EXPECT_EQ(tokens_of(index, without, "ab"), "a[0,1) b[1,2)");
    EXPECT_EQ(error_of([&] { (void)tokens_of(index, without, "x"); }),
              "model.unk_token: got '<none>'; allowed: a piece of the vocabulary");
}

TEST(BytePair, FallsBackOnBytesWhereAllAreThere)
{
    const PieceIndex index = index_of({"<unk>", "a", "<0xC3>", "<0xA9>", "<0xE4>"});
    const BytePair model(index, {.unknown = "<unk>", .byte_fallback = true});
    EXPECT_EQ(tokens_of(index, model, "aé"), "a[0,1) <0xC3>[1,2) <0xA9>[2,3)");
    EXPECT_EQ(tokens_of(index, model, "中"), "<unk>[0,3)");
}

TEST(BytePair, WritesPrefixAndSuffixAroundCharacters)
{
    const PieceIndex index = index_of({"c", "a", "t</w>", "at</w>", "cat</w>", "##b", "b", "b##c", "bc"});
    const BytePair clip(index, {.merges = merges({{"a", "t</w>"}, {"c", "at</w>"}}), .suffix = "</w>"});
    EXPECT_EQ(tokens_of(index, clip, "cat"), "cat</w>[0,3)");
    const PieceIndex prefixed = index_of({"b", "##c", "bc"});
    const BytePair bert(prefixed, {.merges = merges({{"b", "##c"}}), .prefix = "##"});
    EXPECT_EQ(tokens_of(prefixed, bert, "bc"), "bc[0,2)");
}

TEST(BytePair, TakesAWordOfTheVocabularyAsItIsWhenMergesAreIgnored)
{
    const PieceIndex index = index_of({"a", "b", "c", "ab", "abc"});
    EXPECT_EQ(tokens_of(index, BytePair(index, {.merges = merges({{"a", "b"}}), .ignore_merges = true}), "abc"), "abc[0,3)");
    EXPECT_EQ(tokens_of(index, BytePair(index, {.merges = merges({{"a", "b"}})}), "abc"), "ab[0,2) c[2,3)");
}

TEST(BytePair, RefusesMergesOfWhatIsNotThere)
{
    const PieceIndex index = index_of({"a", "b"});
    const auto message = [&](const std::string& left, const std::string& right) {
        return error_of([&] { (void)BytePair(index, {.merges = merges({{left, right}})}); });
    };
    EXPECT_EQ(message("x", "b"), "model.merges[0]: got 'x'; allowed: pieces of the vocabulary");
    EXPECT_EQ(message("a", "y"), "model.merges[0]: got 'y'; allowed: pieces of the vocabulary");
    EXPECT_EQ(message("a", "b"), "model.merges[0]: got 'ab'; allowed: pieces of the vocabulary");
}

/// Searches the whole word for the best pair after each step.
std::vector<std::string> naive_merges(std::vector<std::string> symbols,
                                      const std::map<std::pair<std::string, std::string>, std::size_t>& ranks)
{
    for (;;) {
        std::size_t best = symbols.size();
        std::size_t rank = ranks.size();
        for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
            const auto found = ranks.find({symbols[i], symbols[i + 1]});
            if (found != ranks.end() && found->second < rank) {
                rank = found->second;
                best = i;
            }
        }
        if (best == symbols.size()) {
            return symbols;
        }
        symbols[best] += symbols[best + 1];
        symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    }
}

TEST(BytePair, DoesWhatAPlainSearchDoes)
{
    for (unsigned seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        std::vector<std::string> pieces{"a", "b", "c"};
        std::vector<std::pair<std::string, std::string>> pairs;
        std::map<std::pair<std::string, std::string>, std::size_t> ranks;
        for (int i = 0; i < 20; ++i) {
            const std::string left = pieces[random() % pieces.size()];
            const std::string right = pieces[random() % pieces.size()];
            if (ranks.emplace(std::pair(left, right), pairs.size()).second) {
                pairs.emplace_back(left, right);
                if (std::find(pieces.begin(), pieces.end(), left + right) == pieces.end()) {
                    pieces.push_back(left + right);
                }
            }
        }
        std::string word;
        std::vector<std::string> symbols;
        for (auto length = random() % 40; length > 0; --length) {
            symbols.emplace_back(1, static_cast<char>('a' + random() % 3));
            word += symbols.back();
        }
        const PieceIndex index = index_of(pieces);
        const BytePair model(index, {.merges = merges(pairs)});
        std::vector<std::string> ours;
        Budget budget(word.size());
        for (const Token& token : model.tokens(index, word, budget)) {
            ours.emplace_back(index.pieces().text(token.entry));
            EXPECT_EQ(ours.back(), part(word, token.span)) << seed;
        }
        EXPECT_EQ(ours, naive_merges(symbols, ranks)) << seed;
    }
}

UnigramModel unigram(std::vector<double> scores, std::optional<std::size_t> unknown = 0)
{
    return {.scores = std::move(scores), .unknown = unknown};
}

TEST(Unigram, TakesThePathOfTheLargestSum)
{
    const PieceIndex index = index_of({"<unk>", "a", "b", "c", "ab", "bc"});
    EXPECT_EQ(tokens_of(index, Unigram(index, unigram({0, -2, -2, -2, -3, -2.5})), "abc"), "a[0,1) bc[1,3)");
    EXPECT_EQ(tokens_of(index, Unigram(index, unigram({0, -2, -2, -2, -2.5, -3})), "abc"), "ab[0,2) c[2,3)");
    EXPECT_EQ(tokens_of(index, Unigram(index, unigram({0, -1, -1, -1, -3, -3})), "abc"), "a[0,1) b[1,2) c[2,3)");
    EXPECT_EQ(tokens_of(index, Unigram(index, unigram({0, -1, -1, -1, -2, -2})), "abc"),
              "a[0,1) bc[1,3)"); // the path found first stays
}

TEST(Unigram, FusesWhatItDoesNotKnow)
{
    const PieceIndex index = index_of({"<unk>", "a", "xyz"});
    const Unigram model(index, unigram({0, -1, -30}));
    EXPECT_EQ(tokens_of(index, model, "a中文a"), "a[0,1) ?中文?[1,7) a[7,8)");
    EXPECT_EQ(tokens_of(index, model, "axyza"), "a[0,1) xyz[1,4) a[4,5)"); // -30 against three times -40
    EXPECT_EQ(tokens_of(index, model, ""), "");
}

TEST(Unigram, GivesAnUnknownPathThePieceThatItSpells)
{
    const PieceIndex index = index_of({"<unk>", "xy", "q"});
    EXPECT_EQ(tokens_of(index, Unigram(index, unigram({30, 30, 30})), "xy"), "xy[0,2)"); // two unknowns bring 40
}

TEST(Unigram, ComputesAsSentencePieceWhereItSaysSo)
{
    const PieceIndex index = index_of({"<unk>", "a", "b", "xy", "ab"});
    UnigramModel model = unigram({no_score, -1, -1, no_score, -2.00000001});
    EXPECT_EQ(tokens_of(index, Unigram(index, model), "ab"), "a[0,1) b[1,2)");
    model.unknown_score = -11.0F;
    EXPECT_EQ(tokens_of(index, Unigram(index, model), "ab"), "ab[0,2)"); // the same as float32, and found first
    EXPECT_EQ(tokens_of(index, Unigram(index, model), "axy<unk>a"), "a[0,1) ?xy<unk>?[1,8) a[8,9)");
}

TEST(Unigram, FallsBackOnBytesOrRefuses)
{
    const PieceIndex index = index_of({"a", "<0xC3>", "<0xA9>"});
    UnigramModel model = unigram({-1, -1, -1}, std::nullopt);
    EXPECT_EQ(error_of([&] { (void)tokens_of(index, Unigram(index, model), "aé"); }),
              "the sentence: got 'é'; allowed: what the vocabulary has, since it has no unk_id");
    model.byte_fallback = true;
    EXPECT_EQ(tokens_of(index, Unigram(index, model), "aé"), "a[0,1) <0xC3>[1,2) <0xA9>[2,3)");
}

} // namespace
