#include "attn/text/pieces/normalizer.hpp"

#include "unit/error_of.hpp"

#include <gtest/gtest.h>

namespace {

using namespace attn::text;

using Steps = std::vector<NormalizerStep>;

std::string normalized(const Steps& steps, std::string_view text)
{
    Budget budget(text.size());
    return Normalizer(steps).normalized(text, budget);
}

/// "text|begin-end …": what stands where, in bytes of the sentence, a pair for each byte of the outcome.
std::string aligned(const Steps& steps, std::string_view sentence)
{
    Budget budget(sentence.size());
    const AlignedText text =
        Normalizer(steps).normalized(AlignedText(sentence, {0, static_cast<std::uint32_t>(sentence.size())}, budget));
    std::string out = text.text() + "|";
    for (std::size_t byte = 0; byte < text.text().size(); ++byte) {
        const Span from = text.source(byte);
        out += (byte == 0 ? "" : " ") + std::to_string(from.begin) + "-" + std::to_string(from.end);
    }
    return out;
}

NormalizerStep replace(Pattern::Kind kind, const std::string& what, const std::string& with)
{
    return Replace{{kind, what}, with};
}

TEST(Normalizer, LeavesTextAloneWithoutSteps)
{
    EXPECT_EQ(aligned({}, "aé"), "aé|0-1 1-3 1-3");
}

TEST(Normalizer, CleansAsBertDoes)
{
    EXPECT_EQ(normalized({CleanText()}, "a\tb\nc\rd\u3000e\u00a0f"), "a b c d e f");
    EXPECT_EQ(normalized({CleanText()}, "a\u0001b\u000bc\u0085d\u200be\ufefff\ufffdg\ue000h"),
              "abcdefgh"); // vertical tab goes too
    EXPECT_EQ(aligned({CleanText()}, "\u200bab"), "ab|3-4 4-5");
}

TEST(Normalizer, PutsSpacesAroundChinese)
{
    EXPECT_EQ(normalized({SpaceChinese()}, "a中b"), "a 中 b");
    EXPECT_EQ(normalized({SpaceChinese()}, "日本か"), " 日  本 か");                           // no kana
    EXPECT_EQ(normalized({SpaceChinese()}, "\U0002B820\U0002B920"), "\U0002B820 \U0002B920 "); // as its source has it
    EXPECT_EQ(aligned({SpaceChinese()}, "x中"), "x 中 |0-1 1-4 1-4 1-4 1-4 1-4");
}

TEST(Normalizer, DropsMarksOfOneKindOrAll)
{
    EXPECT_EQ(normalized({Form::nfd, DropMarks{.nonspacing_alone = true}}, "Ünïcödé"), "Unicode");
    EXPECT_EQ(normalized({DropMarks()}, "e\u0301a\u0903é"), "eaé"); // does not decompose
    EXPECT_EQ(normalized({DropMarks{.nonspacing_alone = true}}, "a\u0903\u20dd"), "a\u0903\u20dd");
    EXPECT_EQ(aligned({Form::nfd, DropMarks{.nonspacing_alone = true}}, "éa"), "ea|0-2 2-3");
}

TEST(Normalizer, LowersOneCharacterAtATime)
{
    EXPECT_EQ(normalized({Lowercase()}, "ABC ÄÖ ΟΔΟΣ ẞ"), "abc äö οδοσ ß");
    EXPECT_EQ(aligned({Lowercase()}, "\u0130a"), "i\u0307a|0-2 0-2 0-2 2-3");
}

TEST(Normalizer, KnowsTheFourForms)
{
    EXPECT_EQ(normalized({Form::nfc}, "e\u0301 \u1112\u1161\u11ab ﬁ"), "é 한 ﬁ");
    EXPECT_EQ(normalized({Form::nfd}, "é 한"), "e\u0301 \u1112\u1161\u11ab");
    EXPECT_EQ(normalized({Form::nfkc}, "ﬁ½Ａ e\u0301"), "fi1\u20442A é");
    EXPECT_EQ(normalized({Form::nfkd}, "ﬁé"), "fie\u0301");
    EXPECT_EQ(normalized({Form::nfd}, "q\u0307\u0323"), "q\u0323\u0307"); // marks in their order
    EXPECT_EQ(normalized({Form::nfc}, "a\u0308\u0323"), "\u1ea1\u0308");  // the dot below comes first and joins
    EXPECT_EQ(normalized({Form::nfc}, "\u0958\u212b"),
              "\u0915\u093c\u00c5"); // what composition leaves out, and what stands for another
    EXPECT_EQ(normalized({Form::nfc}, "\u1100\u1161\u11a8\u11a8"), "각\u11a8");
    EXPECT_EQ(normalized({Form::nfc}, "a\u0327\u0334\u0301"), "\u00e1\u0334\u0327"); // past marks of lower classes
    EXPECT_EQ(normalized({Form::nfc}, "a\u0305\u0301"), "a\u0305\u0301");            // not past one of its own
}

TEST(Normalizer, SaysWhereComposedCharactersComeFrom)
{
    EXPECT_EQ(aligned({Form::nfc}, "xe\u0301y"), "xéy|0-1 1-4 1-4 4-5");
    EXPECT_EQ(aligned({Form::nfkc}, "ﬁ"), "fi|0-3 0-3");
}

TEST(Normalizer, StripsSpacePrependsAndReplaces)
{
    EXPECT_EQ(normalized({Strip{true, true}}, " \u3000a b\n "), "a b");
    EXPECT_EQ(normalized({Strip{true, false}}, " a "), "a ");
    EXPECT_EQ(normalized({Strip{false, true}}, " a "), " a");
    EXPECT_EQ(normalized({Strip{true, true}}, "  "), "");
    EXPECT_EQ(normalized({Strip{false, false}}, " "), " ");
    EXPECT_EQ(aligned({Strip{true, true}}, "  ab "), "ab|2-3 3-4");
    EXPECT_EQ(normalized({Prepend{"▁"}}, "a"), "▁a");
    EXPECT_EQ(normalized({Prepend{"▁"}}, ""), "");
    EXPECT_EQ(aligned({Prepend{"<"}}, "éa"), "<éa|0-2 0-2 0-2 2-3");
    EXPECT_EQ(normalized({replace(Pattern::Kind::literal, " ", "▁")}, "a b  c"), "a▁b▁▁c");
    EXPECT_EQ(normalized({replace(Pattern::Kind::regex, " {2,}", " ")}, "a    b c"), "a b c");
    EXPECT_EQ(normalized({replace(Pattern::Kind::literal, "", "x")}, "ab"), "ab");
    EXPECT_EQ(aligned({replace(Pattern::Kind::regex, " +", "_")}, "a  b"), "a_b|0-1 2-3 3-4");
}

TEST(Normalizer, RunsItsStepsInTheirOrder)
{
    EXPECT_EQ(normalized({Prepend{"A"}, Lowercase()}, "B"), "ab");
    EXPECT_EQ(normalized({Lowercase(), Prepend{"A"}}, "B"), "Ab");
}

TEST(Normalizer, DoesNotMakeTextOutOfNothing)
{
    const NormalizerStep tenfold = replace(Pattern::Kind::literal, "a", std::string(100, 'a'));
    EXPECT_EQ(error_of([&] {
                  (void)normalized({tenfold, tenfold, tenfold}, "a");
              }),
              "the normalizer: got more than 4128 bytes of text; allowed: up to 32 for each byte of the sentence, and 4096");
}

void put(std::string& out, std::uint32_t value)
{
    for (unsigned shift = 0; shift < 32; shift += 8) {
        out += static_cast<char>(value >> shift & 0xFFU);
    }
}

/// A map of 'a' to "xyz" and of U+00E9 (C3 A9) to nothing, by hand: the root's children lie at their byte, the second byte's at
/// 256 and its byte.
std::string map_by_hand()
{
    std::vector<std::uint32_t> units(1024, 0x80000000U);
    const auto child = [&](std::uint32_t place, std::uint32_t byte, std::uint32_t offset, bool leaf) {
        units[place] = byte | (leaf ? 256U : 0U) | offset << 10U;
    };
    units[0] = 1U << 10U; // the root's children at 1 ^ byte
    child(1 ^ 'a', 'a', 512, true);
    units[(1 ^ 'a') ^ 512] = 0; // "xyz"
    child(1 ^ 0xC3, 0xC3, 256, false);
    const std::uint32_t second = (1 ^ 0xC3 ^ 256) ^ 0xA9;
    child(second, 0xA9, 768, true);
    units[second ^ 768] = 4; // ""
    std::string bytes;
    put(bytes, static_cast<std::uint32_t>(4 * units.size()));
    for (const std::uint32_t unit : units) {
        put(bytes, unit);
    }
    return bytes + std::string("xyz\0\0", 5);
}

TEST(CharacterMap, ReplacesByCluster)
{
    EXPECT_EQ(aligned({CharacterMap{map_by_hand()}}, "baéb"), "bxyzb|0-1 1-2 1-2 1-2 4-5");
    EXPECT_EQ(normalized({CharacterMap{map_by_hand()}}, "a\u0301b"), "xyzb"); // the cluster, by what it begins with
    EXPECT_EQ(normalized({CharacterMap{map_by_hand()}}, "a\u0301\u0301\u0301"), "xyz\u0301\u0301\u0301"); // too long a cluster
}

TEST(CharacterMap, RefusesWhatLeadsOutOfItself)
{
    const std::string map = map_by_hand();
    EXPECT_NE(error_of([] { (void)normalized({CharacterMap{""}}, "a"); }).find("got 0 bytes"), std::string::npos);
    EXPECT_NE(error_of([&] { (void)normalized({CharacterMap{map.substr(0, 4000)}}, "a"); }).find("got 4000 bytes"),
              std::string::npos);
    std::string astray = map;
    astray[4 + 1] = '\xff'; // the root's offset
    astray[4 + 2] = '\xff';
    EXPECT_NE(error_of([&] { (void)normalized({CharacterMap{astray}}, "a"); }).find("a step to unit "), std::string::npos);
    std::string late = map;
    late[4 + 4 * ((1 ^ 'a') ^ 512)] = 77;
    EXPECT_NE(error_of([&] { (void)normalized({CharacterMap{late}}, "a"); }).find("a replacement at byte 77"),
              std::string::npos);
    EXPECT_NE(error_of([&] { (void)normalized({CharacterMap{map + "\xff"}}, "a"); }).find("no UTF-8"), std::string::npos);
}

TEST(SentencePieceRules, WriteOneSpaceBetweenWordsAndOneInFront)
{
    EXPECT_EQ(aligned({SentencePieceRules{}}, " a  é "), "▁a▁é|1-2 1-2 1-2 1-2 2-3 2-3 2-3 4-6 4-6");
    EXPECT_EQ(normalized({SentencePieceRules{}}, "  "), "");
    EXPECT_EQ(normalized({SentencePieceRules{}}, "a▁ ▁"), "▁a"); // what it writes for a space counts as one at the end
    EXPECT_EQ(normalized({SentencePieceRules{.few_spaces = false}}, " a  b "), "▁▁a▁▁b▁");
    EXPECT_EQ(normalized({SentencePieceRules{.prefix = false}}, " a  b "), "a▁b");
    EXPECT_EQ(normalized({SentencePieceRules{.prefix = false, .suffix = true}}, " a  b "), "a▁b▁");
    EXPECT_EQ(normalized({SentencePieceRules{.prefix = false, .suffix = true}}, "  "), "");
    EXPECT_EQ(normalized({SentencePieceRules{.escape = false}}, " a  b "), " a b");
}

TEST(SentencePieceRules, ReplaceTheLongestStringOfTheMap)
{
    const SentencePieceRules rules{.map = map_by_hand(), .prefix = false};
    EXPECT_EQ(aligned({rules}, "baéb"), "bxyzb|0-1 1-2 1-2 1-2 4-5");
    EXPECT_EQ(normalized({rules}, "a\u0301b"), "xyz\u0301b"); // by string, and not by cluster
    EXPECT_EQ(normalized({SentencePieceRules{.map = map_by_hand(), .few_spaces = false}}, "é"), "▁"); // not empty at first
    EXPECT_EQ(normalized({SentencePieceRules{.map = map_by_hand(), .kept = {"aé", "a"}, .prefix = false}}, "aéaxéa"), "aéaxa");
}

} // namespace
