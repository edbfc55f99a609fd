#include "attn/io/json/recipe.hpp"

#include "attn/io/builtin.hpp"
#include "unit/error_of.hpp"

#include <algorithm>
#include <gtest/gtest.h>

#include <limits>

namespace {

using namespace attn::model;
using attn::Dtype;
using attn::Index;
using attn::io::parse_recipe;

/// A recipe that holds, with `more` members in it.
std::string recipe(const std::string& more, const std::string& input = R"({"sentence":"a b"})", const std::string& draws = "[]")
{
    return R"({"schema":"attn-cli/recipe/1","input":)" + input + R"(,"draws":)" + draws + (more.empty() ? "" : "," + more) +
           "}";
}

Recipe with_input(const std::string& input)
{
    return parse_recipe(recipe("", input));
}

std::vector<Step> with_draws(const std::string& draws)
{
    return parse_recipe(recipe("", R"({"sentence":"a"})", draws)).draws;
}

std::string recipe_error(const std::string& json)
{
    SCOPED_TRACE(json);
    return error_of([&] { (void)parse_recipe(json); });
}

std::string draw_error(const std::string& draw)
{
    return recipe_error(recipe("", R"({"sentence":"a"})", "[" + draw + "]"));
}

TEST(Recipe, TakesItsDefaultsWhereNothingIsSaid)
{
    const Recipe read = parse_recipe(recipe(""));
    EXPECT_EQ(read.name, "");
    EXPECT_EQ(std::get<SentenceInput>(read.input), (SentenceInput{"a b", std::nullopt, Tokenizer::document, false}));
    EXPECT_EQ(read.generator, Generator::torch);
    EXPECT_EQ(read.dtype, Dtype::float32);
    EXPECT_EQ(read.dims, Dims{});
    EXPECT_EQ(read.attention, Attention{});
    EXPECT_TRUE(read.query.empty());
    EXPECT_FALSE(read.verify);
    EXPECT_TRUE(read.published.empty());
    EXPECT_TRUE(read.precision.empty());
}

TEST(Recipe, ReadsEveryMember)
{
    const Recipe read = parse_recipe(recipe(
        R"("name":"n","title":"t","source":"s","note":"free","generator":"numpy-pcg64","dtype":"float64","rounding":"step",
           "dims":{"embed_dim":8,"heads":4,"kv_heads":2,"d_k":3,"d_v":5,"vocab_size":1048576},
           "attention":{"causal":true,"window":[2,-1],"scale":-0.5,"softcap":30.0,"scores":"KQ"},
           "query":["is",3,"04"],"verify":true,"precision":[{"array":"context","atol":1e-6}])"));
    EXPECT_EQ(read.name + read.title + read.source, "nts");
    EXPECT_EQ(read.generator, Generator::numpy_pcg64);
    EXPECT_EQ(read.dtype, Dtype::float64);
    EXPECT_EQ(read.rounding, attn::core::Rounding::step);
    EXPECT_EQ(read.dims, (Dims{8, 4, 2, 3, 5, 1048576}));
    EXPECT_EQ(read.attention, (Attention{{.scale = -0.5, .softcap = 30, .causal = true, .window = attn::core::Window{2, -1}},
                                         ScoreOrder::key_query}));
    EXPECT_EQ(read.query, (std::vector<std::string>{"is", "3", "04"}));
    EXPECT_TRUE(read.verify);
    ASSERT_EQ(read.precision.size(), 1U);
    EXPECT_EQ(read.precision[0].array, "context");
    EXPECT_EQ(read.precision[0].atol, 1e-6);
    EXPECT_EQ(parse_recipe(recipe(R"("generator":"numpy","attention":{"scale":"none"})")).attention.scale, 1.0);
}

TEST(Recipe, ReadsTheThreeInputs)
{
    EXPECT_EQ(std::get<SentenceInput>(with_input(R"({"sentence":"x","cross":"y","tokenizer":"words","casefold":true})").input),
              (SentenceInput{"x", "y", Tokenizer::words, true}));
    EXPECT_EQ(std::get<IdsInput>(with_input(R"({"ids":[2,0,2147483646],"labels":["a","b","c"]})").input),
              (IdsInput{{2, 0, 2147483646}, {"a", "b", "c"}}));
    EXPECT_EQ(std::get<IdsInput>(with_input(R"({"ids":[7]})").input), (IdsInput{{7}, {}}));
    EXPECT_EQ(std::get<PositionsInput>(with_input(R"({"positions":2,"labels":["a","b"]})").input),
              (PositionsInput{2, {"a", "b"}}));
}

TEST(Recipe, ReadsBatches)
{
    const std::vector<std::string> texts{"x y", "z"};
    EXPECT_EQ(std::get<SentenceInput>(with_input(R"({"sentence":["x y","z"],"casefold":true})").input),
              (SentenceInput{.sentence = "", .cross = {}, .casefold = true, .batch = texts}));
    EXPECT_EQ(std::get<IdsInput>(with_input(R"({"ids":[2,0],"batch":2})").input), (IdsInput{{2, 0}, {}, 2}));
    EXPECT_EQ(std::get<PositionsInput>(with_input(R"({"positions":2,"batch":3})").input), (PositionsInput{2, {}, 3}));
    EXPECT_EQ(parse_recipe(recipe(R"("entry":1)")).entry, 1);
    EXPECT_EQ(recipe_error(recipe("", R"({"sentence":[]})")),
              "input.sentence: got an array of 0 elements; allowed: a sentence, or a batch of 1 to 1024");
}

TEST(Recipe, RefusesInputsThatAreNoneOrTwo)
{
    const std::string one = "allowed: exactly one of sentence, ids, positions";
    for (const char* input : {"{}", R"({"sentence":"a","ids":[1]})", R"({"ids":[1],"positions":1})"}) {
        EXPECT_NE(recipe_error(recipe("", input)).find(one), std::string::npos) << input;
    }
    EXPECT_EQ(recipe_error(recipe("", R"({"ids":[1],"casefold":true})")),
              "input: key: got 'casefold'; allowed: ids, batch, labels");
    EXPECT_EQ(recipe_error(recipe("", R"({"ids":[]})")), "input.ids: got an array of 0 elements; allowed: at least one id");
    EXPECT_EQ(recipe_error(recipe("", R"({"ids":[1,-1]})")), "input.ids[1]: got -1; allowed: an integer from 0 to 2147483646");
    EXPECT_EQ(recipe_error(recipe("", R"({"ids":[1,2],"labels":["a"]})")),
              "input.labels: got an array of 1 element; allowed: a label for each of 2");
    EXPECT_EQ(recipe_error(recipe("", R"({"positions":0})")), "input.positions: got 0; allowed: an integer from 1 to 1048576");
    EXPECT_EQ(recipe_error(recipe("", R"({"sentence":3})")), "input.sentence: got 3; allowed: a string");
}

TEST(Recipe, ReadsSeedsExactly)
{
    const std::vector<Step> steps = with_draws(R"([{"seed":0},{"seed":9007199254740993},{"seed":18446744073709551615}])");
    EXPECT_EQ(std::get<Seed>(steps[1]).value, 9007199254740993U); // no double holds it
    EXPECT_EQ(std::get<Seed>(steps[2]).value, 18446744073709551615U);
    for (const char* seed : {"-1", "1.0", "1e3", "18446744073709551616", "\"1\""}) {
        EXPECT_NE(draw_error(std::string(R"({"seed":)") + seed + "}").find("draws[0].seed: got "), std::string::npos);
    }
    EXPECT_EQ(draw_error(R"({"seed":1,"init":"normal"})"), "draws[0]: key: got 'init'; allowed: seed");
}

TEST(Recipe, ReadsDraws)
{
    const std::vector<Step> steps = with_draws(R"([
        {"tensor":"embedding","init":"normal","mean":0.5,"std":2},
        {"tensor":"W_q","init":"uniform","low":-1,"high":1e-3,"side":"right","shape":["H","d_k",16],"take":[0]},
        {"tensor":"b_o","init":"linear"},
        {"discard":true,"init":"normal","shape":[3,"H_kv*d_v*T"]},
        {"tensor":"W_k","init":"integers","low":-2,"high":3.0}])");
    EXPECT_EQ(std::get<Draw>(steps[0]), (Draw{Target::embedding, Initialisation::normal, 0.5, 2, {}, {}, {}}));
    EXPECT_EQ(
        std::get<Draw>(steps[1]),
        (Draw{Target::W_q, Initialisation::uniform, -1, 1e-3, Side::right, std::vector<Length>{"H", "d_k", Index{16}}, {0}}));
    EXPECT_EQ(std::get<Draw>(steps[2]), (Draw{Target::b_o, Initialisation::linear, 0, 1, {}, {}, {}}));
    EXPECT_EQ(std::get<Draw>(steps[3]),
              (Draw{Target::none, Initialisation::normal, 0, 1, {}, std::vector<Length>{Index{3}, "H_kv*d_v*T"}, {}}));
    EXPECT_EQ(std::get<Draw>(steps[4]), (Draw{Target::W_k, Initialisation::integers, -2, 3, {}, {}, {}}));
}

TEST(Recipe, ReadsTensorsThatAreStated)
{
    const std::vector<Step> steps = with_draws(R"([{"tensor":"W_q","values":[[0.1,-0.0],[1e-400,16777217]],"side":"right"},
        {"tensor":"b_q","values":[16777217.0,-3]}])");
    const auto& matrix = std::get<Draw>(steps[0]);
    EXPECT_EQ(matrix.side, Side::right);
    EXPECT_EQ(*matrix.values, (Literal{.shape = {2, 2}, .values = {0.1, -0.0, 0, 16777217}, .integers = {3}}));
    EXPECT_EQ(*std::get<Draw>(steps[1]).values, (Literal{.shape = {2}, .values = {16777217, -3}}));
    for (const auto& [draw, error] : std::initializer_list<std::pair<const char*, const char*>>{
             {R"({"tensor":"W_q","values":[[1,2],[3]]})",
              "draws[0].values[1]: got an array of 1 element; allowed: an array of 2 elements, as before it"},
             {R"({"tensor":"W_q","values":[1,"2"]})", "draws[0].values[1]: got '2'; allowed: numbers"},
             {R"({"tensor":"W_q","values":[[]]})", "draws[0].values: got arrays without a value; allowed: at least one value"},
             {R"({"tensor":"W_q","values":[1],"init":"normal"})",
              R"(draws[0].init: got 'normal'; allowed: only without "values")"},
             {R"({"tensor":"b_q","values":[1],"side":"left"})",
              R"(draws[0].side: got 'left'; allowed: only with "tensor": "W_q", "W_k", "W_v", "W_o", "W_a", "U_a")"},
             {R"({"tensor":"b_q","values":[9007199254740993]})",
              "draws[0].values at (0,): got 9007199254740993; allowed: an integer that float64 holds exactly, such as "
              "9007199254740992"},
         }) {
        EXPECT_EQ(draw_error(draw), error) << draw;
    }
}

