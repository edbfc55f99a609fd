// The options of a whole trained model, which `run` and `explain` have in common.
#pragma once

#include "cli/options/input_options.hpp"

namespace attn::cli {

inline constexpr std::string_view trained_group = "Trained model";

/// `usual_layer`: what holds without --layer.
void declare_trained(Options& options, InputOptions& input, std::string_view usual_layer);

/// --head as `head` has it, and LAYER.HEAD, as the summary of a model calls heads: `layer` is then that layer. Of several
/// layers all of them go to `several`, which nullptr refuses.
void declare_head(Options& options, OptionInfo head, std::optional<Index>& layer, const Options::Set& set,
                  std::vector<model::LayerHead>* several = nullptr);

/// The layer of LAYER.HEAD and that of --layer, which must be the same. Throws Error(usage).
[[nodiscard]] std::optional<Index> one_layer(std::optional<Index> of_head, std::optional<Index> of_layer);

/// Whether --model is given; fills in what of the model's config other options say. Throws Error(usage) for options that do not
/// go with a model, and for a layer without one.
[[nodiscard]] bool finish_trained(const TypedArguments& typed, InputOptions& input);

} // namespace attn::cli
