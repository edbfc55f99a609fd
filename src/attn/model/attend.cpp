#include "attn/model/attend.hpp"

#include "attn/core/parallel.hpp"
#include "attn/model/attend_layout.hpp"
#include "attn/model/attend_tiled.hpp"
#include "attn/tensor/error.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

namespace attn::model {
namespace {

template <typename Scalar>
class Attending {
public:
    Attending(const AttendViews& views, const Attend& options, std::vector<StoredTensor>& tensors)
        : views_(views), options_(options), tensors_(tensors)
    {
    }

    /// The query heads of key/value head g in batch entry b.
    void group(Index b, Index g, const core::Work& work)
    {
        const AttendLengths& l = views_.sizes;
        const Index size = l.H / l.H_kv;
        core::Heads<Scalar> heads;
        heads.queries = Tensor<Scalar>({size, l.T, l.d_k});
        for (Index i = 0; i < size; ++i) {
            heads.queries.matrix(i) = load_matrix<Scalar>(views_.queries, std::array{b, g * size + i});
        }
        heads.keys = joined<Scalar>(views_.past_key, views_.keys, b, g);
        heads.values = joined<Scalar>(views_.past_value, views_.values, b, g);
        for (Index t = 0; t < l.T; ++t) {
            heads.query_positions.push_back(t + offset_of(views_, options_.align, static_cast<std::size_t>(b)));
        }
        if (views_.mask) {
            heads.mask = mask_of(b, g * size, size);
        }
        save_cache(b, g, heads);
        const core::Stages<Scalar> stages = core::attention(heads, options_for(b), keep(), work);
        if (stages.overflowed) {
            overflowed_ = true;
        }
        for (Index i = 0; i < size; ++i) {
            save(b, g * size + i, i, stages);
        }
    }

    [[nodiscard]] bool overflowed() const { return overflowed_; }

private:
    [[nodiscard]] TensorView mask_of(Index b, Index first_head, Index heads) const
    {
        TensorView mask = slice(*views_.mask, std::array{b});
        mask.bytes = mask.bytes.subspan(static_cast<std::size_t>(first_head * mask.strides[0] * size_of(mask.type)));
        mask.shape[0] = heads;
        return mask;
    }

    [[nodiscard]] core::AttentionOptions options_for(Index b) const
    {
        core::AttentionOptions options = options_;
        if (!views_.lengths.empty()) {
            options.valid_keys = views_.lengths[static_cast<std::size_t>(b)];
        }
        return options;
    }

    [[nodiscard]] core::Keep keep() const
    {
        const auto shown = [&](Stage stage) { return options_.show.contains(stage); };
        return {shown(Stage::scores),        shown(Stage::scaled_scores), shown(Stage::capped_scores),
                shown(Stage::masked_scores), shown(Stage::weights),       shown(Stage::entropy)};
    }

    /// Matrix `i` of a kept stage is that of head h in batch entry b.
    void save_stage(Stage stage, Index b, Index h, const Tensor<Scalar>& kept, Index i)
    {
        if (StoredTensor* tensor = find(tensors_, stage)) {
            const Index count = kept.rows() * kept.columns();
            const std::span<const Scalar> values(kept.values.data() + i * count, static_cast<std::size_t>(count));
            store(*tensor, (b * views_.sizes.H + h) * count, values);
        }
    }

    void save(Index b, Index h, Index i, const core::Stages<Scalar>& stages)
    {
        save_stage(Stage::scores, b, h, stages.scores, i);
        save_stage(Stage::scaled_scores, b, h, stages.scaled_scores, i);
        save_stage(Stage::capped_scores, b, h, stages.capped_scores, i);
        save_stage(Stage::masked_scores, b, h, stages.masked_scores, i);
        save_stage(Stage::weights, b, h, stages.weights, i);
        const AttendLengths& l = views_.sizes;
        if (StoredTensor* entropy = find(tensors_, Stage::entropy)) {
            const std::span<const Scalar> row(stages.entropy.values.data() + i * l.T, static_cast<std::size_t>(l.T));
            store(*entropy, (b * l.H + h) * l.T, row);
        }
        if (!views_.side_by_side) {
            return save_stage(Stage::context, b, h, stages.head_context, i);
        }
        if (StoredTensor* context = find(tensors_, Stage::context)) {
            for (Index t = 0; t < l.T; ++t) {
                const Scalar* row = stages.head_context.values.data() + (i * l.T + t) * l.d_v;
                store(*context, ((b * l.T + t) * l.H + h) * l.d_v,
                      std::span<const Scalar>(row, static_cast<std::size_t>(l.d_v)));
            }
        }
    }

