#include "cli/output/result_output.hpp"

#include "attn/io/bytes.hpp"
#include "attn/io/tensors/raw.hpp"
#include "attn/model/layer/matrix_sides.hpp"
#include "attn/model/recipe/option_names.hpp"
#include "attn/report/axes.hpp"
#include "attn/report/csv.hpp"
#include "attn/report/json/json.hpp"
#include "attn/report/text/introduction.hpp"
#include "attn/report/text/printed_recipe.hpp"
#include "attn/tensor/error.hpp"
#include "cli/options/show_option.hpp"
#include "cli/output/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace attn::cli {
namespace {

/// With the names of what heads of weights do.
void write_picture(const model::Result& result, const ResultFormat& how, Buffer& out)
{
    report::SvgOptions picture = how.picture;
    picture.remark = report::remark_on_chance(result);
    picture.caption = how.captioned ? report::caption(result) : "";
    report::write_svg(result, model::summaries_of(result), picture, out);
}

} // namespace

void begin_result(const ResultFormat& how, bool first, bool of_model, Buffer& out)
{
    if (info_of(how.format).has_header && first && how.header) {
        out.append(report::csv_header(true, of_model));
    }
    if (how.format == Format::table && !first) {
        out.append("\n");
    }
}

void write_result(const model::Result& result, const ResultFormat& how, const std::optional<SeriesPlace>& place, Buffer& out)
{
    const std::optional<Index> index = place ? std::optional(place->index) : std::nullopt;
    switch (how.format) {
    case Format::table: out.append(place ? place->name + "\n" : ""); return report::write_table(result, how.table, out);
    case Format::json: return report::write_json(result, {.index = index, .config = place ? place->config : nullptr}, out);
    case Format::csv: return report::write_csv(result, {.header = how.header && !place, .index = index}, out);
    case Format::svg: return write_picture(result, how, out);
    case Format::html: return write_page(result, how.page, out);
    case Format::recipe: return report::write_recipe(report::printed_recipe(result, how.table.digits), out);
    case Format::npy:
    case Format::npz:
    case Format::safetensors: return write_result_tensors(result, how.format, out);
    case Format::bin:
    case Format::markdown: break; // of other commands
    }
    throw Error(ErrorKind::internal, "write_result", name_of(how.format), "a format of results");
}

namespace {

class Collector {
public:
    /// `choices`: also the rows and heads that were chosen.
    Collector(const model::Result& result, bool choices) : choices_(choices)
    {
        for (const model::Layer& layer : result.layers) {
            add_all(result, layer, result.model ? prefix_of(layer.place()) : "");
        }
        if (result.logits) {
            add(std::string(name_of(model::Item::logits)), *result.logits);
        }
    }

    [[nodiscard]] const std::vector<NamedTensor>& tensors() const { return tensors_; }

private:
    void add_all(const model::Result& result, const model::Layer& layer, const std::string& prefix)
    {
        const bool is_first = &layer == &result.front();
        for (const model::ItemInfo& info : model::items) {
            const bool of_layer = standing_of(info.item) == model::Standing::in_layer;
            const auto* list = of_layer || is_first ? result.integers(info.item, layer) : nullptr; // layers share the rest
            if (list != nullptr && result.shows(info.item) && (choices_ || !is_choice(info.item))) {
                add((of_layer ? prefix : "") + std::string(info.name), *list,
                    model::Result::shape_of_integers(info.item, *list));
            }
        }
        for (const model::Array* array : report::shown_arrays(result, layer)) {
            add(prefix + array->name, array->tensor);
        }
    }

    void add(const std::string& name, const std::vector<Index>& values, const Shape& shape)
    {
        static_assert(sizeof(Index) == sizeof(std::int64_t));
        tensors_.push_back({name, row_major_view(ElementType::int64, shape, std::as_bytes(std::span(values)))});
    }

    void add(const std::string& name, const AnyTensor& any)
    {
        std::visit(
            [&]<typename Scalar>(const Tensor<Scalar>& tensor) {
                const auto bytes = std::as_bytes(std::span(tensor.values));
                tensors_.push_back({name, row_major_view(element_type_of<Scalar>, tensor.shape, bytes)});
            },
            any);
    }