TEST(Recipe, ReadsAMaskThatIsStated)
{
    const auto mask = [](const std::string& values) {
        return *parse_recipe(recipe(R"("attention":{"mask":{"values":)" + values + "}}")).attention.mask_values;
    };
    constexpr double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(mask("[[true,false]]"), (Literal{.shape = {1, 2}, .values = {1, 0}, .truths = true}));
    EXPECT_EQ(mask(R"([0,null,"-inf",2])"), (Literal{.shape = {4}, .values = {0, -infinity, -infinity, 2}}));
    EXPECT_EQ(recipe_error(recipe(R"("attention":{"mask":{}})")),
              "attention.mask: got an object of 0 members; allowed: exactly one of file, values");
}

TEST(Recipe, KnowsEveryTargetByItsName)
{
    const std::vector<std::pair<const char*, Target>> targets{{"embedding", Target::embedding},
                                                              {"embeddings", Target::embeddings},
                                                              {"key_embeddings", Target::key_embeddings},
                                                              {"W_q", Target::W_q},
                                                              {"W_k", Target::W_k},
                                                              {"W_v", Target::W_v},
                                                              {"W_o", Target::W_o},
                                                              {"b_q", Target::b_q},
                                                              {"b_k", Target::b_k},
                                                              {"b_v", Target::b_v},
                                                              {"b_o", Target::b_o}};
    for (const auto& [name, target] : targets) {
        const auto steps = with_draws(std::string(R"([{"tensor":")") + name + R"(","init":"xavier"}])");
        EXPECT_EQ(std::get<Draw>(steps[0]).target, target);
        EXPECT_EQ(std::get<Draw>(steps[0]).init, Initialisation::xavier);
    }
    EXPECT_EQ(std::get<Draw>(with_draws(R"([{"tensor":"W_q","init":"identity"}])")[0]).init, Initialisation::identity);
}

TEST(Recipe, RefusesDrawsThatContradictThemselves)
{
    const std::vector<std::pair<const char*, const char*>> cases{
        {R"({"init":"normal"})",
         R"(draws[0]: got an object of 1 member; allowed: one of seed, tensor, discard; or "init": "multihead_attention" without them)"},
        {R"({"tensor":"W_q","discard":true,"init":"normal"})",
         R"(draws[0]: got an object of 3 members; allowed: one of seed, tensor, discard; or "init": "multihead_attention" without them)"},
        {R"({"discard":false,"init":"normal","shape":[1]})", "draws[0].discard: got false; allowed: true"},
        {R"({"discard":true,"init":"normal"})", "draws[0]: key 'shape' is missing"},
        {R"({"discard":true,"init":"normal","shape":[1],"side":"left"})",
         R"(draws[0].side: got 'left'; allowed: only with "tensor": "W_q", "W_k", "W_v", "W_o", "W_a", "U_a")"},
        {R"({"discard":true,"init":"normal","shape":[1],"take":[0]})",
         "draws[0].take: got an array of 1 element; allowed: only with tensor"},
        {R"({"tensor":"W_q"})", "draws[0]: key 'init' is missing"},
        {R"({"tensor":"W_x","init":"normal"})",
         "draws[0].tensor: got 'W_x'; allowed: embedding, key_embedding, value_embedding, position_embedding, embeddings, "
         "key_embeddings, queries, keys, values, W_q, W_k, W_v, W_o, W_a, U_a, b_q, b_k, b_v, b_o, bias_k, bias_v, v_a, b_Wa, "
         "b_Ua, b_va; did you mean 'W_q'?"},
        {R"({"tensor":"W_q","init":"gauss"})",
         "draws[0].init: got 'gauss'; allowed: zeros, integers, uniform, normal, linear, xavier, xavier_normal, "
         "kaiming_uniform, kaiming_normal, identity, multihead_attention"},
        {R"({"tensor":"W_q","init":"normal","low":0})",
         R"(draws[0].low: got 0; allowed: only with "init": "integers", "uniform")"},
        {R"({"tensor":"W_q","init":"integers"})", "draws[0]: key 'high' is missing"},
        {R"({"tensor":"W_q","init":"integers","high":0})",
         "draws[0]: low and high: got 0 and 0; allowed: low < high, since high itself is not drawn"},
        {R"({"tensor":"W_q","init":"integers","low":4,"high":3})",
         "draws[0]: low and high: got 4 and 3; allowed: low < high, since high itself is not drawn"},
        {R"({"tensor":"W_q","init":"integers","high":2.5})",
         "draws[0].high: got 2.5; allowed: a whole number, -9007199254740992 to 9007199254740992"},
        {R"({"discard":true,"init":"integers","shape":[1],"low":-9007199254740994,"high":1})",
         "draws[0].low: got -9007199254740994; allowed: a whole number, -9007199254740992 to 9007199254740992"},
        {R"({"tensor":"W_q","init":"linear","std":1})", "draws[0].std: got 1; allowed: only with \"init\": \"normal\""},
        {R"({"tensor":"W_q","init":"xavier","gain":-1})", "draws[0].gain: got -1; allowed: a finite number, 0 or more"},
        {R"({"tensor":"W_q","init":"linear","gain":2})",
         R"(draws[0].gain: got 2; allowed: only with "init": "xavier", "xavier_normal")"},
        {R"({"tensor":"W_q","init":"xavier","mode":"fan_in"})",
         R"(draws[0].mode: got 'fan_in'; allowed: only with "init": "kaiming_uniform", "kaiming_normal")"},
        {R"({"tensor":"W_q","init":"kaiming_normal","mode":"fan"})", "draws[0].mode: got 'fan'; allowed: fan_in, fan_out"},
        {R"({"tensor":"embeddings","init":"normal","padding_idx":0})",
         R"(draws[0].padding_idx: got 0; allowed: only with "tensor": "embedding", "key_embedding", "value_embedding")"},
        {R"({"tensor":"W_o","init":"linear","head":0})",
         R"(draws[0].head: got 0; allowed: only with "tensor": "W_q", "W_k", "W_v", "W_a", "U_a", "b_q", "b_k", "b_v")"},
        {R"({"tensor":"W_q","init":"linear","head":65536})", "draws[0].head: got 65536; allowed: an integer from 0 to 65535"},
        {R"({"tensor":"W_q","init":"multihead_attention"})", "draws[0]: key: got 'tensor'; allowed: init, bias, add_bias_kv"},
        {R"({"init":"multihead_attention","shape":[1]})", "draws[0]: key: got 'shape'; allowed: init, bias, add_bias_kv"},
        {R"({"tensor":"W_q","init":"linear","bias":true})",
         R"(draws[0].bias: got true; allowed: only with "init": "multihead_attention")"},
        {R"({"tensor":"W_q","init":"normal","std":-1})", "draws[0].std: got -1; allowed: a finite number, 0 or more"},
        {R"({"tensor":"W_q","init":"uniform","low":2})",
         "draws[0]: low and high: got 2 and 1; allowed: low ≤ high, and high - low finite"},
        {R"({"tensor":"W_q","init":"uniform","low":-1.7e308,"high":1.7e308})",
         "draws[0]: low and high: got -1.7e308 and 1.7e308; allowed: low ≤ high, and high - low finite"},
        {R"({"tensor":"W_q","init":"uniform","low":2,"high":1})",
         "draws[0]: low and high: got 2 and 1; allowed: low ≤ high, and high - low finite"},
        {R"({"tensor":"W_q","init":"uniform","high":-0.5})",
         "draws[0]: low and high: got 0 and -0.5; allowed: low ≤ high, and high - low finite"},
        {R"({"tensor":"embedding","init":"normal","side":"left"})",
         R"(draws[0].side: got 'left'; allowed: only with "tensor": "W_q", "W_k", "W_v", "W_o", "W_a", "U_a")"},
        {R"({"tensor":"W_q","init":"normal","side":"top"})", "draws[0].side: got 'top'; allowed: left, right"},
        {R"({"tensor":"W_q","init":"normal","take":[0]})", "draws[0]: key 'shape' is missing"},
        {R"({"tensor":"W_q","init":"normal","shape":[2,3],"take":[2]})",
         "draws[0].take[0]: got 2; allowed: an integer from 0 to 1"},
        {R"({"tensor":"W_q","init":"normal","shape":["T"],"take":[0,0]})",
         "draws[0].take: got an array of 2 elements; allowed: at most one index for each of the 1 dimensions of shape"},
        {R"({"tensor":"W_q","init":"normal","shape":[]})",
         "draws[0].shape: got an array of 0 elements; allowed: 1 to 8 lengths"},
        {R"({"tensor":"W_q","init":"normal","shape":[0]})", "draws[0].shape[0]: got 0; allowed: an integer from 1 to 1048576"},
        {R"({"tensor":"W_q","init":"normal","colour":1})",
         "draws[0]: key: got 'colour'; allowed: seed, tensor, discard, init, low, high, mean, std, gain, a, mode, padding_idx, "
         "bias, add_bias_kv, head, side, shape, take, values"},
    };
    for (const auto& [draw, message] : cases) {
        EXPECT_EQ(draw_error(draw), message) << draw;
    }
}

TEST(Recipe, RefusesLengthsThatAreNoProductOfLetters)
{
    for (const char* length :
         {"\"\"", "\"B\"", "\"H*\"", "\"*H\"", "\"H**D\"", "\"H*2\"", "\"H * D\"", "\"d_q\"", "2.5", "null"}) {
        const std::string message = draw_error(std::string(R"({"discard":true,"init":"normal","shape":[)") + length + "]}");
        EXPECT_EQ(message.substr(0, 23), "draws[0].shape[0]: got ") << message;
    }
}

TEST(Recipe, RefusesAttentionOptionsOutOfRange)
{
    const std::vector<std::pair<const char*, const char*>> cases{
        {R"({"window":[1]})", "attention.window: got an array of 1 element; allowed: [left, right]"},
        {R"({"window":[1,-2]})", "attention.window[1]: got -2; allowed: an integer from -1 to 2147483647"},
        {R"({"window":[1,2147483649]})", "attention.window[1]: got 2147483649; allowed: an integer from -1 to 2147483647"},
        {R"({"scale":"half"})",
         "attention.scale: got the string 'half'; allowed: none, or a finite number such as 0.25 or 1e-3"},
        {R"({"softcap":-1})", "attention.softcap: got -1; allowed: a finite number above 0 such as 30, or 0 for none"},
        {R"({"causal":1})", "attention.causal: got 1; allowed: true or false"},
        {R"({"scores":"QQ"})", "attention.scores: got 'QQ'; allowed: QK, KQ"},
        {R"({"mask":{"file":"m","sha256":"AB"}})",
         "attention.mask.sha256: got 'AB'; allowed: 64 hexadecimal digits in lower case"},
    };
    for (const auto& [attention, message] : cases) {
        EXPECT_EQ(recipe_error(recipe(std::string(R"("attention":)") + attention)), message);
    }
}

TEST(Recipe, RefusesOtherDocumentsAndWrongMembers)
{
    EXPECT_EQ(recipe_error("[]"), "JSON: got an array of 0 elements; allowed: an object");
    EXPECT_EQ(recipe_error("{}"), "JSON: key 'schema' is missing");
    EXPECT_EQ(recipe_error(R"({"schema":"attn-cli/recipe/2"})"), "schema: got 'attn-cli/recipe/2'; allowed: attn-cli/recipe/1");
    EXPECT_EQ(recipe_error(R"({"schema":"attn-cli/recipe/1"})"), "JSON: key 'input' is missing");
    EXPECT_EQ(recipe_error(recipe(R"("seed":3)")).substr(0, 33), "key: got 'seed'; allowed: schema,");
    EXPECT_EQ(recipe_error(recipe(R"("dims":{"heads":0})")), "dims.heads: got 0; allowed: an integer from 1 to 65536");
    EXPECT_EQ(recipe_error(recipe(R"("dims":{"heads":2.0})")), "dims.heads: got 2.0; allowed: an integer from 1 to 65536");
    EXPECT_EQ(recipe_error(recipe(R"("query":[-1])")), "query[0]: got -1; allowed: an integer from 0 to 2147483647");
    EXPECT_EQ(recipe_error(recipe(R"("query":"is")")), "query: got the string 'is'; allowed: an array");
    EXPECT_EQ(recipe_error(recipe(R"("generator":"jax")")), "generator: got 'jax'; allowed: torch, numpy, numpy-pcg64");
    EXPECT_EQ(recipe_error(recipe(R"("dtype":"float16")")), "dtype: got 'float16'; allowed: float32, float64");
    EXPECT_EQ(recipe_error(recipe(R"("rounding":"up")")), "rounding: got 'up'; allowed: stage, step");
    EXPECT_EQ(recipe_error(recipe(R"("note":1)")), "note: got 1; allowed: a string");
}

TEST(Recipe, ReadsTheFileOfAMask)
{
    const std::string digest(64, 'a');
    const Recipe all = parse_recipe(recipe(R"("attention":{"mask":{"file":"m.npz","name":"m","sha256":")" + digest + R"("}})"));
    EXPECT_EQ(all.attention.mask, (FileTensor{"m.npz", "m", digest}));
    const Recipe file = parse_recipe(recipe(R"("attention":{"mask":{"file":"m.npy"}})"));
    EXPECT_EQ(file.attention.mask, (FileTensor{"m.npy", "", ""}));
}

TEST(Recipe, ReadsWhatStandsInFiles)
{
    const std::string digest(64, 'a');
    const Recipe read = parse_recipe(recipe(R"("parameters":{"file":"p.npz","prefix":"h.0","layout":"in-out",)"
                                            R"("output_projection":false,"allow_nonfinite":true,"sha256":")" +
                                            digest + R"("},"dims":{"key_dim":3,"value_dim":5})"));
    EXPECT_EQ(read.parameters, (FileParameters{"p.npz", "h.0", MatrixLayout::in_out, false, true, digest}));
    EXPECT_EQ(read.dims.key_dim, 3);
    EXPECT_EQ(read.dims.value_dim, 5);
    EXPECT_EQ(parse_recipe(recipe(R"("parameters":{"file":"p"})")).parameters, FileParameters{.file = "p"});
    EXPECT_EQ(recipe_error(recipe(R"("parameters":{})")), "parameters: key 'file' is missing");
    EXPECT_EQ(recipe_error(recipe(R"("parameters":{"file":"p","layout":"rows"})")),
              "parameters.layout: got 'rows'; allowed: in-out, out-in, run");
    EXPECT_EQ(recipe_error(recipe(R"("parameters":{"file":"p","sha256":""})")),
              "parameters.sha256: got ''; allowed: 64 hexadecimal digits in lower case");
    EXPECT_NE(recipe_error(recipe(R"("parameters":{"file":"p","tensor":"x"})")).find("got 'tensor'"), std::string::npos);
}

