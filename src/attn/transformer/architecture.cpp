#include "attn/transformer/architecture.hpp"

namespace attn::transformer {
namespace {

/// Collects what the parts of a description ask for.
class Needs {
public:
    void add(const LinearPart& linear)
    {
        const Index out = linear.rows.stored != 0 ? linear.rows.stored : linear.out;
        add(linear.name + ".weight", linear.input_major ? Shape{linear.in, out} : Shape{out, linear.in});
        if (linear.bias) {
            add(linear.name + ".bias", {out});
        }
    }

    void add(const std::optional<LinearPart>& linear)
    {
        if (linear) {
            add(*linear);
        }
    }

    void add(const std::optional<NormPart>& norm, Index size)
    {
        if (!norm) {
            return;
        }
        add(norm->name + ".weight", {size});
        if (norm->kind == NormKind::layer && norm->bias) {
            add(norm->name + ".bias", {size});
        }
    }

    void add_table(const std::string& name, Index rows, Index columns)
    {
        if (!name.empty()) {
            add(name + ".weight", {rows, columns});
        }
    }

    void add(std::string name, Shape shape) { needs_.push_back({std::move(name), std::move(shape)}); }

    void add(const EmbeddingPart& embedding)
    {
        add_table(embedding.words, embedding.V, embedding.size);
        add_table(embedding.positions, embedding.position_rows, embedding.size);
        add_table(embedding.types, embedding.type_rows, embedding.size);
        add(embedding.norm, embedding.size);
    }

    void add(const AttentionPart& attention)
    {
        for (const LinearPart* linear : {&attention.query, &attention.key, &attention.value, &attention.output}) {
            add(*linear);
        }
        add(attention.query_norm, attention.norm_all_heads ? attention.H * attention.d : attention.d);
        add(attention.key_norm, attention.norm_all_heads ? attention.H_kv * attention.d : attention.d);
    }

    void add(const LayerPart& layer, Index D)
    {
        for (const auto* norm : {&layer.attention_in, &layer.attention_out, &layer.attention_sum, //
                                 &layer.mlp_in, &layer.mlp_out, &layer.mlp_sum}) {
            add(*norm, D);
        }
        add(layer.attention);
        if (layer.cross) {
            add(layer.cross->in, D);
            add(layer.cross->sum, D);
            add(layer.cross->attention);
        }
        add(layer.mlp.up);
        add(layer.mlp.gate);
        add(layer.mlp.down);
    }

    void add(const HeadPart& head, Index V, Index D)
    {
        add(head.transform);
        const Index size = head.transform ? head.transform->out : D;
        add(head.norm, size);
        add_table(head.words, V, size);
        if (!head.bias.empty()) {
            add(head.bias, head.bias_is_row ? Shape{1, V} : Shape{V});
        }
    }

    void add(const Architecture& stack)
    {
        add(stack.embedding);
        for (const LayerPart& layer : stack.layers) {
            add(layer, stack.D);
        }
        if (stack.relative_bias) {
            add_table(stack.relative_bias->name, stack.relative_bias->buckets, stack.layers.front().attention.H);
        }
        add(stack.final_norm, stack.D);
        if (stack.head) {
            add(*stack.head, stack.embedding.V, stack.D);
        }
    }

    [[nodiscard]] std::vector<NeededTensor> all() { return std::move(needs_); }

private:
    std::vector<NeededTensor> needs_;
};

} // namespace

std::vector<NeededTensor> needed_tensors(const Architecture& architecture)
{
    Needs needs;
    if (architecture.encoder) {
        needs.add(*architecture.encoder);
    }
    needs.add(architecture);
    return needs.all();
}

const Architecture& stack_of(const Architecture& architecture, std::optional<Part> part)
{
    return part == Part::encoder ? *architecture.encoder : architecture;
}

const AttentionPart& attention_of(const LayerPart& layer, std::optional<Part> part)
{
    return part == Part::cross ? layer.cross.value().attention : layer.attention;
}

} // namespace attn::transformer
