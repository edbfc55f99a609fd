#include "cli/input_options.hpp"

#include "attn/model/result.hpp"
#include "attn/tensor/error.hpp"
#include "cli/embeddings.hpp"
#include "cli/numbers.hpp"
#include "cli/option_values.hpp"
#include "cli/suggest.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

namespace attn::cli {
namespace {

constexpr std::int64_t most_size = 1048576;                       // of a vector
constexpr std::int64_t most_first_index = std::int64_t{1} << 62U; // no input is so long that its last index overflows then

// ---- what they are called --------------------------------------------------------------------------------------------

constexpr std::array input_list{
    OptionSpec{"--lines", "FILE", "one sentence a line, one result a line; - is standard input", {}},
    OptionSpec{"--first-index",
               "N",
               "of --lines: the \"index\" of the first line, 0 to 2^62 (default 0); for a part of a longer input, whose lines "
               "count on from there",
               {}},
    OptionSpec{"--ids", "LIST", "token ids such as 2,6,8,3,1 instead of a sentence; needs --vocab-size", {}},
    OptionSpec{"--labels", "LIST", "a name for each id: my,name,…", {}},
    OptionSpec{"--cross", "SENTENCE", "keys and values come from this second sentence; one vocabulary over both", {}},
    OptionSpec{"--tokenizer",
               "RULE",
               "document: commas removed, then split at white space (default); words: runs of letters, marks and digits with "
               "inner apostrophes and hyphens",
               {}},
    OptionSpec{"--casefold", "", "Unicode case folding before the vocabulary", {}},
    OptionSpec{"--recipe", "NAME|FILE", "take everything from a recipe; options beside it override it", {}},
    OptionSpec{"--max-input-bytes", "N", "refuse a longer text, or of many lines a longer line (default 67108864)", {}},
};
constexpr std::array parameter_list{
    OptionSpec{"--vocab-size", "N", "rows of the embedding table, 1 to 2147483647 (default: the distinct words)", {}},
    OptionSpec{"--embed-dim", "D", "1 to 1048576 (default 16)", {}},
    OptionSpec{"--heads", "H", "1 to 65536 (default 1)", {}},
    OptionSpec{"--kv-heads", "H_KV", "key/value heads, a divisor of H (default H)", {}},
    OptionSpec{
        "--d-k", "N", "size of a query or key of one head (default 24; D/H with more heads, D with --init identity)", {}},
    OptionSpec{"--d-v", "N", "size of a value of one head (default 28; D/H with more heads, D with --init identity)", {}},
    OptionSpec{"--output-projection", "", "apply W_o to the context (default with more than one head)", {}},
    OptionSpec{"--no-output-projection", "", "do not", {}},
    OptionSpec{"--seed",
               "N",
               "of the generator (default 123); torch: 0 to 2^64-1, of which the low 32 bits count; numpy: 0 to 2^32-1",
               {}},
    OptionSpec{"--generator", "NAME", "whose random stream to reproduce: torch (default), numpy, numpy-pcg64", {}},
    OptionSpec{"--init", "NAME", "of the projections: uniform (default), normal, linear, xavier, identity", {}},
    OptionSpec{"--dtype", "TYPE", "of the arithmetic: float32 (default), float64", {}},
    OptionSpec{"--rounding",
               "NAME",
               "to --dtype: after each stage, whose sums are float64 (stage, default), or after each step of it, as loops over "
               "floats and PyTorch's small matrices do (step)",
               {}},
    OptionSpec{
        "--params",
        "FILE",
        "projections, biases and dimensions from .npz or .safetensors instead of drawn ones: by plain names (W_q, b_q, …) "
        "or those of nn.MultiheadAttention, BERT, GPT-2, Llama",
        {}},
    OptionSpec{"--prefix", "LAYER", "which layer of the file, such as h.0.attn", {}},
    OptionSpec{"--layout",
               "NAME",
               "of matrices by plain names whose shapes read both ways: in-out, out-in, or run, as run saves what it draws",
               {}},
    OptionSpec{"--allow-nonfinite", "", "compute with infinities and NaN of the file", {}},
};
constexpr std::array attention_list{
    OptionSpec{"--causal", "", "a query sees no later key", {}},
    OptionSpec{"--window", "L[,R]", "a query sees L keys back and R ahead; -1 is no limit; one number means both", {}},
    OptionSpec{"--mask",
               "FILE[:NAME]",
               "bool, true = seen, or numbers that are added; .npy, .npz, .safetensors; broadcast from the right to (H, T, S)",
               {}},
    OptionSpec{"--scale", "X|none", "factor of the scores (default 1/√d_k)", {}},
    OptionSpec{"--softcap", "X", "X·tanh(scores/X) before masks, X > 0 (default none)", {}},
    OptionSpec{
        "--positions",
        "NAME",
        "none (default); sinusoidal, added to the embeddings; rope, turns queries and keys; alibi, slope·distance off the "
        "scores with the masks",
        {}},
    OptionSpec{"--rope-base", "X", "of --positions rope, from 1 (default 10000)", {}},
    OptionSpec{"--rope-dim", "N", "so many numbers of a query or key are turned, even (default d_k)", {}},
    OptionSpec{"--rope-style", "NAME", "pairs: half (default, Llama's), interleaved", {}},
};
// ---- what they mean --------------------------------------------------------------------------------------------------

model::Dims read_dims(const Arguments& arguments)
{
    return {.embed_dim = integer_option(arguments, "--embed-dim", 1, most_size),
            .heads = integer_option(arguments, "--heads", 1, most_heads),
            .kv_heads = integer_option(arguments, "--kv-heads", 1, most_heads),
            .d_k = integer_option(arguments, "--d-k", 1, most_size),
            .d_v = integer_option(arguments, "--d-v", 1, most_size),
            .vocab_size = integer_option(arguments, "--vocab-size", 1, largest_int32)};
}

std::vector<std::string> strings(const std::vector<std::string_view>& views)
{
    return {views.begin(), views.end()};
}

model::IdsInput read_ids(const Arguments& arguments, const std::string& text, const InputOptions& options)
{
    for (const char* option : {"--tokenizer", "--casefold", "--cross"}) {
        if (arguments.value(option) || arguments.flag(option)) {
            throw Error(ErrorKind::usage, std::string(option) + " and --ids exclude each other: ids are no text");
        }
    }
    const bool rows_known = options.overrides.dims.vocab_size || options.overrides.embeddings || options.recipe;
    if (!rows_known) {
        throw Error(ErrorKind::usage, "--ids needs --vocab-size");
    }
    model::IdsInput input;
    for (const std::string_view item : list_of_words("--ids", text)) {
        input.ids.push_back(integer("--ids", item, 0, largest_int32 - 1));
    }
    return input;
}

void read_labels(const Arguments& arguments, InputOptions& options)
{
    const auto text = arguments.value("--labels");
    if (!text) {
        return;
    }
    options.labels = strings(list("--labels", *text));
    if (options.source == Source::recipe) {
        return; // the recipe decides whether it has ids
    }
    auto* ids = options.overrides.input ? std::get_if<model::IdsInput>(&*options.overrides.input) : nullptr;
    if (ids == nullptr) {
        throw Error(ErrorKind::usage, "--labels needs --ids");
    }
    if (options.labels->size() != ids->ids.size()) {
        throw Error(ErrorKind::usage, "--labels", std::to_string(options.labels->size()) + " labels",
                    "one for each of the " + std::to_string(ids->ids.size()) + " ids");
    }
    ids->labels = *options.labels;
}

/// What looks like the second item of a list: "--show tokens weights", "--ids 2 6 8".
void refuse_items_without_commas(const Arguments& arguments)
{
    const auto is_name = [](std::string_view word) {
        return word == "all" || std::ranges::find(model::item_names, word) != model::item_names.end();
    };
    const auto is_number = [](std::string_view word) {
        return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
    };
    const auto refuse = [&](const char* option, auto is_item, std::size_t fewest) {
        const auto value = arguments.value(option);
        const auto stray = std::ranges::find_if(arguments.operands, is_item);
        if (value && arguments.operands.size() >= fewest && stray != arguments.operands.end()) {
            throw Error(ErrorKind::usage, "unexpected argument " + quoted(*stray) +
                                              "; commas separate the items of a list: " + option + " " + *value + "," + *stray);
        }
    };
    refuse("--ids", is_number, 1);
    refuse("--show", is_name, 2); // one alone may be a sentence
}

/// Options that mean something beside another one only.
void require_beside(const Arguments& arguments, std::initializer_list<const char*> options, bool there, const char* other)
{
    for (const char* option : options) {
        if (!there && (arguments.value(option) || arguments.flag(option))) {
            throw Error(ErrorKind::usage, std::string(option) + " needs " + other);
        }
    }
}

std::optional<model::FileParameters> read_parameters(const Arguments& arguments)
{
    const auto file = arguments.value("--params");
    require_beside(arguments, {"--prefix", "--layout"}, file.has_value(), "--params");
    require_beside(arguments, {"--allow-nonfinite"}, file || arguments.value("--embeddings"), "--params or --embeddings");
    if (!file) {
        return std::nullopt;
    }
    exclude(true, arguments.value("--init").has_value(), "--params, whose projections are not drawn, and --init");
    return model::FileParameters{.file = *file,
                                 .prefix = arguments.value("--prefix").value_or(""),
                                 .layout = choice_option<model::MatrixLayout>(arguments, "--layout", model::layout_names),
                                 .allow_nonfinite = arguments.flag("--allow-nonfinite")};
}

std::optional<std::optional<model::Positions>> read_positions(const Arguments& arguments)
{
    constexpr std::array<std::string_view, 4> kinds{"none", "sinusoidal", "rope", "alibi"};
    constexpr std::array<std::string_view, 2> styles{"half", "interleaved"};
    const auto kind = choice_option<std::size_t>(arguments, "--positions", kinds);
    const bool rope = kind && kinds.at(*kind) == "rope";
    require_beside(arguments, {"--rope-base", "--rope-dim", "--rope-style"}, rope, "--positions rope");
    if (!kind) {
        return std::nullopt;
    }
    if (*kind == 0) {
        return std::optional<model::Positions>();
    }
    model::Positions positions{.kind = static_cast<model::PositionKind>(*kind - 1)};
    if (const auto base = arguments.value("--rope-base")) {
        positions.rope.base = real("--rope-base", *base, {.least = 1, .allowed = "a finite number from 1, such as 500000"});
    }
    positions.rope.dim = integer_option(arguments, "--rope-dim", 2, most_size);
    if (positions.rope.dim.value_or(0) % 2 != 0) {
        throw Error(ErrorKind::usage, "--rope-dim", std::to_string(*positions.rope.dim), "an even number");
    }
    positions.rope.style = choice_option<core::RopeStyle>(arguments, "--rope-style", styles).value_or(core::RopeStyle::half);
    return positions;
}

model::Overrides read_overrides(const Arguments& arguments)
{
    constexpr std::array<std::string_view, 2> tokenizers{"document", "words"};
    constexpr std::array<std::string_view, 3> generators{"torch", "numpy", "numpy-pcg64"};
    constexpr std::array<std::string_view, 5> inits{"uniform", "normal", "linear", "xavier", "identity"};
    constexpr std::array<std::string_view, 2> dtypes{"float32", "float64"};
    constexpr std::array<std::string_view, 2> roundings{"stage", "step"};
    exclude(arguments.flag("--output-projection"), arguments.flag("--no-output-projection"),
            "--output-projection and --no-output-projection");
    model::Overrides overrides;
    overrides.cross = arguments.value("--cross");
    overrides.tokenizer = choice_option<model::Tokenizer>(arguments, "--tokenizer", tokenizers);
    overrides.casefold = switch_option(arguments, "--casefold");
    overrides.dims = read_dims(arguments);
    overrides.output_projection =
        arguments.flag("--no-output-projection") ? std::optional(false) : switch_option(arguments, "--output-projection");
    if (const auto seed = arguments.value("--seed")) {
        const bool narrow = arguments.value("--generator") == "numpy";
        overrides.seed = natural(
            "--seed", *seed, 0, narrow ? std::numeric_limits<std::uint32_t>::max() : std::numeric_limits<std::uint64_t>::max());
    }
    overrides.generator = choice_option<model::Generator>(arguments, "--generator", generators);
    overrides.init = choice_option<model::Initialisation>(arguments, "--init", inits);
    overrides.dtype = choice_option<Dtype>(arguments, "--dtype", dtypes);
    overrides.rounding = choice_option<core::Rounding>(arguments, "--rounding", roundings);
    overrides.causal = switch_option(arguments, "--causal");
    overrides.window = window_option(arguments);
    overrides.scale = scale_option(arguments);
    overrides.softcap = softcap_option(arguments);
    overrides.positions = read_positions(arguments);
    overrides.parameters = read_parameters(arguments);
    overrides.embeddings = read_embeddings(arguments);
    overrides.query = query_option(arguments);
    overrides.verify = switch_option(arguments, "--verify");
    return overrides;
}

} // namespace

std::span<const OptionSpec> input_specs(bool lines)
{
    return std::span(input_list).subspan(lines ? 0 : 2); // --lines and --first-index
}

std::span<const OptionSpec> parameter_specs()
{
    return parameter_list;
}

std::span<const OptionSpec> attention_specs()
{
    return attention_list;
}

std::size_t max_input_bytes(const Arguments& arguments, std::size_t otherwise)
{
    const auto given = integer_option(arguments, "--max-input-bytes", 1, std::int64_t{1} << 40U);
    return given ? static_cast<std::size_t>(*given) : otherwise;
}

InputOptions read_input_options(const Arguments& arguments)
{
    InputOptions options;
    options.recipe = arguments.value("--recipe");
    options.overrides = read_overrides(arguments);
    options.max_input_bytes = max_input_bytes(arguments, default_max_input_bytes);
    options.mask = arguments.value("--mask");
    return options;
}

void read_source(const Arguments& arguments, InputOptions& options)
{
    refuse_items_without_commas(arguments);
    expect_at_most(arguments, 1, "a sentence of several words needs quotes");
    const bool sentence = !arguments.operands.empty();
    const auto lines = arguments.value("--lines");
    const auto ids = arguments.value("--ids");
    exclude(sentence, lines.has_value(), "SENTENCE and --lines");
    exclude(sentence, ids.has_value(), "SENTENCE and --ids");
    exclude(lines.has_value(), ids.has_value(), "--lines and --ids");
    require_beside(arguments, {"--first-index"}, lines.has_value(), "--lines");
    if (ids) {
        options.overrides.input = read_ids(arguments, *ids, options);
    } else if (lines) {
        options.source = Source::lines;
        options.lines = *lines;
        options.first_index = integer_option(arguments, "--first-index", 0, most_first_index).value_or(0);
    } else if (sentence && arguments.operands.front() != "-") {
        if (arguments.operands.front().size() > options.max_input_bytes) {
            throw Error(ErrorKind::data, "SENTENCE", std::to_string(arguments.operands.front().size()) + " bytes",
                        "up to " + std::to_string(options.max_input_bytes) + "; --max-input-bytes allows more");
        }
        options.overrides.input = model::SentenceInput{.sentence = arguments.operands.front(), .cross = {}};
    } else {
        options.source = sentence ? Source::standard_input : options.recipe ? Source::recipe : Source::pipe;
    }
    const bool input_is_read =
        options.source == Source::standard_input || options.source == Source::pipe || (lines && *lines == "-");
    exclude(input_is_read, options.recipe && *options.recipe == "-", "a recipe and a text from standard input");
    read_labels(arguments, options);
}

} // namespace attn::cli
