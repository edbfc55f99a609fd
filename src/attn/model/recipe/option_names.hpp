// What the options are called of which messages of the library speak. `cli` declares them by these names; an option that stands
// for a field of a recipe gets its name from the field's key, and is here only where that is not so or a message needs it.
#pragma once

#include <string_view>

namespace attn::model::option {

inline constexpr std::string_view alibi = "--alibi", axes = "--axes", batch = "--batch", component = "--component",
                                  dropout = "--dropout", grad_ones = "--grad-ones", grad_random = "--grad-random",
                                  heads = "--heads", key = "--key", key_tokens = "--key-tokens", kv_heads = "--kv-heads",
                                  layer = "--layer", mask = "--mask", model = "--model", output = "-o", part = "--part",
                                  pool = "--pool", query = "--query", set = "--set", show = "--show", target = "--target",
                                  target_greedy = "--target-greedy", tokens = "--tokens";

} // namespace attn::model::option
