#include "attn/model/layer/embedding_tensor.hpp"

#include "attn/model/layer/float32_range.hpp"
#include "attn/tensor/error.hpp"
#include "attn/tensor/once.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

namespace attn::model {
namespace {

constexpr std::string_view accepting = "--set embeddings.allow_nonfinite=true";
constexpr Index most_rows = std::numeric_limits<std::int32_t>::max(); // ids are as large

void require_rows(const NamedTensor& table, bool allow_nonfinite, const RowOf& row_of, std::span<const std::string> words,
                  const Arriving* arriving = nullptr)
{
    for (const std::string& word : words) {
        if (const auto row = row_of(word)) {
            const std::string what = fmt::format("{}, row {}, {},", table.name, *row, in_quotes(word));
            const TensorView numbers = row_block(table.view, *row, 1);
            require_exact_integers(numbers, Dtype::float64, what, wider_run, arriving);
            if (!allow_nonfinite) {
                require_finite(numbers, what, false, accepting, arriving);
            }
        }
    }
}

FoundVectors find_rows(const TensorView& rows, const RowOf& row_of, const WantedWords& wanted)
{
    const auto count = static_cast<Index>(wanted.words.size());
    FoundVectors found{.rows = Tensor<double>({count, rows.shape[1]}), .found = std::vector<bool>(wanted.words.size())};
    for (Index i = 0; i < count; ++i) {
        if (const auto row = row_of(wanted.words[static_cast<std::size_t>(i)])) {
            found.rows.matrix().row(i) = load_matrix<double>(row_block(rows, *row, 1), {});
            found.found[static_cast<std::size_t>(i)] = true;
        }
    }
    for (const std::string& word : wanted.noticed) {
        found.noticed.push_back(row_of(word).has_value());
    }
    return found;
}

} // namespace

void require_table(const NamedTensor& table)
{
    require_numbers(table.view, "type of " + table.name);
    const Shape& shape = table.view.shape;
    const bool fits =
        shape.size() == 2 && shape[0] >= 1 && shape[0] <= most_rows && shape[1] >= 1 && shape[1] <= largest_vector;
    if (!fits) {
        throw Error(ErrorKind::data, table.name, "the shape " + to_string(shape),
                    fmt::format("(rows, D), D up to {}", largest_vector));
    }
}

VectorsOfIds vectors_of_ids(NamedTensor table, bool allow_nonfinite)
{
    VectorsOfIds vectors{.name = table.name, .dim = table.view.shape[1], .count = table.view.shape[0], .rows = {}};
    const auto there = std::make_shared<std::atomic<bool>>(false);
    if (const Index bytes = table.inflated(); bytes > 0) { // others only have to be checked
        vectors.takes = [there, bytes] { return *there ? 0 : bytes; };
    }
    vectors.rows = [table = std::move(table), allow_nonfinite, there,
                    judged = std::make_shared<std::array<Once, dtype_names.size()>>()](Dtype dtype) {
        const auto judge = [&](const Arriving* arriving) {
            if (!allow_nonfinite) {
                require_finite(table.view, table.name, false, accepting, arriving);
            }
            require_exact_integers(table.view, Dtype::float64, table.name, wider_run, arriving);
            if (dtype == Dtype::float32) {
                require_float32_range(table.view, table.name, wider_run, arriving);
                require_exact_integers(table.view, dtype, table.name, wider_run, arriving);
            }
        };
        table.read_numbers([&](const Arriving& arriving) { judge(&arriving); });
        *there = true;
        judged->at(static_cast<std::size_t>(dtype)).act([&] { judge(nullptr); }); // not for each of many lines
        return table;
    };
    return vectors;
}

VectorsOfWords vectors_of_words(NamedTensor table, bool allow_nonfinite, RowOf row_of)
{
    VectorsOfWords vectors{.name = table.name,
                           .dim = table.view.shape[1],
                           .find = {},
                           .prepare = [table] { table.read_numbers(); },
                           .integers = is_integer(table.view.type)};
    vectors.find = [table = std::move(table), allow_nonfinite, row_of = std::move(row_of)](const WantedWords& wanted) {
        table.read_numbers(
            [&](const Arriving& arriving) { require_rows(table, allow_nonfinite, row_of, wanted.words, &arriving); });
        require_rows(table, allow_nonfinite, row_of, wanted.words);
        return find_rows(table.view, row_of, wanted);
    };
    return vectors;
}

} // namespace attn::model
