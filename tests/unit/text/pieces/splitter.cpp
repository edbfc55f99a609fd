#include "attn/text/pieces/splitter.hpp"

#include "attn/text/pieces/characters.hpp"

#include <gtest/gtest.h>

namespace {

using namespace attn::text;

using Words = std::vector<std::string>;

Words words_of(const std::vector<SplitterStep>& steps, std::string_view sentence)
{
    Budget budget(sentence.size());
    const attn::text::SplitWords words =
        Splitter(steps).words(AlignedText(sentence, {0, static_cast<std::uint32_t>(sentence.size())}, budget));
    Words found;
    for (const Span span : words.spans) {
        found.emplace_back(part(words.text.text(), span));
    }
    return found;
}

Split at(Pattern::Kind kind, Behavior behavior, std::string text = {})
{
    return {{kind, std::move(text)}, behavior};
}

TEST(Splitter, KeepsTheWholeTextWithoutSteps)
{
    EXPECT_EQ(words_of({}, "a b"), Words{"a b"});
    EXPECT_EQ(words_of({}, ""), Words{});
}

TEST(Splitter, DoesWhatTheBehaviorSays)
{
    const auto split = [](Behavior behavior) { return words_of({at(Pattern::Kind::literal, behavior, "-")}, "a-b--c-"); };
    EXPECT_EQ(split(Behavior::removed), (Words{"a", "b", "c"}));
    EXPECT_EQ(split(Behavior::isolated), (Words{"a", "-", "b", "-", "-", "c", "-"}));
    EXPECT_EQ(split(Behavior::contiguous), (Words{"a", "-", "b", "--", "c", "-"}));
    EXPECT_EQ(split(Behavior::merged_with_previous), (Words{"a-", "b-", "-", "c-"}));
    EXPECT_EQ(split(Behavior::merged_with_next), (Words{"a", "-b", "-", "-c", "-"}));
}

TEST(Splitter, SwapsMatchesAndGapsWhenInverted)
{
    Split split = at(Pattern::Kind::regex, Behavior::removed, "[a-z]+");
    split.invert = true;
    EXPECT_EQ(words_of({split}, "1ab2cd3"), (Words{"ab", "cd"}));
}

TEST(Splitter, SplitsAsBertDoes)
{
    const std::vector<SplitterStep> bert{at(Pattern::Kind::white_space, Behavior::removed),
                                         at(Pattern::Kind::punctuation, Behavior::isolated)};
    EXPECT_EQ(words_of(bert, "didn't\u3000cost $5 \u2014 no"), (Words{"didn", "'", "t", "cost", "$", "5", "\u2014", "no"}));
    EXPECT_EQ(words_of(bert, "a\u20acb\u180ec"),
              (Words{"a\u20acb\u180ec"})); // a currency sign beyond ASCII is none, nor a space
}

TEST(Splitter, SplitsDigits)
{
    EXPECT_EQ(words_of({at(Pattern::Kind::numeric, Behavior::isolated)}, "a12½٣b"), (Words{"a", "1", "2", "½", "٣", "b"}));
    EXPECT_EQ(words_of({at(Pattern::Kind::numeric, Behavior::contiguous)}, "a12½b"), (Words{"a", "12½", "b"}));
}

TEST(Splitter, WritesBytesAsCharacters)
{
    EXPECT_EQ(words_of({ByteAlphabet()}, "a b\n"), Words{"aĠbĊ"});
    EXPECT_EQ(words_of({ByteAlphabet()}, "é中"), Words{"Ã©ä¸Ń"});
    EXPECT_EQ(words_of({PrefixSpace(), ByteAlphabet()}, "a"), Words{"Ġa"});
    EXPECT_EQ(words_of({PrefixSpace(), ByteAlphabet()}, " a"), Words{"Ġa"});
}

TEST(Splitter, KnowsWhereBytesComeFrom)
{
    Budget budget(3);
    const attn::text::SplitWords words = Splitter({PrefixSpace(), ByteAlphabet()}).words(AlignedText("xé", {1, 3}, budget));
    ASSERT_EQ(words.spans.size(), 1U);
    EXPECT_EQ(words.text.text(), "ĠÃ©");
    EXPECT_EQ(words.text.source(words.spans[0]), (Span{1, 3}));
    EXPECT_EQ(words.text.source(Span{4, 6}), (Span{1, 3})); // the second byte alone is the whole character too
}

TEST(ByteAlphabet, GoesThereAndBack)
{
    for (int byte = 0; byte < 256; ++byte) {
        const auto there = character_of_byte(static_cast<unsigned char>(byte));
        EXPECT_EQ(bytes_of_piece(there), std::string(1, static_cast<char>(byte))) << byte;
    }
    EXPECT_EQ(character_of_byte(0), "\u0100");
    EXPECT_EQ(character_of_byte(0xAD), "\u0143");
    EXPECT_EQ(bytes_of_piece("a b"), std::nullopt); // a space stands for none
    EXPECT_EQ(bytes_of_piece("\u0144"), std::nullopt);
}

TEST(Splitter, WritesSpacesAsSentencePieceDoes)
{
    using Scheme = Metaspace::Scheme;
    const auto meta = [](Scheme scheme, bool split, std::string_view text) {
        std::vector<SplitterStep> steps{Metaspace{.scheme = scheme}};
        if (split) {
            steps.emplace_back(at(Pattern::Kind::literal, Behavior::merged_with_next, "▁"));
        }
        return words_of(steps, text);
    };
    EXPECT_EQ(meta(Scheme::always, true, "a b  c"), (Words{"▁a", "▁b", "▁", "▁c"}));
    EXPECT_EQ(meta(Scheme::always, false, "a b"), Words{"▁a▁b"});
    EXPECT_EQ(meta(Scheme::always, true, " a"), Words{"▁a"});
    EXPECT_EQ(meta(Scheme::always, true, "▁a"), Words{"▁a"});
    EXPECT_EQ(meta(Scheme::never, true, "a b"), (Words{"a", "▁b"}));
    EXPECT_EQ(meta(Scheme::always, true, ""), Words{});
}

TEST(Splitter, PutsTheFirstMarkWhereTheSentenceBegins)
{
    const std::vector<SplitterStep> steps{at(Pattern::Kind::literal, Behavior::isolated, "|"),
                                          Metaspace{.scheme = Metaspace::Scheme::first}};
    EXPECT_EQ(words_of(steps, "a|b"), (Words{"▁a", "|", "b"}));
    Budget budget(2);
    const attn::text::SplitWords later = Splitter(steps).words(AlignedText("xa", {1, 2}, budget)); // behind an added token
    EXPECT_EQ(later.text.text(), "a");
}

} // namespace
