#include "attn/model/trained/decode.hpp"

#include "attn/tensor/error.hpp"
#include "attn/transformer/run/forward.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace attn::model {

std::vector<Index> decoded(const Trained& trained, const Tokens& source, Index most, const RunSettings& settings)
{
    const transformer::Architecture& architecture = trained.model.architecture();
    const transformer::TargetPart& target = architecture.target;
    const core::Work work{.threads = settings.threads, .isa = settings.isa};
    const transformer::Asked of_source{.parts = {Part::encoder}, .last = true};
    transformer::require_rows(*architecture.encoder, {source.ids, {}}, of_source, ErrorKind::data);
    const Matrix<float> encoding =
        transformer::forward(trained.model, {.ids = source.ids}, of_source, work, [](auto&&) {}).last;
    const transformer::Asked asked{.parts = {Part::decoder}, .logits = transformer::Logits::last};
    transformer::ReadBefore before;
    std::vector<Index> ids{target.start};
    const Index longest = std::min(most + 1, architecture.most_tokens);
    while (std::ssize(ids) < longest) {
        const transformer::TokenInput input{.ids = ids, .encoded = &encoding, .before = &before};
        Tensor<float> logits = transformer::forward(trained.model, input, asked, work, [](auto&&) {}).logits;
        for (const Index id : target.never) {
            if (id < logits.columns() && id != target.end) { // which in transformers is never forbidden
                logits.matrix()(0, id) = -std::numeric_limits<float>::infinity();
            }
        }
        Index likeliest = 0;
        logits.matrix().row(0).maxCoeff(&likeliest);
        const bool first = ids.size() == 1;
        const Index next = first ? target.forced_first.value_or(likeliest) : likeliest;
        if (next >= logits.columns()) {
            throw Error(ErrorKind::data, "forced_bos_token_id", std::to_string(next),
                        fmt::format("0 to {}, the words of the head", logits.columns() - 1));
        }
        if (next == target.end) {
            break;
        }
        ids.push_back(next);
    }
    return ids;
}

} // namespace attn::model