TEST(Recipe, ReadsPositions)
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
        return recipe_error(recipe(R"("attention":{"positions":{)" + members + "}}"));
    };
    EXPECT_EQ(refused(R"("kind":"none")"), "attention.positions.kind: got 'none'; allowed: sinusoidal, rope, alibi");
    EXPECT_EQ(refused(R"("kind":"alibi","dim":2)"), R"(attention.positions.dim: got 2; allowed: only with "kind": "rope")");
    EXPECT_EQ(refused(R"("kind":"rope","dim":3)"), "attention.positions.dim: got 3; allowed: an even number");
    EXPECT_EQ(refused(R"("kind":"rope","base":0.5)"),
              "attention.positions.base: got 0.5; allowed: a finite number from 1, such as 500000");
}

// ---- published numbers -----------------------------------------------------------------------------------------------

Published statement(const std::string& members)
{
    return parse_recipe(recipe(R"("published":[{)" + members + "}]")).published.at(0);
}

std::string statement_error(const std::string& members)
{
    return recipe_error(recipe(R"("published":[{)" + members + "}]"));
}

TEST(Published, StringsArePrintedDigits)
{
    const Published read = statement(R"("array":"weights","at":[0,null,2],"values":["0.0185","-1.4928e-02"],"units":1)");
    EXPECT_EQ(read.array, "weights");
    EXPECT_EQ(read.at, (std::vector<std::optional<Index>>{0, std::nullopt, 2}));
    EXPECT_EQ(read.shape, attn::Shape{2});
    EXPECT_EQ(read.values, (attn::TextList{"0.0185", "-1.4928e-02"}));
    EXPECT_TRUE(read.printed);
    EXPECT_EQ(read.units, 1.0);
}

