#include "attn/model/recipe/field.hpp"

#include "attn/model/recipe/recipe_fields.hpp"

#include <gtest/gtest.h>

#include <set>

namespace {

using namespace attn::model;
using attn::Index;

struct Inner {
    Index number = 7;
};
struct Other {
    std::string text;
};
struct Outer {
    Inner plain;
    std::optional<Inner> maybe;
    std::variant<Other, Inner> either;
    std::optional<double> real;
    PositionKind kind = PositionKind::rope;
    std::optional<attn::core::Window> window;
    bool swapped = false;
    int threads = 1;
};

TEST(Field, OfAPlainMemberIsReadAndWritten)
{
    constexpr auto number = at<&Outer::plain, &Inner::number>;
    Outer outer;
    EXPECT_TRUE(number.exists(outer));
    EXPECT_EQ(number.get(outer), FieldValue(Index{7}));
    number.set(outer, Index{8});
    EXPECT_EQ(outer.plain.number, 8);
}

TEST(Field, BehindAnEmptyOptionalIsAbsentAndIsMadeWhenItIsSet)
{
    constexpr auto number = at<&Outer::maybe, &Inner::number>;
    Outer outer;
    EXPECT_FALSE(number.exists(outer));
    EXPECT_EQ(number.get(outer), FieldValue());
    EXPECT_FALSE(outer.maybe.has_value()); // looking makes nothing
    number.set(outer, Index{8});
    ASSERT_TRUE(outer.maybe.has_value());
    EXPECT_EQ(number.get(outer), FieldValue(Index{8}));
}

TEST(Field, OfAnotherAlternativeIsAbsentAndReplacesItWhenItIsSet)
{
    constexpr auto number = at<&Outer::either, &Inner::number>;
    constexpr auto text = at<&Outer::either, &Other::text>;
    Outer outer;
    EXPECT_TRUE(text.exists(outer));
    EXPECT_FALSE(number.exists(outer));
    EXPECT_EQ(number.get(outer), FieldValue());
    number.set(outer, Index{8});
    EXPECT_FALSE(text.exists(outer));
    EXPECT_EQ(std::get<Inner>(outer.either).number, 8);
}

TEST(Field, ThatIsOptionalIsAbsentUntilItIsSet)
{
    constexpr auto real = at<&Outer::real>;
    Outer outer;
    EXPECT_TRUE(real.exists(outer));
    EXPECT_EQ(real.get(outer), FieldValue());
    real.set(outer, 0.5);
    EXPECT_EQ(real.get(outer), FieldValue(0.5));
    real.set(outer, {});
    EXPECT_EQ(outer.real, std::nullopt);
}

TEST(Field, OfAnEnumerationIsThePlaceOfItsName)
{
    constexpr auto kind = at<&Outer::kind>;
    Outer outer;
    EXPECT_EQ(kind.get(outer), FieldValue(Index{1}));
    kind.set(outer, Index{2});
    EXPECT_EQ(outer.kind, PositionKind::alibi);
}

TEST(Field, OfAWindowIsItsTwoSides)
{
    constexpr auto window = at<&Outer::window>;
    Outer outer;
    EXPECT_EQ(window.get(outer), FieldValue());
    window.set(outer, std::vector<Index>{2, -1});
    EXPECT_EQ(outer.window, (attn::core::Window{2, -1}));
    EXPECT_EQ(window.get(outer), FieldValue(std::vector<Index>{2, -1}));
}

TEST(Field, AssignsAChoiceOfTwoToABoolAndANumberToAnInt)
{
    Outer outer;
    assign(outer.swapped, Index{1});
    assign(outer.threads, Index{3});
    EXPECT_TRUE(outer.swapped);
    EXPECT_EQ(outer.threads, 3);
    assign(outer.swapped, false);
    EXPECT_FALSE(outer.swapped);
}

TEST(Field, HasANameInASection)
{
    EXPECT_EQ(field::words_file.name(), "file");
    EXPECT_EQ(field::words_file.section(), "embeddings.words");
    EXPECT_EQ(field::query.name(), "query");
    EXPECT_EQ(field::query.section(), "");
}

TEST(Field, KeyWithinASectionIsItsNextPart)
{
    EXPECT_EQ(key_within("attention.mask.file", ""), "attention");
    EXPECT_EQ(key_within("attention.mask.file", "attention"), "mask");
    EXPECT_EQ(key_within("attention.mask.file", "attention.mask"), "file");
    for (const char* elsewhere : {"attention.mask.file", "attention.ma", "dims", "mask"}) {
        EXPECT_EQ(key_within("attention.mask.file", elsewhere), "") << elsewhere;
    }
}

TEST(Field, MayGoOnlyWithSomeChoicesOfAnother)
{
    const OnlyWith& projections = draw_field::side.only;
    EXPECT_EQ(in_words(projections), R"(only with "tensor": "W_q", "W_k", "W_v", "W_o", "W_a", "U_a")");
    for (const Target with : {Target::W_q, Target::W_v, Target::W_o}) {
        EXPECT_TRUE(goes_with(projections, static_cast<Index>(with)));
    }
    for (const Target without : {Target::none, Target::value_embedding, Target::embeddings, Target::b_q}) {
        EXPECT_FALSE(goes_with(projections, static_cast<Index>(without)));
    }
    EXPECT_FALSE(goes_with(projections, FieldValue()));
    EXPECT_FALSE(goes_with(projections, std::string("W_q")));
}

TEST(Field, MayLeaveOutOneChoiceBetweenOthers)
{
    const OnlyWith& of_heads = draw_field::head.only;
    EXPECT_EQ(in_words(of_heads), R"(only with "tensor": "W_q", "W_k", "W_v", "W_a", "U_a", "b_q", "b_k", "b_v")");
    EXPECT_TRUE(goes_with(of_heads, static_cast<Index>(Target::b_v)));
    EXPECT_FALSE(goes_with(of_heads, static_cast<Index>(Target::W_o)));
}

template <typename Fields>
void expect_sound(const Fields& fields)
{
    std::set<std::string_view> keys;
    for (const FieldInfo* f : fields) {
        const Allowed& allowed = f->allowed;
        const bool twice = f->key == field::labels_of_ids.key || f->key == field::batch_of_ids.key; // of ids, of positions
        EXPECT_TRUE(keys.insert(f->key).second || twice) << f->key;
        EXPECT_TRUE(allowed.type == FieldType::choice || allowed.least <= allowed.most) << f->key;
        EXPECT_EQ(allowed.type == FieldType::choice, !allowed.names.empty()) << f->key;
        EXPECT_EQ(allowed.type == FieldType::real, !allowed.in_words.empty() && allowed.fewest == 0) << f->key;
    }
}

TEST(FieldTable, IsSound)
{
    expect_sound(field::all);
    expect_sound(draw_field::all);
    expect_sound(draw_field::literal);
}

/// A reader who goes through the table in order knows already what a field goes with.
TEST(FieldTable, NamesAFieldAfterTheOneThatItGoesWith)
{
    std::set<const FieldInfo*> before;
    for (const FieldInfo* f : field::all) {
        EXPECT_TRUE(f->only.other == nullptr || before.contains(f->only.other)) << f->key;
        before.insert(f);
    }
    for (const FieldInfo* f : draw_field::all) {
        EXPECT_TRUE(f->only.other == nullptr || before.contains(f->only.other)) << f->key;
        before.insert(f);
    }
}

} // namespace
