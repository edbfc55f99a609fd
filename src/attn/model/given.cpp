#include "attn/model/given.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace attn::model {
namespace {

struct Names {
    const char* option;
    const char* key;
};

/// In the order of Setting.
constexpr std::array<Names, 11> names{{{"--embed-dim", "dims.embed_dim"},
                                       {"--heads", "dims.heads"},
                                       {"--kv-heads", "dims.kv_heads"},
                                       {"--d-k", "dims.d_k"},
                                       {"--d-v", "dims.d_v"},
                                       {"--vocab-size", "dims.vocab_size"},
                                       {"--ids", "input.ids"},
                                       {"--cross", "input.cross"},
                                       {"--positions", "attention.positions"},
                                       {"--query", "query"},
                                       {"--unknown", "embeddings.unknown"}}};

} // namespace

Given::Given(const Overrides& overrides)
{
    const auto add = [&](bool given, Setting setting) {
        if (given) {
            settings_.insert(setting);
        }
    };
    add(overrides.dims.embed_dim.has_value(), Setting::embed_dim);
    add(overrides.dims.heads.has_value(), Setting::heads);
    add(overrides.dims.kv_heads.has_value(), Setting::kv_heads);
    add(overrides.dims.d_k.has_value(), Setting::d_k);
    add(overrides.dims.d_v.has_value(), Setting::d_v);
    add(overrides.dims.vocab_size.has_value(), Setting::vocab_size);
    add(overrides.input && std::holds_alternative<IdsInput>(*overrides.input), Setting::ids);
    add(overrides.cross.has_value(), Setting::cross);
    add(overrides.positions.has_value(), Setting::positions);
    add(!overrides.query.empty(), Setting::query);
    add(overrides.embeddings && overrides.embeddings->unknown, Setting::unknown);
}

Given Given::all()
{
    Given given;
    for (std::size_t i = 0; i < names.size(); ++i) {
        given.settings_.insert(static_cast<Setting>(i));
    }
    return given;
}

Given Given::with_table_of(std::string file) const
{
    Given given = *this;
    given.table_ = file.empty() ? "" : "the embedding table of " + std::move(file);
    return given;
}

std::string Given::name_of(Setting setting) const
{
    const Names& name = names.at(static_cast<std::size_t>(setting));
    return contains(setting) ? name.option : name.key;
}

ErrorKind Given::fault(std::initializer_list<Setting> settings) const
{
    const bool usage = std::any_of(settings.begin(), settings.end(), [&](Setting setting) { return contains(setting); });
    return usage ? ErrorKind::usage : ErrorKind::data;
}

} // namespace attn::model
