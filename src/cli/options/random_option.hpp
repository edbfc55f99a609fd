// --random: tensors that are drawn in place of files.
#pragma once

#include "attn/model/attend/random_inputs.hpp"
#include "cli/options/options.hpp"

#include <optional>
#include <string>

namespace attn::cli {

namespace option {

inline constexpr OptionInfo random{"--random", "SIZES",
                                   "B,H[/H_kv],T[/S],d[/d_v], such as 2,8/2,128,64: drawn as by torch.randn; saved by a -o of "
                                   "several arrays"};
inline constexpr OptionInfo random_type{"--dtype", "TYPE", "type of the draws", "float32",
                                        model::allow::one_of(model::float_type_names)};

} // namespace option

struct RandomOptions {
    std::optional<std::string> sizes; ///< as typed
    model::RandomInputs drawn;

    [[nodiscard]] bool given() const { return sizes.has_value(); }
};

/// Declares --random, --dtype, and the seed and the generator that `run` has.
void declare_random(Options& options, RandomOptions& random);

/// Reads the sizes of --random, where it is given. Throws Error(usage) for a text that is no such list, heads that are no
/// groups, a seed that the generator does not take, and more than one batch entry where sequences lie one after another
/// (drawn.packed).
void finish_random(RandomOptions& random);

} // namespace attn::cli