TEST(Published, NumbersAreComputedOnesWithTolerances)
{
    const Published read =
        statement(R"("array":"W_q","values":[[1.50,-0],[null,1e-30]],"rtol":2e-5,"atol":1,"dtype":"float64","shape":[2,2])");
    EXPECT_EQ(read.shape, (attn::Shape{2, 2}));
    EXPECT_EQ(read.values, (attn::TextList{"1.50", "-0", "null", "1e-30"}));
    EXPECT_FALSE(read.printed);
    EXPECT_EQ(read.rtol, 2e-5);
    EXPECT_EQ(read.atol, 1.0);
    EXPECT_EQ(read.dtype, Dtype::float64);
    const Published scalar = statement(R"("array":"weights","at":[0,0,0],"values":"0.5")");
    EXPECT_EQ(scalar.shape, attn::Shape{});
    EXPECT_TRUE(scalar.printed);
}

TEST(Published, WordsAndVocabulary)
{
    const Published tokens = statement(R"("array":"tokens","values":["Life","is"])");
    EXPECT_EQ(tokens.values, (attn::TextList{"Life", "is"}));
    EXPECT_FALSE(tokens.printed);
    const Published vocabulary = statement(R"("array":"vocabulary","values":{"b":0,"a":1})");
    EXPECT_EQ(vocabulary.shape, (attn::Shape{2, 2}));
    EXPECT_EQ(vocabulary.values, (attn::TextList{"b", "0", "a", "1"}));
}