    std::vector<NamedTensor> tensors_; ///< refer to the result
    bool choices_;
};

/// For an .npz: nothing where all matrices lie in the order `run`.
io::Metadata sides_of(const model::Result& result)
{
    model::MatrixSides sides;
    for (const model::Array* array : report::shown_arrays(result, result.front())) {
        const auto matrix = std::ranges::find(model::matrices, array->name, [](model::Target one) { return name_of(one); });
        if (matrix != model::matrices.end()) {
            sides[*matrix] = array->side;
        }
    }
    const bool usual =
        std::ranges::all_of(sides, [](const auto& one) { return one.second == side_in(model::MatrixLayout::run, one.first); });
    return usual ? io::Metadata() : io::Metadata{{std::string(model::right_matrices), text_of(sides)}};
}

} // namespace

void write_result_tensors(const model::Result& result, Format format, Buffer& out)
{
    const Collector collector(result, !info_of(format).one_array);
    if (collector.tensors().empty()) {
        throw Error(ErrorKind::usage, model::option::show, "only words",
                    "in .npz and .safetensors at least one array of numbers, such as weights");
    }
    require_arrays(std::ssize(collector.tensors()), format);
    const io::Metadata metadata = format == Format::npz ? sides_of(result)
                                  : result.model        ? report::metadata_of(*result.model)
                                                        : report::metadata_of(result.config());
    write_tensors(collector.tensors(), format, metadata, out);
}

void require_arrays(Index count, Format format)
{
    if (info_of(format).one_array && count > 1) {
        throw Error(ErrorKind::usage, fmt::format("{} {}", format_name, name_of(format)), counted(count, "array"),
                    "one, such as that of --layer last; .npz and .safetensors hold several");
    }
}

void append_numbers(const model::Result& result, Buffer& out)
{
    for (const model::Layer& layer : result.layers) {
        for (const model::Array* array : report::shown_arrays(result, layer)) {
            out.append(io::as_text(std::as_bytes(std::span(std::get<Tensor<float>>(array->tensor).values))));
        }
    }
}

void write_line_arrays(const std::vector<LineArray>& arrays, std::string_view lines, Format format, Buffer& out)
{
    const auto size_of = [](const LineArray& array) {
        return static_cast<std::size_t>(element_count(array.shape)) * sizeof(float);
    };
    std::size_t line = 0;
    for (const LineArray& array : arrays) {
        line += size_of(array);
    }
    std::vector<std::string> bytes; // the tensors refer to them
    bytes.reserve(arrays.size());
    std::vector<NamedTensor> tensors;
    for (std::size_t begin = 0; const LineArray& array : arrays) {
        std::string& own = bytes.emplace_back();
        own.reserve(lines.size() / line * size_of(array));
        for (std::size_t at = begin; at < lines.size(); at += line) {
            own += lines.substr(at, size_of(array));
        }
        begin += size_of(array);
        Shape shape = array.shape;
        shape.insert(shape.begin(), static_cast<Index>(lines.size() / line));
        tensors.push_back({array.name, row_major_view(ElementType::float32, shape, std::as_bytes(std::span(own)))});
    }
    write_tensors(tensors, format, {}, out);
}

void refuse_terminal(const Output& output, Format format)
{
    if (info_of(format).is_binary && output.columns()) {
        throw Error(ErrorKind::usage, "standard output is a terminal; write a binary format to a file with -o, or into a pipe");
    }
}

std::vector<NamedTensor> views_of(const std::vector<StoredTensor>& tensors)
{
    std::vector<NamedTensor> all;
    std::ranges::transform(tensors, std::back_inserter(all), [](const StoredTensor& tensor) {
        return NamedTensor{tensor.name, tensor.view()};
    });
    return all;
}

std::string header_of(const std::vector<NamedTensor>& tensors, Format format)
{
    return format == Format::bin ? io::raw_header(tensors) : "";
}

void write_tensors(const std::vector<NamedTensor>& tensors, Format format, const io::Metadata& metadata, Buffer& out)
{
    switch (format) {
    case Format::npy: return io::write_npy(tensors.at(0), out);
    case Format::npz: return io::write_npz(tensors, out, metadata);
    case Format::safetensors: return io::write_safetensors(tensors, out, metadata);
    case Format::bin: return io::write_raw(tensors, out);
    default: throw Error(ErrorKind::internal, "write_tensors: no format of tensors");
    }
}

} // namespace attn::cli
