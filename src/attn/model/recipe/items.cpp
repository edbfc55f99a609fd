#include "attn/model/recipe/items.hpp"

#include "attn/model/recipe/option_names.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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

static_assert(std::ranges::all_of(core::every_stage, [](core::Stage stage) {
    return core::is_single(stage) == (info_of(item_of(stage)).axes == one_per_query);
}));

std::string_view in_words(Needs needs)
{
    switch (needs) {
    case Needs::nothing: break;
    case Needs::parameters: return "a recipe that draws or states some";
    case Needs::embeddings: return "a recipe with embeddings";
    case Needs::key_embeddings: return "a recipe with embeddings, and --cross";
    case Needs::sentence: return "a sentence as input";
    case Needs::ids: return "a sentence or --ids";
    case Needs::cross:
    case Needs::key_ids: return "--cross";
    case Needs::query: return option::query;
    case Needs::head: return "--head";
    case Needs::softcap: return "--softcap";
    case Needs::mask: return "a mask, such as --causal, or ALiBi";
    case Needs::dropout: return option::dropout;
    case Needs::output_projection: return "W_o: several heads or --output-projection";
    case Needs::cache: return "--past-key and --past-value";
    case Needs::gradient: return "a gradient, such as --grad or --grad-ones";
    case Needs::cache_gradient: return "a gradient (--grad), --past-key and --past-value";
    case Needs::mask_gradient: return "a gradient (--grad) and a --mask of numbers";
    case Needs::sink_gradient: return "a gradient (--grad) and --sinks";
    case Needs::model:
    case Needs::states:
    case Needs::tokenizer: return option::model;
    case Needs::cross_part: return "--model of an encoder with a decoder, and --part cross";
    case Needs::pool: return "--model and --pool";
    }
    return "nothing";
}

/// Whether joining pieces to words leaves it.
bool is_of_words(Item item)
{
    constexpr std::array of_words{Item::tokens, Item::key_tokens, Item::token_types, Item::offsets, Item::weights};
    return std::ranges::find(of_words, item) != of_words.end();
}

} // namespace

Show existing_items(const Provided& provided)
{
    const auto is_met = [&](Needs needs) {
        return needs == Needs::nothing || std::ranges::find(provided.needs, std::pair(needs, true)) != provided.needs.end();
    };
    Show show;
    for (const ItemInfo& info : items) {
        const bool taken_away = (provided.mean && is_lost_in_mean(info)) || (provided.joined && !is_of_words(info.item)) ||
                                (provided.packed && is_drawn(info.item));
        if (is_shown_by(info, provided.command) && is_met(info.needs) && !taken_away && !is_named_alone(info.item)) {
            show.insert(info.item);
        }
    }
    return show;
}

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
