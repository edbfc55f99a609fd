#include "attn/transformer/config.hpp"

#include "attn/math/decimal.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace attn::transformer {
namespace {

/// Of every model: what training, generation and bookkeeping need, and what says which tokens mean what.
// clang-format off
constexpr std::array<std::string_view, 104> harmless{
    "_attn_implementation", "_attn_implementation_autoset", "_flash_attn_2_enabled", "_name_or_path", "_sliding_window_pattern",
    "add_cross_attention", "architectures", "attention_dropout", "attention_probs_dropout_prob", "attn_implementation",
    "attn_pdrop", "auto_map", "bad_words_ids", "begin_suppress_tokens", "bos_token_id", "cache_implementation",
    "chunk_size_feed_forward", "classifier_activation", "classifier_bias", "classifier_dropout", "classifier_dropout_prob",
    "classifier_pooling", "cls_token_id", "cross_attention_hidden_size", "decoder_start_token_id", "directionality",
    "diversity_penalty", "do_sample", "dropout", "dtype", "early_stopping", "embd_pdrop", "embedding_dropout",
    "encoder_no_repeat_ngram_size", "eos_token_id", "exponential_decay_length_penalty", "finetuning_task",
    "forced_bos_token_id", "forced_eos_token_id", "gradient_checkpointing", "hidden_dropout", "hidden_dropout_prob", "id2label",
    "initializer_cutoff_factor", "initializer_factor", "initializer_range", "is_encoder_decoder", "is_llama_config",
    "keys_to_ignore_at_inference", "label2id", "length_penalty", "max_length", "min_length", "mlp_dropout", "model_type",
    "no_repeat_ngram_size", "num_beam_groups", "num_beams", "num_return_sequences", "output_attentions", "output_hidden_states",
    "output_past", "output_scores", "pad_token_id", "pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers",
    "pooler_size_per_head", "pooler_type", "prefix", "pretraining_tp", "problem_type", "qa_dropout", "remove_invalid_values",
    "reorder_and_upcast_attn", "repetition_penalty", "resid_pdrop", "return_dict", "return_dict_in_generate", "sep_token_id",
    "seq_classif_dropout", "sparse_pred_ignore_index", "sparse_prediction", "summary_activation", "summary_first_dropout",
    "summary_proj_to_labels", "summary_type", "summary_use_proj", "suppress_tokens", "task_specific_params", "temperature",
    "tf_legacy_loss", "tokenizer_class", "top_k", "top_p", "torch_dtype", "torchscript", "transformers.js_config",
    "transformers_version", "typical_p", "unsloth_fixed", "unsloth_version", "use_bfloat16", "use_cache",
};
// clang-format on

bool is_inside(std::string_view key, std::string_view outer)
{
    return key == outer || (key.size() > outer.size() && key.starts_with(outer) && key[outer.size()] == '.');
}

std::string written(const ConfigScalar& value)
{
    if (std::holds_alternative<ConfigObject>(value)) {
        return "an object or a list";
    }
    if (const auto* truth = std::get_if<bool>(&value)) {
        return *truth ? "true" : "false";
    }
    if (const auto* number = std::get_if<double>(&value)) {
        const bool whole = *number == std::floor(*number) && std::fabs(*number) < 1e15;
        return whole ? std::to_string(static_cast<Index>(*number)) : math::shortest(*number);
    }
    const auto* text = std::get_if<std::string>(&value);
    return text != nullptr ? in_quotes(*text) : "null";
}

ConfigValue as_value(const ConfigScalar& scalar)
{
    return std::visit([](const auto& value) -> ConfigValue { return value; }, scalar);
}

/// As a message writes it.
std::string written(const ConfigValue& value)
{
    if (const auto* list = std::get_if<std::vector<ConfigScalar>>(&value)) {
        return fmt::format("a list of {}", list->size());
    }
    return std::visit(
        [](const auto& one) -> std::string {
            if constexpr (std::is_constructible_v<ConfigScalar, decltype(one)>) {
                return written(ConfigScalar(one));
            } else {
                return {};
            }
        },
        value);
}

/// What is inside an object counts, not the object.
bool is_nothing(const ConfigValue& value)
{
    return std::holds_alternative<ConfigNull>(value) || std::holds_alternative<ConfigObject>(value);
}

/// A config for pictures and text has one for each.
ConfigValues of_text(ConfigValues values)
{
    constexpr std::string_view part = "text_config.";
    ConfigValues inner;
    for (auto& [key, value] : values) {
        if (key.starts_with(part)) {
            inner.emplace(key.substr(part.size()), std::move(value));
        }
    }
    return inner.empty() ? std::move(values) : std::move(inner);
}

Index to_count(std::string_view key, const ConfigValue& value, Index least, Index most = largest_count)
{
    const auto* number = std::get_if<double>(&value);
    if (number == nullptr || *number != std::floor(*number) || *number < static_cast<double>(least) ||
        *number > static_cast<double>(most)) {
        const std::string last = most == largest_count ? "1,000,000,000" : std::to_string(most);
        throw Error(ErrorKind::data, key, written(value), fmt::format("a whole number from {} to {}", least, last));
    }
    return static_cast<Index>(*number);
}

double to_positive(std::string_view key, const ConfigValue& value)
{
    const auto* number = std::get_if<double>(&value);
    if (number == nullptr || !(*number > 0) || !std::isfinite(*number)) {
        throw Error(ErrorKind::data, key, written(value), "a number above 0");
    }
    return *number;
}

bool to_flag(std::string_view key, const ConfigValue& value)
{
    const auto* truth = std::get_if<bool>(&value);
    if (truth == nullptr) {
        throw Error(ErrorKind::data, key, written(value), "true or false");
    }
    return *truth;
}

const std::string& to_text(std::string_view key, const ConfigValue& value)
{
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) {
        throw Error(ErrorKind::data, key, written(value), "a text");
    }
    return *text;
}

