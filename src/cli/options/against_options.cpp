#include "cli/options/against_options.hpp"

#include "attn/model/recipe/option_names.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace attn::cli {
namespace {

bool is_standard_input(const std::string& file)
{
    return file == "-" || file.starts_with("-:");
}

/// "--against --json" forgets the FILE.
void require_file(const OptionInfo& option, const std::string& file)
{
    if (file.starts_with('-') && !is_standard_input(file)) {
        throw Error(ErrorKind::usage, option.name, in_quotes(file), "a FILE; one of that name is ./" + file);
    }
}

void require_one(const AgainstOptions& against, std::string_view option)
{
    if (against.files.size() > 1) {
        throw Error(ErrorKind::usage, option, fmt::format("{} files after {}", against.files.size(), option::against.name),
                    "one");
    }
}

/// Neither standard output, which has the text, nor another format.
void require_picture(const std::string& path)
{
    constexpr std::array pictures{Format::svg};
    OutputOptions output;
    output.path = path;
    if (path == "-") {
        throw Error(ErrorKind::usage, model::option::output, in_quotes(path),
                    "a file for the picture with --against, whose text goes there");
    }
    try {
        (void)decide_format(output, pictures);
    } catch (const Error&) {
        throw Error(ErrorKind::usage, model::option::output, in_quotes(path),
                    "with --against a picture of the differences (.svg); without it the result");
    }
}

} // namespace

void declare_against(Options& options, AgainstOptions& against)
{
    options.add(option::against, against.first);
    options.exclude({option::against.name, format_name});
    options.add(option::against_rtol, against.rtol);
    options.add(option::against_atol, against.atol);
}

void declare_against_tensors(Options& options, AgainstOptions& against)
{
    options.add(option::strict, against.strict);
    options.add(option::suggest_input, against.suggest);
    options.add(option::blind_spots, against.blind_spots);
    options.add(option::require_seen, against.required);
    options.need({option::require_seen.name}, option::blind_spots.name);
    for (const std::string_view other : {option::against.name, format_name, model::option::output}) {
        options.exclude({option::blind_spots.name, other});
    }
}

void require_judged(const AgainstOptions& against)
{
    const std::array alone{std::pair(against.rtol.has_value(), option::against_rtol.name),
                           std::pair(against.atol.has_value(), option::against_atol.name),
                           std::pair(against.strict, option::strict.name),
                           std::pair(against.suggest.has_value(), option::suggest_input.name)};
    const auto typed = std::ranges::find(alone, true, &std::pair<bool, std::string_view>::first);
    if (!against.given() && !against.blind_spots && typed != alone.end()) {
        throw Error(ErrorKind::usage,
                    fmt::format("{} requires {} or {}", typed->second, option::against.name, option::blind_spots.name));
    }
}

model::diagnose::Criterion AgainstOptions::criterion() const
{
    model::diagnose::Criterion criterion{.tolerance = {}, .strict = strict};
    if (rtol || atol) {
        criterion.tolerance = model::Tolerance{rtol.value_or(0), atol.value_or(0)};
    }
    return criterion;
}

void finish_against(AgainstOptions& against, std::span<const std::string> words, OutputOptions& output,
                    std::span<const std::string> read)
{
    require_file(option::against, *against.first);
    against.files.assign(words.begin(), words.end());
    against.files.insert(against.files.begin(), *against.first);
    if (std::ranges::count_if(against.files, is_standard_input) + std::ranges::count_if(read, is_standard_input) > 1) {
        throw Error(ErrorKind::usage, "--against: standard input can be read once; allowed: - for one file");
    }
    if (output.path) {
        require_picture(*output.path);
        require_one(against, model::option::output);
        against.picture = std::exchange(output.path, std::nullopt);
    }
    if (against.suggest) {
        require_one(against, option::suggest_input.name);
    }
}

Format format_of_suggested(const AgainstOptions& against)
{
    for (const Format format : {Format::npz, Format::safetensors}) {
        if (against.suggest->ends_with(info_of(format).ending)) {
            return format;
        }
    }
    throw Error(ErrorKind::usage, option::suggest_input.name, in_quotes(*against.suggest),
                "a name that ends with .npz or .safetensors");
}

} // namespace attn::cli
