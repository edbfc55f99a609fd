#include "attn/io/recipe.hpp"
#include "attn/tensor/error.hpp"

#include <gtest/gtest.h>

namespace {

using namespace attn::model;
using attn::io::parse_recipe;

/// A recipe that holds, with `more` members in it.
std::string recipe(const std::string& more)
{
    return R"({"schema":"attn-cli/recipe/1","input":{"sentence":"a b"},"draws":[],)" + more + "}";
}

std::string error_of(const std::string& json)
{
    try {
        (void)parse_recipe(json);
    } catch (const attn::Error& error) {
        EXPECT_EQ(error.kind(), attn::ErrorKind::data) << json;
        return error.what();
    }
    return "no error";
}

TEST(RecipeParts, ReadsTheFileOfAMask)
{
    const std::string digest(64, 'a');
    const Recipe all = parse_recipe(recipe(R"("attention":{"mask":{"file":"m.npz","name":"m","sha256":")" + digest + R"("}})"));
    EXPECT_EQ(all.attention.mask, (attn::model::FileTensor{"m.npz", "m", digest}));
    const Recipe file = parse_recipe(recipe(R"("attention":{"mask":{"file":"m.npy"}})"));
    EXPECT_EQ(file.attention.mask, (attn::model::FileTensor{"m.npy", "", ""}));
}

TEST(RecipeParts, ReadsWhatStandsInFiles)
{
    const std::string digest(64, 'a');
    const Recipe read = parse_recipe(recipe(R"("parameters":{"file":"p.npz","prefix":"h.0","layout":"in-out",)"
                                            R"("output_projection":false,"allow_nonfinite":true,"sha256":")" +
                                            digest + R"("},"dims":{"key_dim":3,"value_dim":5})"));
    EXPECT_EQ(read.parameters, (FileParameters{"p.npz", "h.0", MatrixLayout::in_out, false, true, digest}));
    EXPECT_EQ(read.dims.key_dim, 3);
    EXPECT_EQ(read.dims.value_dim, 5);
    EXPECT_EQ(parse_recipe(recipe(R"("parameters":{"file":"p"})")).parameters, FileParameters{.file = "p"});
    EXPECT_EQ(error_of(recipe(R"("parameters":{})")), "parameters: key 'file' is missing");
    EXPECT_EQ(error_of(recipe(R"("parameters":{"file":"p","layout":"rows"})")),
              "parameters.layout: got 'rows'; allowed: in-out, out-in, run");
    EXPECT_EQ(error_of(recipe(R"("parameters":{"file":"p","sha256":""})")),
              "parameters.sha256: got ''; allowed: 64 hexadecimal digits in lower case");
    EXPECT_NE(error_of(recipe(R"("parameters":{"file":"p","tensor":"x"})")).find("got 'tensor'"), std::string::npos);
}

TEST(RecipeParts, ReadsPositions)
{
    const auto positions = [](const std::string& members) {
        return *parse_recipe(recipe(R"("attention":{"positions":{)" + members + "}}")).attention.positions;
    };
    EXPECT_EQ(positions(R"("kind":"sinusoidal")"), (Positions{.kind = PositionKind::sinusoidal}));
    EXPECT_EQ(positions(R"("kind":"alibi")"), (Positions{.kind = PositionKind::alibi}));
    EXPECT_EQ(positions(R"("kind":"rope")"), (Positions{.kind = PositionKind::rope}));
    EXPECT_EQ(positions(R"("kind":"rope","base":500000,"dim":4,"style":"interleaved")"),
              (Positions{PositionKind::rope, {500000, 4, attn::core::RopeStyle::interleaved}}));
    const auto refused = [](const std::string& members) {
        return error_of(recipe(R"("attention":{"positions":{)" + members + "}}"));
    };
    EXPECT_EQ(refused(R"("kind":"none")"), "attention.positions.kind: got 'none'; allowed: sinusoidal, rope, alibi");
    EXPECT_EQ(refused(R"("kind":"alibi","dim":2)"), R"(attention.positions.dim: got 2; allowed: only with "kind": "rope")");
    EXPECT_EQ(refused(R"("kind":"rope","dim":3)"), "attention.positions.dim: got 3; allowed: an even number");
    EXPECT_EQ(refused(R"("kind":"rope","base":0.5)"), "attention.positions.base: got 0.5; allowed: a finite number from 1");
}

} // namespace
