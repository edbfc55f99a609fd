#include "cli/options/options.hpp"

#include "attn/model/recipe/recipe_fields.hpp"
#include "unit/error_of.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace {

using namespace attn::cli;
using attn::Index;
using attn::model::FieldInfo;
using attn::model::FieldType;
using attn::model::FieldValue;
namespace field = attn::model::field;
namespace draw_field = attn::model::draw_field;

FieldValue value(const FieldInfo& field, std::string_view text)
{
    return value_of(option_name(field), text, field.allowed);
}

std::string refusal(const FieldInfo& field, std::string_view text)
{
    return error_of(attn::ErrorKind::usage, [&] { (void)value(field, text); });
}

TEST(OptionName, ComesFromTheKey)
{
    EXPECT_EQ(option_name(field::embed_dim), "--embed-dim");
    EXPECT_EQ(option_name(field::query), "--query");
    EXPECT_EQ(option_name(field::unknown), "--unknown");
    EXPECT_EQ(option_name(draw_field::seed), "--seed");
}

TEST(OptionName, IsAnotherWhereTheKeyWouldNotSay)
{
    EXPECT_EQ(option_name(field::parameters_file), "--params");
    EXPECT_EQ(option_name(field::embeddings_file), "--embeddings");
    EXPECT_EQ(option_name(field::words_file), "--set embeddings.words.file");
    EXPECT_EQ(option_name(field::mask_file), "--mask");
    EXPECT_EQ(option_name(field::positions), "--positions");
    EXPECT_EQ(option_name(field::rope_base), "--positions rope:base");
}

TEST(ValueOf, AnIntegerIsPlainAndInItsRange)
{
    int integers = 0;
    for (const FieldInfo* f : field::all) {
        const auto& allowed = f->allowed;
        if (allowed.type != FieldType::integer) {
            continue;
        }
        ++integers;
        EXPECT_EQ(value(*f, std::to_string(allowed.least)), FieldValue(allowed.least)) << f->key;
        EXPECT_EQ(value(*f, std::to_string(allowed.most)), FieldValue(allowed.most)) << f->key;
        const std::string range =
            "'; allowed: an integer from " + std::to_string(allowed.least) + " to " + std::to_string(allowed.most);
        std::vector<std::string> wrong{"-1", "010", "0x10", "1e3", "nan", "inf", "18446744073709551616",           "",
                                       " 4", "4 ",  "+4",   "4.0", "2,",  "٤",   std::to_string(allowed.least - 1)};
        if (allowed.most < std::numeric_limits<Index>::max()) {
            wrong.push_back(std::to_string(allowed.most + 1));
        }
        for (const std::string& text : wrong) {
            const std::string zeros = text == "010" ? ", without leading zeros" : "";
            EXPECT_EQ(refusal(*f, text), option_name(*f) + ": got '" + text + range + zeros) << f->key;
        }
    }
    EXPECT_GT(integers, 8);
    EXPECT_EQ(refusal(field::rope_dim, "3"), "--positions rope:dim: got '3'; allowed: an even number");
}

TEST(ValueOf, ASeedHas64Bits)
{
    EXPECT_EQ(value(draw_field::seed, "18446744073709551615"), FieldValue(std::uint64_t{18446744073709551615U}));
    for (const char* text : {"18446744073709551616", "-1", "010", "0x10", "1e3", "nan", "", "1.5", "+1"}) {
        EXPECT_EQ(refusal(draw_field::seed, text), "--seed: got '" + std::string(text) +
                                                       "'; allowed: an integer from 0 to 18446744073709551615" +
                                                       (std::string_view(text) == "010" ? ", without leading zeros" : ""));
    }
}

TEST(ValueOf, ANumberIsFiniteAndInItsRange)
{
    EXPECT_EQ(value(field::scale, "-1e-3"), FieldValue(-1e-3));
    EXPECT_EQ(value(field::scale, "none"), FieldValue(1.0));
    EXPECT_EQ(value(field::softcap, "1e-300"), FieldValue(1e-300));
    EXPECT_EQ(value(field::rope_base, "1"), FieldValue(1.0));
    for (const char* text : {"nan", "inf", "-inf", "1e999", "", "None", "0x1", " 1", "+1", "1,5"}) {
        EXPECT_EQ(refusal(field::scale, text),
                  "--scale: got '" + std::string(text) + "'; allowed: none, or a finite number such as 0.25 or 1e-3");
    }
    for (const char* text : {"0", "0.0", "-0"}) {
        EXPECT_EQ(value(field::softcap, text), FieldValue()) << text;
    }
    for (const char* text : {"-1", "nan", "inf", "none", "", "1e999", "1e-999"}) {
        EXPECT_EQ(refusal(field::softcap, text),
                  "--softcap: got '" + std::string(text) + "'; allowed: a finite number above 0 such as 30, or 0 for none");
    }
    EXPECT_EQ(refusal(field::rope_base, "0.5"),
              "--positions rope:base: got '0.5'; allowed: a finite number from 1, such as 500000");
}

TEST(ValueOf, AWindowHasOneOrTwoSides)
{
    EXPECT_EQ(value(field::window, "3"), FieldValue(std::vector<Index>{3, 3}));
    EXPECT_EQ(value(field::window, "2,-1"), FieldValue(std::vector<Index>{2, -1}));
    EXPECT_EQ(refusal(field::window, "1,2,3"), "--window: got '1,2,3'; allowed: one number for both sides, or two: L,R");
    for (const char* text : {"", "1,", "-2", "01", "1.5", "2147483648", "none", "+1"}) {
        EXPECT_TRUE(refusal(field::window, text).starts_with("--window: got '")) << text;
    }
}

TEST(ValueOf, AListHasSingleCommas)
{
    EXPECT_EQ(value(field::ids, " 2, 6 ,8"), FieldValue(std::vector<Index>{2, 6, 8}));
    EXPECT_EQ(value(field::labels_of_ids, "my,name"), FieldValue(std::vector<std::string>{"my", "name"}));
    for (const char* text : {"", ",", "1,", ",1", "1,,2", "-1", "+1", "01", "0x1", "1e0", "1.0", "a", "2147483648", "1;2"}) {
        EXPECT_TRUE(refusal(field::ids, text).starts_with("--ids: got '")) << text;
    }
}

TEST(ValueOf, DigitsOfAQueryAreAPosition)
{
    EXPECT_EQ(value(field::query, "is,3,3rd,-1"), FieldValue(std::vector<std::string>{"is", "3", "3rd", "-1"}));
    for (const char* text : {"", "is,", "010", "99999999999999999999"}) {
        EXPECT_TRUE(refusal(field::query, text).starts_with("--query: got '")) << text;
    }
}

TEST(ValueOf, AChoiceIsOneOfItsNames)
{
    for (const FieldInfo* f : field::all) {
        for (std::size_t place = 0; place < f->allowed.names.size(); ++place) {
            EXPECT_EQ(value(*f, f->allowed.names[place]), FieldValue(static_cast<Index>(place))) << f->key;
        }
    }
    EXPECT_EQ(refusal(field::dtype, "flota32"), "--dtype: got 'flota32'; allowed: float32, float64; did you mean 'float32'?");
}

} // namespace
