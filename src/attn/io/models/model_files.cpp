#include "attn/io/models/model_files.hpp"

#include "attn/io/builtin.hpp"
#include "attn/io/json/model_config.hpp"
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

transformer::Weights read_weights(const std::vector<NamedBytes>& files)
{
    transformer::Weights weights;
    for (const NamedBytes& file : files) {
        const TensorFile tensors = read_tensors(file.bytes, file.name);
        for (const TensorFile::Entry& entry : tensors.entries) {
            weights.add(entry.name, entry.view);
        }
        for (const TensorFile::Unsupported& entry : tensors.unsupported) {
            weights.add_unread(entry.name, entry.type);
        }
    }
    return weights;
}

std::vector<std::string> listed_files(Bytes index)
{
    return files_of(read_weight_map(as_text(index)));
}

model::Trained assembled(transformer::Architecture architecture, const transformer::Weights& weights,
                         std::optional<text::PieceTokenizer> tokenizer)
{
    return {transformer::Model(std::move(architecture), weights), std::move(tokenizer)};
}

std::optional<model::Trained> builtin_model(std::string_view name)
{
    const auto found = std::ranges::find(builtin_models(), name, &BuiltinModel::name);
    if (found == builtin_models().end()) {
        return std::nullopt;
    }
    return assembled(read_architecture(as_bytes(found->config)), read_weights({{std::string(name), as_bytes(found->weights)}}),
                     {});
}

} // namespace attn::io
