#include "attn/math/decimal.hpp"
#include "attn/report/text/display.hpp"
#include "attn/report/text/grid.hpp"
#include "attn/report/text/summary.hpp"
#include "attn/report/text/table.hpp"

#include <fmt/format.h>

namespace attn::report {
namespace {

using model::Item;
using model::LayeredResult;
using model::Result;

constexpr std::initializer_list<Item> words_alone{Item::tokens, Item::token_ids, Item::token_types, Item::offsets};

/// "behind ' mat': ' and' 0.9800, ' .' 0.0100", or "instead of '[MASK]': …"
void write_guesses(Buffer& buffer, const LayeredResult& result, const TableOptions& options)
{
    const bool causal = result.layers.front().config.attention.causal;
    for (const model::Guesses& place : result.guesses) {
        const std::string& token = result.tokens[static_cast<std::size_t>(place.position)];
        std::vector<std::string> parts{fmt::format("likeliest {}", causal ? "behind" : "in place of"),
                                       fmt::format("{} (position {}):", visible(token), place.position)};
        for (const model::Guess& word : place.words) {
            parts.push_back('"' + visible(word.token) + '"');
            parts.push_back(math::fixed(word.probability, options.digits) + (&word == &place.words.back() ? "" : ","));
        }
        write_title(buffer, parts, options.width);
    }
}

} // namespace

void write_table(const LayeredResult& result, const TableOptions& options, Buffer& buffer)
{
    Result words = result.layers.front();
    words.show = words.show.without(words.show.without(model::Show(words_alone)));
    TableOptions plain = options;
    plain.introduced = false;
    write_table(words, plain, buffer);
    bool first = words.show.empty() && !options.ids_in_words;
    const auto part = [&] {
        buffer.append(first ? "" : "\n");
        first = false;
    };
    if (result.show.contains(Item::summary)) {
        part();
        write_summary(buffer, result.layers, options);
    }
    plain.ids_in_words = false;
    for (const Result& layer : result.layers) {
        Result arrays = layer;
        arrays.show = layer.show.without(model::Show(words_alone)).without({Item::summary, Item::logits});
        if (!arrays.show.empty()) {
            part();
            buffer.append(fmt::format("layer {}\n\n", layer.layer.value_or(0)));
            write_table(arrays, plain, buffer);
        }
    }
    if (!result.guesses.empty()) {
        part();
        write_guesses(buffer, result, options);
    }
}

} // namespace attn::report
