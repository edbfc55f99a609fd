#include "attn/io/models/model_files.hpp"

#include "attn/io/json/model_config.hpp"
#include "attn/io/json/tokenizer_file.hpp"
#include "attn/io/models/gguf_model.hpp"
#include "attn/io/models/gguf_tokenizer.hpp"
#include "attn/io/tensors/tensor_file.hpp"
#include "attn/transformer/architectures/describe.hpp"

#include <utility>

namespace attn::io {
transformer::Architecture read_architecture(Bytes config, const std::vector<std::string>& ignored)
{
    return transformer::describe(transformer::Config(read_model_config(as_text(config)), ignored));
}

transformer::TargetPart read_generation(Bytes generation, transformer::TargetPart target)
{
    return transformer::with_generation(std::move(target), transformer::Config(read_model_config(as_text(generation))));
}

text::PieceTokenizer read_pieces(Bytes tokenizer)
{
    return text::PieceTokenizer(read_tokenizer(as_text(tokenizer)));
}

text::PieceTokenizer read_sentencepiece(Bytes model, const TextEnds& ends)
{
    text::TokenizerSpec spec = sentencepiece_tokenizer(model);
    put_around(spec, ends);
    return text::PieceTokenizer(std::move(spec));
}

TextEnds read_text_ends(Bytes tokenizer_config, std::string_view model_type)
{
    return text_ends(tokenizer_config.empty() ? transformer::ConfigValues() : read_model_config(as_text(tokenizer_config)),
                     model_type);
}

text::PieceTokenizer read_marian_pieces(Bytes model, Bytes vocabulary)
{
    return text::PieceTokenizer(marian_tokenizer(model, read_vocabulary(as_text(vocabulary))));
}

transformer::Weights read_weights(const std::vector<NamedBytes>& files)
{
    transformer::Weights weights;
    for (const NamedBytes& file : files) {
        const TensorFile tensors = read_tensors(file.bytes, file.name);
        for (const NamedTensor& entry : tensors.entries) {
            weights.add(entry);
        }
        for (const TensorFile::Unsupported& entry : tensors.unsupported) {
            weights.add({.name = entry.name, .view = {}}, entry.type);
        }
    }
    return weights;
}

model::Trained read_gguf_model(Bytes file, const std::vector<std::string>& ignored)
{
    const GgufFile found = read_gguf(file);
    transformer::Architecture architecture =
        transformer::describe(transformer::Config(gguf_config(found), ignored, gguf_key_names(found)));
    settle_for_gguf(architecture, found);
    return {transformer::Model(std::move(architecture), gguf_weights(found)), text::PieceTokenizer(gguf_tokenizer(found))};
}

std::vector<std::string> listed_files(Bytes index)
{
    return files_of(read_weight_map(as_text(index)));
}

} // namespace attn::io
