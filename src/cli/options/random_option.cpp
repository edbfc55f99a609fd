#include "cli/options/random_option.hpp"

#include "attn/model/recipe/recipe_fields.hpp"
#include "attn/tensor/error.hpp"
#include "cli/options/numbers.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace attn::cli {
namespace {

constexpr std::string_view sizes_allowed = "B,H[/H_kv],T[/S],d[/d_v], integers from 1 to 2147483647, such as 2,8/2,128,64";

[[noreturn]] void refuse_sizes(std::string_view value, std::string_view allowed)
{
    throw Error(ErrorKind::usage, option::random.name, value, allowed);
}

/// "8/2"; "8" is both.
std::pair<Index, Index> two_sizes(std::string_view text)
{
    const std::size_t slash = text.find('/');
    const auto size = [](std::string_view number) {
        return integer(option::random.name, number, 1, model::field::largest_int32, sizes_allowed);
    };
    const Index first = size(text.substr(0, slash));
    return {first, slash == std::string_view::npos ? first : size(text.substr(slash + 1))};
}

core::AttentionDims read_sizes(std::string_view text)
{
    const std::vector<std::string_view> items = list(option::random.name, text, sizes_allowed);
    if (items.size() != 4 || items[0].find('/') != std::string_view::npos) {
        refuse_sizes(in_quotes(text), sizes_allowed);
    }
    core::AttentionDims sizes;
    sizes.B = two_sizes(items[0]).first;
    std::tie(sizes.H, sizes.H_kv) = two_sizes(items[1]);
    std::tie(sizes.T, sizes.S) = two_sizes(items[2]);
    std::tie(sizes.d_k, sizes.d_v) = two_sizes(items[3]);
    return sizes;
}

} // namespace

void declare_random(Options& options, RandomOptions& random)
{
    const std::string seed = option_name(model::draw_field::seed), generator = option_name(model::field::generator);
    options.add(option::random, random.sizes);
    options.add(option::random_type, random.drawn.type);
    options.add(model::draw_field::seed, random.drawn.seed);
    options.add(model::field::generator, random.drawn.generator);
    options.need({option::random_type.name, seed, generator}, option::random.name);
}

void finish_random(RandomOptions& random)
{
    if (!random.given()) {
        return;
    }
    core::AttentionDims& sizes = random.drawn.sizes;
    sizes = read_sizes(*random.sizes);
    if (sizes.H % sizes.H_kv != 0) {
        refuse_sizes(fmt::format("{} heads of queries and {} of keys and values", sizes.H, sizes.H_kv), "H_kv, a divisor of H");
    }
    if (random.drawn.packed && sizes.B != 1) {
        refuse_sizes(fmt::format("B = {}", sizes.B),
                     fmt::format("1 with {}, whose sequences lie one after another", model::operand::cu_seqlens.option));
    }
    model::require_seed(random.drawn.generator, random.drawn.seed, model::Origin::options_alone(option_name));
}

} // namespace attn::cli
