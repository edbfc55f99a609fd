#include "attn/model/recipe/trained_config.hpp"

#include "attn/model/recipe/option_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace attn::model {
namespace {

/// Digits alone, as they are written: no zero before others.
std::optional<Index> natural(std::string_view text, Index most)
{
    Index number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    const bool plain = error == std::errc() && stop == end && number >= 0 && number <= most;
    return plain && std::to_string(number) == text ? std::optional(number) : std::nullopt;
}

} // namespace

std::optional<LayerHead> layer_head_called(std::string_view text)
{
    const std::size_t dot = std::min(text.find('.'), text.size());
    const std::optional<Index> layer = natural(text.substr(0, dot), trained_field::last_layer - 1);
    const std::optional<Index> head = natural(text.substr(std::min(dot + 1, text.size())), field::most_heads - 1);
    return layer && head ? std::optional(LayerHead{*layer, *head}) : std::nullopt;
}

std::string name_of(const LayerHead& head)
{
    return fmt::format("{}.{}", head.layer, head.head);
}

std::string name_of(const LayerPlace& place)
{
    const std::string_view of = place.part ? part_names.at(static_cast<std::size_t>(*place.part)) : "";
    return fmt::format("{}{}layer {}", of, of.empty() ? "" : " ", place.number);
}

std::string prefix_of(const LayerPlace& place)
{
    const std::string_view of = place.part ? part_names.at(static_cast<std::size_t>(*place.part)) : "";
    return fmt::format("{}{}layers.{}.", of, of.empty() ? "" : ".", place.number);
}

void complete(TrainedConfig& config, const transformer::Architecture& architecture)
{
    std::ranges::sort(config.parts);
    config.parts.erase(std::unique(config.parts.begin(), config.parts.end()), config.parts.end());
    if (architecture.encoder && config.parts.empty()) {
        config.parts = {static_cast<Index>(Part::cross)};
    }
    const bool two = architecture.encoder && config.has(Part::encoder) && config.decodes();
    const transformer::Architecture& stack =
        architecture.encoder && config.has(Part::encoder) ? *architecture.encoder : architecture;
    const bool last = std::ranges::find(config.layers, trained_field::last_layer) != config.layers.end();
    if (two && last && stack.layers.size() != architecture.layers.size()) {
        throw Error(ErrorKind::usage, option::layer, "last",
                    fmt::format("numbers, for the encoder has {} layers and the decoder {}", stack.layers.size(),
                                architecture.layers.size()));
    }
    std::ranges::replace(config.layers, trained_field::last_layer, std::ssize(stack.layers) - 1);
}

} // namespace attn::model