TEST(Published, AShapeAlone)
{
    const Published read = statement(R"("array":"keys","at":[0],"shape":[6,24])");
    EXPECT_EQ(read.shape, (attn::Shape{6, 24}));
    EXPECT_TRUE(read.values.empty());
}

TEST(Published, RefusesWhatMakesNoSense)
{
    const std::string name = "allowed: an array of the result, such as weights, or a parameter, such as W_q";
    const std::string mixed =
        "allowed: all strings, each a float64 as printed (\"0.0185\", \"1.4928e-02\"), or all numbers; null where a score is "
        "masked";
    const std::vector<std::pair<const char*, std::string>> cases{
        {R"("array":"weight","shape":[1])", "published[0].array: got 'weight'; " + name},
        {R"("array":"parameters","shape":[1])", "published[0].array: got 'parameters'; " + name},
        {R"("array":"query_positions","shape":[1])", "published[0].array: got 'query_positions'; " + name},
        {R"("array":"present_key","shape":[1])", "published[0].array: got 'present_key'; " + name},
        {R"("array":"summary","shape":[1])", "published[0].array: got 'summary'; " + name},
        {R"("array":3,"shape":[1])", "published[0].array: got 3; " + name},
        {R"("array":"weights")", "published[0]: got an object of 1 member; allowed: values, shape, or both"},
        {R"("array":"weights","values":[1,"2"])", "published[0].values[1]: got '2'; " + mixed},
        {R"("array":"weights","values":["1",2])", "published[0].values[1]: got 2; " + mixed},
        {R"("array":"weights","values":["0.5x"])", "published[0].values[0]: got '0.5x'; " + mixed},
        {R"("array":"weights","values":["12.5e-01"])", "published[0].values[0]: got '12.5e-01'; " + mixed},
        {R"("array":"weights","values":["1e999"])", "published[0].values[0]: got '1e999'; " + mixed},
        {R"("array":"weights","values":["null"])", "published[0].values[0]: got 'null'; " + mixed},
        {R"("array":"weights","values":["1"],"units":9223372036854775808)",
         "published[0].units: got 9223372036854775808; allowed: 0 to 1000000"},
        {R"("array":"weights","values":["1"],"units":-1)", "published[0].units: got -1; allowed: 0 to 1000000"},
        {R"("array":"weights","values":["1"],"units":1000000.5)", "published[0].units: got 1000000.5; allowed: 0 to 1000000"},
        {R"("array":"weights","values":[true])", "published[0].values[0]: got true; " + mixed},
        {R"("array":"weights","values":{"a":1})", "published[0].values: got an object of 1 member; " + mixed},
        {R"("array":"weights","values":[])", "published[0].values: got an array of 0 elements; allowed: at least one value"},
        {R"("array":"weights","values":[[1],[2,3]])",
         "published[0].values[1]: got an array of 2 elements; allowed: an array of 1 element, as before it"},
        {R"("array":"weights","values":[1],"shape":[2])",
         "published[0].shape: got an array of 1 element; allowed: the shape of values, (1,)"},
        {R"("array":"weights","values":["1"],"rtol":1)",
         "published[0].rtol: got 1; allowed: only with computed values (numbers)"},
        {R"("array":"weights","shape":[1],"atol":1)", "published[0].atol: got 1; allowed: only with computed values (numbers)"},
        {R"("array":"weights","values":[1],"units":1)",
         "published[0].units: got 1; allowed: only with printed values (strings)"},
        {R"("array":"weights","values":[1],"rtol":-1)", "published[0].rtol: got -1; allowed: a finite number, 0 or more"},
        {R"("array":"weights","at":[-1],"shape":[1])",
         "published[0].at[0]: got -1; allowed: an integer from 0 to 2147483648, or null"},
        {R"("array":"tokens","values":[1])", "published[0].values[0]: got 1; allowed: a string"},
        {R"("array":"vocabulary","values":["a"])", "published[0].values: got an array of 1 element; allowed: an object"},
        {R"("array":"vocabulary","values":{"a b":-1})",
         "published[0].values['a b']: got -1; allowed: an integer from 0 to 2147483648"},
        {R"("array":"weights","shape":[1,1,1,1,1,1,1,1,1])",
         "published[0].shape: got an array of 9 elements; allowed: at most 8 lengths"},
    };
    for (const auto& [members, message] : cases) {
        EXPECT_EQ(statement_error(members), message) << members;
    }
    EXPECT_EQ(recipe_error(recipe(R"("precision":[{"array":"context","rtol":null}])")),
              "precision[0].rtol: got null; allowed: a finite number, 0 or more");
}