const std::vector<ConfigScalar>& to_list(std::string_view key, const ConfigValue& value)
{
    const auto* list = std::get_if<std::vector<ConfigScalar>>(&value);
    if (list == nullptr) {
        throw Error(ErrorKind::data, key, written(value), "a list");
    }
    return *list;
}

} // namespace

struct Config::Found {
    std::string_view key;
    const ConfigValue& value;
};

Config::Config(ConfigValues values, const std::vector<std::string>& ignored) : values_(of_text(std::move(values)))
{
    for (const std::string& key : ignored) {
        if (std::erase_if(values_, [&](const auto& entry) { return is_inside(entry.first, key); }) == 0) {
            throw Error(ErrorKind::usage, "--ignore-config", in_quotes(key), "a key that this config has");
        }
    }
}

std::optional<Config::Found> Config::find(Keys keys)
{
    std::optional<Found> found;
    for (const std::string_view key : keys) {
        const auto entry = values_.find(key);
        if (entry == values_.end()) {
            continue;
        }
        used_.insert(entry->first);
        const bool is_null = std::holds_alternative<ConfigNull>(entry->second);
        if (!found || (std::holds_alternative<ConfigNull>(found->value) && !is_null)) {
            found.emplace(Found{entry->first, entry->second});
        }
    }
    return found;
}

bool Config::has(Keys keys) const
{
    return std::ranges::any_of(values_, [&](const auto& entry) {
        return !is_nothing(entry.second) &&
               std::ranges::any_of(keys, [&](std::string_view key) { return is_inside(entry.first, key); });
    });
}

namespace {

[[noreturn]] void refuse_missing(Config::Keys keys)
{
    std::string names;
    for (const std::string_view key : keys) {
        names.append(names.empty() ? "" : " or ").append(key);
    }
    throw Error(ErrorKind::data, fmt::format("it has no {}, which this model_type needs", names));
}

} // namespace

std::optional<Index> Config::optional_count(Keys keys, std::optional<Index> absent, Index most)
{
    const auto found = find(keys);
    if (!found) {
        return absent;
    }
    return std::holds_alternative<ConfigNull>(found->value) ? std::nullopt
                                                            : std::optional(to_count(found->key, found->value, 1, most));
}

