#include "attn/model/recipe/items.hpp"

#include "attn/model/recipe/option_names.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

namespace attn::model {
namespace {

static_assert([] {
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (items[i].item != static_cast<Item>(i)) {
            return false;
        }
    }
    return true;
}());

std::string_view in_words(Needs needs)
{
    switch (needs) {
    case Needs::nothing: break;
    case Needs::sentence: return "a sentence as input";
    case Needs::ids: return "a sentence or --ids";
    case Needs::cross: return "--cross";
    case Needs::query: return option::query;
    case Needs::head: return "--head";
    case Needs::softcap: return "--softcap";
    case Needs::mask: return "--causal, --window or another mask";
    case Needs::dropout: return option::dropout;
    case Needs::output_projection: return "--output-projection";
    case Needs::cache: return "--past-key and --past-value";
    case Needs::model: return option::model;
    }
    return "nothing";
}

} // namespace

core::StageSelection stages_of(const Show& show)
{
    core::StageSelection selection;
    for (const core::Stage stage : core::every_stage) {
        selection[stage] = selection[stage] || show.contains(item_of(stage));
    }
    return selection;
}

void require_items(const Show& asked, const Show& existing)
{
    for (const Item item : asked.without(existing)) {
        throw Error(ErrorKind::usage,
                    fmt::format("{} {} requires {}", option::show, name_of(item), in_words(info_of(item).needs)));
    }
}

} // namespace attn::model