    void save_cache(Index b, Index g, const core::Heads<Scalar>& heads)
    {
        for (const auto& [stage, rows] : {std::pair{Stage::present_key, &heads.keys}, {Stage::present_value, &heads.values}}) {
            if (StoredTensor* tensor = find(tensors_, stage)) {
                const auto count = static_cast<Index>(rows->values.size());
                store(*tensor, (b * views_.sizes.H_kv + g) * count, std::span<const Scalar>(rows->values));
            }
        }
    }

    const AttendViews& views_;
    const Attend& options_;
    std::vector<StoredTensor>& tensors_;
    std::atomic<bool> overflowed_ = false;
};

Shape shape_of(Stage stage, const AttendViews& views)
{
    const AttendLengths& l = views.sizes;
    switch (stage) {
    case Stage::context: return context_shape(views);
    case Stage::present_key: return stage_shape(views, l.H_kv, l.total(), l.d_k);
    case Stage::present_value: return stage_shape(views, l.H_kv, l.total(), l.d_v);
    case Stage::entropy: {
        Shape shape = stage_shape(views, l.H, l.T, 1);
        shape.pop_back();
        return shape;
    }
    default: return stage_shape(views, l.H, l.T, l.total());
    }
}

void require_stages(const AttendInputs& inputs, const Attend& options)
{
    const bool masked = inputs.mask || inputs.lengths || options.causal || options.window;
    for (const Stage stage : options.show) {
        const char* missing = stage == Stage::capped_scores && !options.softcap ? "with a softcap"
                              : stage == Stage::masked_scores && !masked        ? "with a mask, lengths, --causal or --window"
                                                                                : nullptr;
        if (missing != nullptr) {
            throw Error(ErrorKind::usage, "--show", quoted(stage_names.at(static_cast<std::size_t>(stage))), missing);
        }
    }
}

constexpr const char* memory_asked = "memory for the stages asked for";

Index result_bytes(const AttendViews& views, const Attend& options)
{
    Index bytes = 0;
    for (const Stage stage : options.show) {
        const Index count = element_count(shape_of(stage, views));
        bytes = checked_sum(bytes, checked_product(count, size_of(views.queries.type), memory_asked), memory_asked);
    }
    return bytes;
}

/// Bytes of the results, and of the key/value head that is converted where it cannot be read in place.
Index required_in_tiles(const AttendViews& views, const Attend& options, int threads)
{
    constexpr Index row = 256; // floats that a thread keeps for each of d_k and d_v: two tiles of at most 96 rows, and padding
    const AttendLengths& l = views.sizes;
    const Index at_once = std::min<Index>(threads, l.B * l.H * l.T);
    const Index scratch = checked_product(checked_sum(l.d_k, l.d_v, memory_asked), row * at_once, memory_asked);
    const Index converted = tiles_read_in_place(views) ? 0
                                                       : checked_sum(element_count({l.H / l.H_kv, l.T, l.d_k}),
                                                                     element_count({l.total(), l.d_k + l.d_v}), memory_asked);
    return checked_sum(result_bytes(views, options),
                       checked_product(checked_sum(scratch, converted, memory_asked), sizeof(float), memory_asked),
                       memory_asked);
}

/// Bytes of the results, and of what each thread works on.
Index required_bytes(const AttendViews& views, const Attend& options, int threads)
{
    constexpr const char* what = memory_asked;
    const Index bytes = result_bytes(views, options);
    const AttendLengths& l = views.sizes;
    const Index group = l.H / l.H_kv;
    Index unit = checked_sum(element_count({group, l.T, l.d_k + l.d_v}), element_count({l.total(), 2, l.d_k + l.d_v}), what);
    if (options.show.size() > 1) {
        unit = checked_sum(unit, element_count({group, static_cast<Index>(options.show.size()), l.T, l.total()}), what);
    }
    const Index at_once = std::min<Index>(threads, l.B * l.H_kv);
    return checked_sum(bytes, checked_product(checked_product(unit, at_once, what), 8, what), what);
}

void require_finite_inputs(const AttendInputs& inputs)
{
    require_finite(inputs.queries, "queries");
    require_finite(inputs.keys, "keys");
    require_finite(inputs.values, "values");
    if (inputs.past_key) {
        require_finite(*inputs.past_key, "past_key");
        require_finite(*inputs.past_value, "past_value");
    }
    if (inputs.mask) {
        require_finite(*inputs.mask, "mask", true);
    }
}

/// Room for the stages asked for.
std::vector<StoredTensor> make_tensors(const AttendViews& views, const Attend& options)
{
    std::vector<StoredTensor> tensors;
    for (const Stage stage : options.show) {
        const bool cached = stage == Stage::present_key || stage == Stage::present_value;
        tensors.emplace_back(stage_names.at(static_cast<std::size_t>(stage)), cached ? views.keys.type : views.queries.type,
                             shape_of(stage, views));
    }
    return tensors;
}

template <typename Scalar>
AttendResult attend_portable(const AttendViews& views, const Attend& options, core::Work work)
{
    AttendResult result{make_tensors(views, options), {}};
    // Whole heads are the larger pieces; rows are split where there are too few of them.
    const AttendLengths& l = views.sizes;
    const Index groups = l.B * l.H_kv;
    const bool by_head = groups >= work.threads;
    const core::Work inner = by_head ? core::Work{} : core::Work{work.threads, {}};
    work.threads = by_head ? work.threads : 1;
    Attending<Scalar> attending(views, options, result.tensors);
    core::for_each_block(groups, work, [&](Index index) { attending.group(index / l.H_kv, index % l.H_kv, inner); });
    if (attending.overflowed() && !options.allow_nonfinite) {
        constexpr bool is_widest = std::is_same_v<Scalar, double>;
        result.warnings.push_back("scores: a dot product overflowed " + std::string(name_of(dtype_of<Scalar>)) +
                                  "; the weights of its row may be nan" +
                                  (is_widest ? "" : "; float64 queries, keys or values are computed in float64"));
    }
    return result;
}

void require_memory(Index required, Index limit)
{
    if (required > limit) {
        throw Error(ErrorKind::too_large, "the stages asked for need " + std::to_string(required) + " bytes and " +
                                              std::to_string(limit) +
                                              " are free; ask for fewer with --show, or attend to part of the queries");
    }
}

} // namespace

AttendResult attend(const AttendInputs& inputs, const Attend& options, const RunSettings& settings)
{
    require_stages(inputs, options);
    AttendViews views = lay_out(inputs, options);
    const AttendLengths& l = views.sizes;
    const auto read_numbers = [&] {
        if (settings.read_numbers) {
            settings.read_numbers();
        }
        if (inputs.lengths) {
            views.lengths = read_lengths(*inputs.lengths, l);
        }
    };
    core::Work work{settings.threads, {}};
    if (settings.observer) {
        work.progress = [&](double share) { settings.observer({"attention", {}, share}); };
    }
    const auto tell = [&] {
        if (settings.observer) {
            settings.observer({"attention", {l.B, l.H, l.T, l.total()}, 0});
        }
    };
    std::string_view because = beyond_tiles(views, options);
    if (settings.isa != core::Isa::portable && because.empty()) {
        require_memory(required_in_tiles(views, options, settings.threads), settings.memory_limit);
        read_numbers();
        const core::TiledInputs all = tiled_inputs(views, options);
        if (all.reach != core::Reach::beyond) {
            tell();
            AttendResult result{make_tensors(views, options), {}};
            attend_tiled(views, all, options, settings, result.tensors, work);
            return result;
        }
        because = core::numbers_beyond;
    }
    require_memory(required_bytes(views, options, settings.threads), settings.memory_limit);
    read_numbers();
    if (!options.allow_nonfinite) {
        require_finite_inputs(inputs);
    }
    tell();
    AttendResult result =
        is_wide(views) ? attend_portable<double>(views, options, work) : attend_portable<float>(views, options, work);
    result.portable_because = settings.isa == core::Isa::portable ? "" : because;
    return result;
}

} // namespace attn::model
