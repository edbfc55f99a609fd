// The function of each architecture; describe.cpp says which model_type has which. Each asks the config for every key that
// changes what the model computes.
#pragma once

#include "attn/transformer/architecture.hpp"
#include "attn/transformer/config.hpp"

namespace attn::transformer {

[[nodiscard]] Architecture describe_bert(Config& config);
[[nodiscard]] Architecture describe_roberta(Config& config);
[[nodiscard]] Architecture describe_distilbert(Config& config);
[[nodiscard]] Architecture describe_mpnet(Config& config);
[[nodiscard]] Architecture describe_modernbert(Config& config);

[[nodiscard]] Architecture describe_gpt2(Config& config);
[[nodiscard]] Architecture describe_gpt_neox(Config& config);
[[nodiscard]] Architecture describe_phi(Config& config);

[[nodiscard]] Architecture describe_tutorial(Config& config);

[[nodiscard]] Architecture describe_llama(Config& config);
[[nodiscard]] Architecture describe_mistral(Config& config);
[[nodiscard]] Architecture describe_qwen2(Config& config);
[[nodiscard]] Architecture describe_qwen3(Config& config);
[[nodiscard]] Architecture describe_smollm3(Config& config);
[[nodiscard]] Architecture describe_olmo2(Config& config);
[[nodiscard]] Architecture describe_gemma(Config& config);
[[nodiscard]] Architecture describe_gemma2(Config& config);
[[nodiscard]] Architecture describe_gemma3(Config& config);

} // namespace attn::transformer
