#include "attn/io/models/model_files.hpp"

#include "attn/io/builtin.hpp"
#include "attn/io/json/model_config.hpp"
#include "attn/io/json/recipe.hpp"
#include "attn/io/json/tokenizer_file.hpp"
#include "attn/io/tensors/tensor_file.hpp"
#include "attn/transformer/architectures/describe.hpp"

#include <algorithm>
#include <utility>

namespace attn::io {
transformer::Architecture read_architecture(Bytes config, const std::vector<std::string>& ignored)
{
    return transformer::describe(transformer::Config(read_model_config(as_text(config)), ignored));
}

text::PieceTokenizer read_pieces(Bytes tokenizer)
{
    return text::PieceTokenizer(read_tokenizer(as_text(tokenizer)));
}

std::vector<model::DrawnTensor> read_draws(Bytes draws, const transformer::Architecture& architecture)
{
    return draw_weights(architecture, parse_model_draws(as_text(draws)));
}

transformer::Weights weights_of(const std::vector<model::DrawnTensor>& drawn)
{
    transformer::Weights weights;
    for (const model::DrawnTensor& tensor : drawn) {
        weights.add(tensor.name, row_major_view(ElementType::float32, tensor.values.shape,
                                                std::as_bytes(std::span<const float>(tensor.values.values))));
    }
    return weights;
}

transformer::Weights read_weights(const std::vector<NamedBytes>& files)
{
    transformer::Weights weights;
    for (const NamedBytes& file : files) {
        const TensorFile tensors = read_tensors(file.bytes, file.name);
        for (const TensorFile::Entry& entry : tensors.entries) {
            weights.add(entry.name, entry.view);
        }
        for (const TensorFile::Unsupported& entry : tensors.unsupported) {
            weights.add(entry.name, {}, entry.type);
        }
    }
    return weights;
}

std::vector<std::string> listed_files(Bytes index)
{
    return files_of(read_weight_map(as_text(index)));
}

model::Trained assembled(transformer::Architecture architecture, const transformer::Weights& weights,
                         std::optional<text::PieceTokenizer> tokenizer, std::vector<model::DrawnTensor> drawn)
{
    return {transformer::Model(std::move(architecture), weights), std::move(tokenizer), std::move(drawn)};
}

std::optional<model::Trained> builtin_model(std::string_view name, const std::vector<std::string>& ignored)
{
    const auto found = std::ranges::find(builtin_models(), name, &BuiltinModel::name);
    if (found == builtin_models().end()) {
        return std::nullopt;
    }
    transformer::Architecture architecture = read_architecture(as_bytes(found->config), ignored);
    if (found->weights.empty()) {
        std::vector<model::DrawnTensor> drawn = read_draws(as_bytes(found->draws), architecture);
        const transformer::Weights weights = weights_of(drawn);
        return assembled(std::move(architecture), weights, {}, std::move(drawn));
    }
    return assembled(std::move(architecture), read_weights({{std::string(name), as_bytes(found->weights)}}), {});
}

} // namespace attn::io