// ---- the built-in ones -----------------------------------------------------------------------------------------------

TEST(Builtin, HoldsRecipesAndSchemasByName)
{
    std::vector<std::string> names;
    for (const auto& file : attn::io::builtin_recipes()) {
        names.emplace_back(file.name);
        EXPECT_EQ(parse_recipe(file.contents).name, file.name);
        EXPECT_TRUE(file.contents.ends_with("}\n")); // byte by byte, to the last one
    }
    EXPECT_TRUE(std::ranges::is_sorted(names)); // each file of data/recipes: tests/cli/command_line/test_command_line.py
    EXPECT_FALSE(names.empty());
    names.clear();
    for (const auto& file : attn::io::builtin_schemas()) {
        names.emplace_back(file.name);
    }
    EXPECT_EQ(names, (std::vector<std::string>{"blind-spots", "check", "diagnosis", "explanation", "raw", "recipe", "result",
                                               "tensor"}));
    EXPECT_TRUE(attn::io::find(attn::io::builtin_recipes(), "owen-2025"));
    EXPECT_FALSE(attn::io::find(attn::io::builtin_recipes(), "owen"));
}

TEST(Builtin, TheDefaultRecipeDrawsWhatTheTutorialOf2023Draws)
{
    const Recipe read = parse_recipe(*attn::io::find(attn::io::builtin_recipes(), "raschka-2023"));
    const Recipe expected = default_recipe();
    ASSERT_EQ(read.draws.size(), expected.draws.size());
    for (std::size_t i = 0; i < read.draws.size(); ++i) {
        Step step = read.draws[i];
        if (auto* draw = std::get_if<Draw>(&step)) {
            draw->side.reset(); // left, which is also the default
        }
        EXPECT_EQ(step, expected.draws[i]) << i;
    }
}

} // namespace