Index Config::count(Keys keys)
{
    const auto value = optional_count(keys, {});
    return value ? *value : (refuse_missing(keys), 0);
}

Index Config::layers(Keys keys)
{
    const auto value = optional_count(keys, {}, most_layers);
    return value ? *value : (refuse_missing(keys), 0);
}

Index Config::count(Keys keys, Index otherwise)
{
    return optional_count(keys, {}).value_or(otherwise);
}

Index Config::place(Keys keys, Index otherwise)
{
    const auto found = find(keys);
    return !found || std::holds_alternative<ConfigNull>(found->value) ? otherwise : to_count(found->key, found->value, 0);
}

std::optional<double> Config::optional_positive(Keys keys, std::optional<double> absent)
{
    const auto found = find(keys);
    if (!found) {
        return absent;
    }
    return std::holds_alternative<ConfigNull>(found->value) ? std::nullopt
                                                            : std::optional(to_positive(found->key, found->value));
}

double Config::positive(Keys keys)
{
    const auto value = optional_positive(keys, {});
    return value ? *value : (refuse_missing(keys), 0);
}

double Config::positive(Keys keys, double otherwise)
{
    return optional_positive(keys, {}).value_or(otherwise);
}

std::optional<bool> Config::optional_flag(Keys keys)
{
    const auto found = find(keys);
    return !found || std::holds_alternative<ConfigNull>(found->value) ? std::nullopt
                                                                      : std::optional(to_flag(found->key, found->value));
}

bool Config::flag(Keys keys, bool otherwise)
{
    return optional_flag(keys).value_or(otherwise);
}

std::string Config::text(Keys keys)
{
    const auto found = find(keys);
    return found ? to_text(found->key, found->value) : (refuse_missing(keys), std::string());
}

std::string Config::text(Keys keys, std::string_view otherwise)
{
    const auto found = find(keys);
    return !found || std::holds_alternative<ConfigNull>(found->value) ? std::string(otherwise)
                                                                      : to_text(found->key, found->value);
}

std::vector<std::string> Config::texts(Keys keys)
{
    std::vector<std::string> list;
    const auto found = find(keys);
    if (found && !std::holds_alternative<ConfigNull>(found->value)) {
        const auto& elements = to_list(found->key, found->value);
        list.reserve(elements.size());
        for (const ConfigScalar& element : elements) {
            list.push_back(to_text(found->key, as_value(element)));
        }
    }
    return list;
}

std::vector<Index> Config::places(Keys keys)
{
    std::vector<Index> list;
    const auto found = find(keys);
    if (found && !std::holds_alternative<ConfigNull>(found->value)) {
        const auto& elements = to_list(found->key, found->value);
        list.reserve(elements.size());
        for (const ConfigScalar& element : elements) {
            list.push_back(to_count(found->key, as_value(element), 0));
        }
    }
    return list;
}

void Config::require(std::string_view key, const ConfigScalar& value)
{
    const auto found = find({key});
    if (found && !std::holds_alternative<ConfigNull>(found->value) && found->value != as_value(value)) {
        throw Error(ErrorKind::data, key, written(found->value), written(value) + ", the one that is computed here");
    }
}

void Config::pass_over(Keys keys)
{
    for (const auto& entry : values_) {
        if (std::ranges::any_of(keys, [&](std::string_view outer) { return is_inside(entry.first, outer); })) {
            used_.insert(entry.first);
        }
    }
}

void Config::require_all_used() const
{
    for (const auto& entry : values_) {
        const std::string& key = entry.first;
        const bool known = is_nothing(entry.second) || used_.contains(key) ||
                           std::ranges::any_of(harmless, [&](std::string_view outer) { return is_inside(key, outer); });
        if (!known) {
            throw Error(ErrorKind::data,
                        fmt::format("{} = {} is not known here and may change what the model computes; if it does not, "
                                    "--ignore-config with this key leaves it out",
                                    in_quotes(key), written(entry.second)));
        }
    }
}

} // namespace attn::transformer
