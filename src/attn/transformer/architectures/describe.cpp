#include "attn/transformer/architectures/describe.hpp"

#include "attn/tensor/error.hpp"
#include "attn/transformer/architectures/parts.hpp"

#include <algorithm>
#include <array>

namespace attn::transformer {
namespace {

struct Family {
    std::string_view type;
    Architecture (*describe)(Config& config);
};

constexpr std::array families{
    Family{"bart", describe_bart},
    Family{"bert", describe_bert},
    Family{"camembert", describe_roberta},
    Family{"distilbert", describe_distilbert},
    Family{"gemma", describe_gemma},
    Family{"gemma2", describe_gemma2},
    Family{"gemma3_text", describe_gemma3},
    Family{"gpt2", describe_gpt2},
    Family{"gpt_neox", describe_gpt_neox},
    Family{"llama", describe_llama},
    Family{"marian", describe_marian},
    Family{"mistral", describe_mistral},
    Family{"modernbert", describe_modernbert},
    Family{"mpnet", describe_mpnet},
    Family{"olmo2", describe_olmo2},
    Family{"phi", describe_phi},
    Family{"qwen2", describe_qwen2},
    Family{"qwen3", describe_qwen3},
    Family{"roberta", describe_roberta},
    Family{"smollm3", describe_smollm3},
    Family{"t5", describe_t5},
    Family{"tutorial", describe_tutorial},
    Family{"xlm-roberta", describe_roberta},
};

} // namespace

Architecture describe(Config config)
{
    if (!config.has({"model_type"})) {
        throw Error(ErrorKind::data, "model_type", "nothing", joined(model_types()));
    }
    const std::string type = config.text({"model_type"});
    const auto family = std::ranges::find(families, type, &Family::type);
    if (family == families.end()) {
        throw Error(ErrorKind::data, "model_type", in_quotes(type), joined(model_types()));
    }
    config.require("is_decoder", false);                           // of an encoder: that it would look at another one
    if (config.says("quantization_config.quant_method", "gguf")) { // where it comes from: it is unpacked before it is saved
        config.pass_over({"quantization_config"});
    }
    Architecture architecture = family->describe(config);
    architecture.type = type;
    config.require_all_used();
    return architecture;
}

std::vector<std::string_view> model_types()
{
    std::vector<std::string_view> types;
    types.reserve(families.size());
    for (const Family& family : families) {
        types.push_back(family.type);
    }
    return types;
}

} // namespace attn::transformer
