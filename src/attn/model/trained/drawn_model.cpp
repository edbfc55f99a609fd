#include "attn/model/trained/drawn_model.hpp"

#include "attn/model/layer/initialise.hpp"
#include "attn/model/run/memory.hpp"
#include "attn/tensor/error.hpp"
#include "attn/tensor/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace attn::model {
namespace {

using Shapes = std::map<std::string, Shape>;

/// Of every tensor by its name, those that several parts share once.
Shapes shapes_of(const transformer::Architecture& architecture)
{
    Shapes shapes;
    for (transformer::NeededTensor& needed : transformer::needed_tensors(architecture)) {
        shapes.emplace(std::move(needed.name), std::move(needed.shape));
    }
    return shapes;
}

struct DrawnPart {
    Tensor<float> values;
    Index rows = 0; ///< drawn so far
};

class WeightDrawing {
public:
    WeightDrawing(const transformer::Architecture& architecture, Generator generator)
        : architecture_(architecture), generator_(generator), shapes_(shapes_of(architecture))
    {
    }

    void seed(std::uint64_t value, const std::string& place) { stream_ = start_stream(generator_, value, place); }

    /// `pattern`: the name as the draw has it, with its *.
    void draw(const std::string& pattern, const std::string& name, const Draw& draw, const std::string& place)
    {
        const Shape& shape = shape_of(pattern, name, place);
        DrawnPart& part = drawn_.try_emplace(name, DrawnPart{Tensor<float>(shape), 0}).first->second;
        const Index d = architecture_.layers.front().attention.d;
        const Index rows = draw.head ? d : shape.front();
        if (part.rows != draw.head.value_or(0) * d || part.rows + rows > shape.front()) {
            throw Error(ErrorKind::data,
                        fmt::format("{}: {}{}", place, name, draw.head ? fmt::format(" of head {}", *draw.head) : ""),
                        fmt::format("{} of its {} drawn before", part.rows, counted(shape.front(), "row")),
                        "each tensor once, or once for each head, from head 0 on");
        }
        const Index row = element_count(shape) / shape.front();
        const std::vector<double> values = numbers(name, draw, rows * row, place);
        std::ranges::transform(values, part.values.values.begin() + part.rows * row,
                               [](double value) { return static_cast<float>(value); });
        part.rows += rows;
    }

    std::vector<NamedTensor> finished()
    {
        std::vector<NamedTensor> tensors;
        for (auto& [name, part] : drawn_) {
            if (part.rows != part.values.shape.front()) {
                throw Error(ErrorKind::data, "draws: " + name, fmt::format("{} rows", part.rows),
                            fmt::format("{}, those of all heads", part.values.shape.front()));
            }
            tensors.push_back(owned(name, std::move(part.values)));
        }
        const std::string head = architecture_.head ? architecture_.head->words + ".weight" : ""; // a model may have none
        for (const auto& [name, shape] : shapes_) {
            if (drawn_.contains(name) || name == head) {
                continue;
            }
            if (!is_of_norm(name)) {
                throw Error(ErrorKind::data, fmt::format("draws: no draw of {}, of the shape {}; "
                                                         "allowed: one of each tensor that config.json asks for",
                                                         in_quotes(name), to_string(shape)));
            }
            Tensor<float> values(shape);
            std::ranges::fill(values.values, name.ends_with(".weight") ? 1.0F : 0.0F);
            tensors.push_back(owned(name, std::move(values)));
        }
        return tensors;
    }

private:
    [[nodiscard]] const Shape& shape_of(const std::string& pattern, const std::string& name, const std::string& place) const
    {
        const auto found = shapes_.find(name);
        if (found != shapes_.end()) {
            return found->second;
        }
        std::vector<std::string> patterns;
        for (const auto& [known, shape] : shapes_) {
            const std::size_t number = known.find(".0.");
            patterns.push_back(number == std::string::npos ? known : std::string(known).replace(number, 3, ".*."));
        }
        const std::vector<std::string_view> names(patterns.begin(), patterns.end());
        throw Error(ErrorKind::data, place + ": tensor", in_quotes(pattern),
                    "a tensor of this model" + did_you_mean(pattern, names));
    }

