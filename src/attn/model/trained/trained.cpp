#include "attn/model/trained/trained.hpp"

#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace attn::model {

Trained::Trained(transformer::Model its_model, std::optional<text::PieceTokenizer> its_tokenizer, bool is_drawn,
                 std::optional<text::PieceTokenizer> its_target)
    : model(std::move(its_model)), tokenizer(std::move(its_tokenizer)), drawn(is_drawn), of_target(std::move(its_target))
{
    const transformer::Architecture& architecture = model.architecture();
    const auto require_rows = [](const std::optional<text::PieceTokenizer>& own, Index rows) {
        if (own && own->size() > rows) {
            throw Error(ErrorKind::data, "the tokenizer", fmt::format("ids up to {}", own->size() - 1),
                        "the tokenizer of this model, whose embedding has " + counted(rows, "row"));
        }
    };
    require_rows(tokenizer, (architecture.encoder ? *architecture.encoder : architecture).embedding.V);
    require_rows(target_tokenizer(), architecture.embedding.V);
}

} // namespace attn::model
