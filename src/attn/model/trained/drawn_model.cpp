#include "attn/model/trained/drawn_model.hpp"

#include "attn/model/run/memory.hpp"
#include "attn/tensor/error.hpp"

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

class WeightPlanning {
public:
    WeightPlanning(const transformer::Architecture& architecture, Generator generator)
        : architecture_(architecture), shapes_(shapes_of(architecture)), plan_{generator, {}, {}}
    {
    }

    void seed(const Seed& seed, const std::string& place)
    {
        require_seed(plan_.generator, seed.value, place);
        seeded_ = true;
        plan_.steps.emplace_back(seed);
    }

    /// `pattern`: the name as the draw has it, with its *.
    void draw(const std::string& pattern, const std::string& name, const Draw& draw, const std::string& place)
    {
        const Shape& shape = shape_of(pattern, name, place);
        plan_.tensors.try_emplace(name, PlannedTensor{shape});
        Index& before = rows_[name];
        const Index d = architecture_.layers.front().attention.d;
        const Index rows = draw.head ? d : shape.front();
        if (before != draw.head.value_or(0) * d || before + rows > shape.front()) {
            throw Error(ErrorKind::data,
                        fmt::format("{}: {}{}", place, name, draw.head ? fmt::format(" of head {}", *draw.head) : ""),
                        fmt::format("{} of its {} drawn before", before, counted(shape.front(), "row")),
                        "each tensor once, or once for each head, from head 0 on");
        }
        const Index row = element_count(shape) / shape.front();
        if (draw.init != Initialisation::zeros) { // as they are before a draw
            plan_.steps.emplace_back(WeightDraw{name, before * row, rows * row, distribution(name, draw, place)});
        }
        before += rows;
    }

    WeightPlan finished() &&
    {
        for (const auto& [name, rows] : rows_) {
            if (const Index all = shapes_.at(name).front(); rows != all) {
                throw Error(ErrorKind::data, "draws: " + name, fmt::format("{} rows", rows),
                            fmt::format("{}, those of all heads", all));
            }
        }
        const std::string head = architecture_.head ? architecture_.head->words + ".weight" : ""; // a model may have none
        for (const auto& [name, shape] : shapes_) {
            if (rows_.contains(name) || name == head) {
                continue;
            }
            if (!is_of_norm(name)) {
                throw Error(ErrorKind::data, fmt::format("draws: no draw of {}, of the shape {}; "
                                                         "allowed: one of each tensor that config.json asks for",
                                                         in_quotes(name), to_string(shape)));
            }
            plan_.tensors.emplace(name, PlannedTensor{shape, name.ends_with(".weight") ? 1.0F : 0.0F});
        }
        return std::move(plan_);
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

    [[nodiscard]] Distribution distribution(const std::string& name, const Draw& draw, const std::string& place) const
    {
        if (!seeded_) {
            throw Error(ErrorKind::data, place + " comes before any seed; allowed: a seed first");
        }
        return distribution_of(draw, name.ends_with(".bias"), [&](FansOf of) {
            const Shape& weight = weight_shape(name);
            if (weight.size() < 2) {
                throw Error(ErrorKind::data, fmt::format("{}: {}", place, name), "the shape " + to_string(shapes_.at(name)),
                            "a weight of two dimensions, or its bias, with this init");
            }
            const Index out = draw.head ? architecture_.layers.front().attention.d : weight[0];
            return Fans{weight[1], of == FansOf::joint ? 3 * out : out};
        });
    }

    const transformer::Architecture& architecture_;
    Shapes shapes_;
    WeightPlan plan_;
    std::map<std::string, Index> rows_; ///< planned so far
    bool seeded_ = false;
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

WeightPlan plan_weights(const transformer::Architecture& architecture, const ModelDraws& draws)
{
    WeightPlanning planning(architecture, draws.generator);
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
                planning.draw(draw.tensor, std::string(draw.tensor).replace(star(i), 1, std::to_string(layer)), draw.numbers,
                              place_of_step(i));
            }
        }
        if (end == step) {
            if (const auto* seed = std::get_if<Seed>(&draws.steps[step])) {
                planning.seed(*seed, place_of_step(step));
            } else {
                const auto& draw = std::get<TensorDraw>(draws.steps[step]);
                planning.draw(draw.tensor, draw.tensor, draw.numbers, place_of_step(step));
            }
            ++end;
        }
        step = end;
    }
    return std::move(planning).finished();
}

std::vector<NamedTensor> draw_weights(const WeightPlan& plan)
{
    std::map<std::string, Tensor<float>> drawn;
    for (const auto& [name, tensor] : plan.tensors) {
        const auto count = static_cast<std::size_t>(element_count(tensor.shape));
        drawn.emplace(name, Tensor<float>(tensor.shape, std::vector<float>(count, tensor.fill)));
    }
    std::optional<random::Stream> stream;
    for (const auto& step : plan.steps) {
        if (const auto* seed = std::get_if<Seed>(&step)) {
            stream = start_stream(plan.generator, seed->value);
            continue;
        }
        const auto& draw = std::get<WeightDraw>(step);
        std::ranges::transform(draw_numbers(*stream, draw.numbers, draw.count), drawn.at(draw.tensor).values.begin() + draw.at,
                               [](double value) { return static_cast<float>(value); });
    }
    std::vector<NamedTensor> tensors;
    tensors.reserve(drawn.size());
    for (auto& [name, tensor] : drawn) {
        tensors.push_back(owned(name, std::move(tensor)));
    }
    return tensors;
}

} // namespace attn::model
