// Layers of random sizes by every kind of names: however a file keeps the same numbers, the result is the same.
#include "attn/model/layer/checkpoint.hpp"
#include "attn/model/run/run.hpp"
#include "attn/tensor/view.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>

namespace {

using namespace attn::model;
using attn::ElementType;
using attn::Index;
using attn::Shape;
using attn::StoredTensor;
using Numbers = std::vector<double>;

/// A layer as plain matrices (out, in).
struct Layer {
    Index D, H, H_kv, d_k, d_v;
    Numbers W_q, W_k, W_v, W_o, b_q, b_k, b_v, b_o;
};

Layer draw_layer(std::mt19937& engine, bool square)
{
    const auto number = [&](Index least, Index most) { return std::uniform_int_distribution<Index>(least, most)(engine); };
    Layer layer{};
    layer.H_kv = number(1, 3);
    layer.H = layer.H_kv * (square ? 1 : number(1, 3));
    layer.d_k = number(1, 5);
    layer.d_v = square ? layer.d_k : number(1, 5);
    layer.D = square ? layer.H * layer.d_k : 31; // a prime that no product of the others is
    std::normal_distribution<double> normal;
    const auto draw = [&](Index count) {
        Numbers numbers(static_cast<std::size_t>(count));
        std::generate(numbers.begin(), numbers.end(), [&] { return static_cast<double>(static_cast<float>(normal(engine))); });
        return numbers;
    };
    layer.W_q = draw(layer.H * layer.d_k * layer.D);
    layer.W_k = draw(layer.H_kv * layer.d_k * layer.D);
    layer.W_v = draw(layer.H_kv * layer.d_v * layer.D);
    layer.W_o = draw(layer.D * layer.H * layer.d_v);
    layer.b_q = draw(layer.H * layer.d_k);
    layer.b_k = draw(layer.H_kv * layer.d_k);
    layer.b_v = draw(layer.H_kv * layer.d_v);
    layer.b_o = draw(layer.D);
    return layer;
}

Numbers transposed(const Numbers& matrix, Index columns)
{
    const auto C = static_cast<std::size_t>(columns);
    const std::size_t R = matrix.size() / C;
    Numbers turned(matrix.size());
    for (std::size_t i = 0; i < matrix.size(); ++i) {
        turned[i % C * R + i / C] = matrix[i];
    }
    return turned;
}

Numbers joined(std::initializer_list<Numbers> parts)
{
    Numbers all;
    for (const Numbers& part : parts) {
        all.insert(all.end(), part.begin(), part.end());
    }
    return all;
}

using File = std::vector<StoredTensor>;

StoredTensor stored(const std::string& name, const Shape& shape, const Numbers& numbers,
                    ElementType type = ElementType::float32)
{
    StoredTensor tensor(name, type, shape);
    attn::store(tensor, 0, std::span<const double>(numbers));
    return tensor;
}

/// By four names of matrices and four of biases, as nn.Linear keeps them.
File by_names(const Layer& l, const std::array<std::string, 8>& names)
{
    return {stored(names[0], {l.H * l.d_k, l.D}, l.W_q),    stored(names[1], {l.H_kv * l.d_k, l.D}, l.W_k),
            stored(names[2], {l.H_kv * l.d_v, l.D}, l.W_v), stored(names[3], {l.D, l.H * l.d_v}, l.W_o, ElementType::float64),
            stored(names[4], {l.H * l.d_k}, l.b_q),         stored(names[5], {1, l.H_kv * l.d_k}, l.b_k),
            stored(names[6], {l.H_kv * l.d_v}, l.b_v),      stored(names[7], {l.D}, l.b_o)};
}

File plain(const Layer& l)
{
    return by_names(l, {"W_q", "W_k", "W_v", "W_o", "b_q", "b_k", "b_v", "b_o"});
}

File turned(const Layer& l)
{
    File file = plain(l);
    file[0] = stored("W_q", {l.D, l.H * l.d_k}, transposed(l.W_q, l.D));
    file[1] = stored("W_k", {l.D, l.H_kv * l.d_k}, transposed(l.W_k, l.D));
    file[2] = stored("W_v", {l.D, l.H_kv * l.d_v}, transposed(l.W_v, l.D));
    file[3] = stored("W_o", {l.H * l.d_v, l.D}, transposed(l.W_o, l.H * l.d_v));
    return file;
}

File stacked(const Layer& l)
{
    File file = plain(l);
    file[0].shape = {l.H, l.d_k, l.D};
    file[1].shape = {l.H_kv, l.d_k, l.D};
    file[2].shape = {l.H_kv, l.d_v, l.D};
    return file;
}

File bert(const Layer& l)
{
    const std::string a = "bert.layer.7.attention.";
    return by_names(l, {a + "self.query.weight", a + "self.key.weight", a + "self.value.weight", a + "output.dense.weight",
                        a + "self.query.bias", a + "self.key.bias", a + "self.value.bias", a + "output.dense.bias"});
}

File llama(const Layer& l)
{
    return by_names(l, {"q_proj.weight", "k_proj.weight", "v_proj.weight", "o_proj.weight", "q_proj.bias", "k_proj.bias",
                        "v_proj.bias", "o_proj.bias"});
}

File fused(const Layer& l) // only of square layers
{
    return {stored("in_proj_weight", {3 * l.D, l.D}, joined({l.W_q, l.W_k, l.W_v})),
            stored("in_proj_bias", {3 * l.D}, joined({l.b_q, l.b_k, l.b_v})), stored("out_proj.weight", {l.D, l.D}, l.W_o),
            stored("out_proj.bias", {l.D}, l.b_o)};
}

File gpt2(const Layer& l) // likewise
{
    return {stored("h/c_attn.weight", {l.D, 3 * l.D}, transposed(joined({l.W_q, l.W_k, l.W_v}), l.D)),
            stored("h/c_attn.bias", {3 * l.D}, joined({l.b_q, l.b_k, l.b_v})),
            stored("h/c_proj.weight", {l.D, l.D}, transposed(l.W_o, l.D)), stored("h/c_proj.bias", {l.D}, l.b_o)};
}

File nano_gpt(const Layer& l) // likewise, as nn.Linear keeps it
{
    return {stored("c_attn.weight", {3 * l.D, l.D}, joined({l.W_q, l.W_k, l.W_v})),
            stored("c_attn.bias", {3 * l.D}, joined({l.b_q, l.b_k, l.b_v})), stored("c_proj.weight", {l.D, l.D}, l.W_o),
            stored("c_proj.bias", {l.D}, l.b_o)};
}

Result result_of(const File& file, const Layer& layer, std::optional<MatrixLayout> layout = {})
{
    Recipe recipe = default_recipe();
    recipe.input = SentenceInput{.sentence = "one two three two", .cross = {}};
    recipe.draws.resize(2);
    recipe.dims.heads = layer.H;
    recipe.attention.causal = true;
    recipe.parameters = FileParameters{.file = "file", .layout = layout};
    std::vector<StoredShape> shapes;
    for (const StoredTensor& tensor : file) {
        shapes.push_back({tensor.name, tensor.shape});
    }
    const FittedLayer fitted = fit(find_layer(shapes, recipe, "file"), recipe, "file", Origin());
    RunSettings settings;
    settings.show = {Item::weights, Item::output, Item::parameters};
    for (const Source& source : fitted.layer.sources) {
        settings.parameters.push_back(
            stored_parameter(source, std::ranges::find(file, source.name, &StoredTensor::name)->view()));
    }
    return run(with_layer(recipe, fitted), settings);
}

const std::vector<float>& values_of(const Result& result, const char* array)
{
    return std::get<attn::Tensor<float>>(*result.find(array)).values;
}

void expect_same(const Result& one, const Result& other, const std::string& what)
{
    for (const char* array : {"weights", "output", "b_q", "b_k", "b_v", "b_o"}) {
        EXPECT_EQ(values_of(one, array), values_of(other, array)) << what << ": " << array;
    }
}

TEST(Parameters, GiveTheSameHoweverAFileKeepsThem)
{
    std::mt19937 engine(1);
    for (int i = 0; i < 60; ++i) {
        const Layer layer = draw_layer(engine, false);
        const Result expected = result_of(bert(layer), layer);
        const std::string what = "layer " + std::to_string(i);
        expect_same(result_of(llama(layer), layer), expected, what);
        expect_same(result_of(plain(layer), layer, MatrixLayout::out_in), expected, what);
        expect_same(result_of(turned(layer), layer, MatrixLayout::in_out), expected, what);
        expect_same(result_of(stacked(layer), layer, MatrixLayout::out_in), expected, what);
    }
}

TEST(Parameters, GiveTheSameFusedAndSeparate)
{
    std::mt19937 engine(2);
    for (int i = 0; i < 40; ++i) {
        const Layer layer = draw_layer(engine, true);
        const Result expected = result_of(bert(layer), layer);
        const std::string what = "layer " + std::to_string(i);
        expect_same(result_of(fused(layer), layer), expected, what);
        expect_same(result_of(gpt2(layer), layer), expected, what);
        expect_same(result_of(nano_gpt(layer), layer), expected, what);
        expect_same(result_of(turned(layer), layer, MatrixLayout::in_out), expected, what);
    }
}

TEST(Parameters, TellTheirLayoutByThemselvesWhereNoOtherReadingFits)
{
    std::mt19937 engine(3);
    for (int i = 0; i < 40; ++i) {
        const Layer layer = draw_layer(engine, false);
        const bool another = layer.H == layer.H_kv && layer.d_k == layer.d_v;
        if (!another) {
            expect_same(result_of(turned(layer), layer), result_of(plain(layer), layer), "layer " + std::to_string(i));
        }
    }
}

} // namespace