    /// That of the weight which belongs to a weight or bias.
    [[nodiscard]] const Shape& weight_shape(const std::string& name) const
    {
        const auto weight = shapes_.find(name.substr(0, name.rfind('.')) + ".weight");
        return weight == shapes_.end() ? shapes_.at(name) : weight->second;
    }

    [[nodiscard]] bool is_of_norm(const std::string& name) const { return weight_shape(name).size() == 1; }

    std::vector<double> numbers(const std::string& name, const Draw& draw, Index count, const std::string& place)
    {
        if (draw.init == Initialisation::zeros) {
            std::vector<double> zeros(static_cast<std::size_t>(count));
            return zeros;
        }
        const auto fans = [&](FansOf of) {
            const Shape& weight = weight_shape(name);
            if (weight.size() < 2) {
                throw Error(ErrorKind::data, fmt::format("{}: {}", place, name), "the shape " + to_string(shapes_.at(name)),
                            "a weight of two dimensions, or its bias, with this init");
            }
            const Index out = draw.head ? architecture_.layers.front().attention.d : weight[0];
            return Fans{weight[1], of == FansOf::joint ? 3 * out : out};
        };
        if (!stream_) {
            throw Error(ErrorKind::data, place + " comes before any seed; allowed: a seed first");
        }
        return draw_numbers(*stream_, draw, count, name.ends_with(".bias"), fans);
    }

    const transformer::Architecture& architecture_;
    Generator generator_;
    std::optional<random::Stream> stream_;
    Shapes shapes_;
    std::map<std::string, DrawnPart> drawn_;
};

} // namespace

void require_room_for_weights(const transformer::Architecture& architecture, Index limit)
{
    constexpr const char* what = "memory for the weights";
    const Shapes shapes = shapes_of(architecture);
    const auto count_of = [](const Shapes::value_type& tensor) { return element_count(tensor.second); };
    Index total = 0;
    for (const auto& tensor : shapes) {
        total = checked_sum(total, count_of(tensor), what);
    }
    const auto largest = std::ranges::max_element(shapes, {}, count_of);
    const Index bytes = checked_sum(checked_product(total, sizeof(float), what),
                                    checked_product(count_of(*largest), sizeof(double), what), what);
    if (bytes > limit) {
        throw Error(ErrorKind::too_large,
                    fmt::format("the weights drawn need {} (the largest: {} {}) and {} are free; "
                                "smaller sizes in config.json take less",
                                bytes_in_words(bytes), largest->first, to_string(largest->second), bytes_in_words(limit)));
    }
}

std::vector<NamedTensor> draw_weights(const transformer::Architecture& architecture, const ModelDraws& draws)
{
    WeightDrawing drawing(architecture, draws.generator);
    const auto star = [&](std::size_t step) {
        const auto* draw = std::get_if<TensorDraw>(&draws.steps[step]);
        return draw == nullptr ? std::string::npos : draw->tensor.find('*');
    };
    const std::size_t count = draws.steps.size();
    for (std::size_t step = 0; step < count;) {
        std::size_t end = step; // of the block that begins here
        while (end < count && star(end) != std::string::npos) {
            ++end;
        }
        for (std::size_t layer = 0; end > step && layer < architecture.layers.size(); ++layer) {
            for (std::size_t i = step; i < end; ++i) {
                const auto& draw = std::get<TensorDraw>(draws.steps[i]);
                drawing.draw(draw.tensor, std::string(draw.tensor).replace(star(i), 1, std::to_string(layer)), draw.numbers,
                             place_of_step(i));
            }
        }
        if (end == step) {
            if (const auto* seed = std::get_if<Seed>(&draws.steps[step])) {
                drawing.seed(seed->value, place_of_step(step));
            } else {
                const auto& draw = std::get<TensorDraw>(draws.steps[step]);
                drawing.draw(draw.tensor, draw.tensor, draw.numbers, place_of_step(step));
            }
            ++end;
        }
        step = end;
    }
    return drawing.finished();
}

} // namespace attn::model
