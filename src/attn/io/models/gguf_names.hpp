// The names of the two worlds, as data: what a .gguf calls keys and tensors, and what model hubs call them.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace attn::io::gguf_names {

/// What a .gguf calls something, and what model hubs call it.
struct Name {
    std::string_view gguf, hub;
};

/// Of a model's tensors, without .weight and .bias: the ones outside of layers, and those behind "blk.0." and `layers` + "0.".
struct TensorNames {
    std::string_view layers;
    std::span<const Name> outside, inside;
};

inline constexpr std::array llama_outside{Name{"token_embd", "embed_tokens"}, Name{"output_norm", "norm"},
                                          Name{"output", "lm_head"}};
inline constexpr std::array llama_inside{
    Name{"attn_norm", "input_layernorm"},    Name{"attn_q", "self_attn.q_proj"},
    Name{"attn_k", "self_attn.k_proj"},      Name{"attn_v", "self_attn.v_proj"},
    Name{"attn_output", "self_attn.o_proj"}, Name{"attn_q_norm", "self_attn.q_norm"},
    Name{"attn_k_norm", "self_attn.k_norm"}, Name{"ffn_norm", "post_attention_layernorm"},
    Name{"ffn_gate", "mlp.gate_proj"},       Name{"ffn_up", "mlp.up_proj"},
    Name{"ffn_down", "mlp.down_proj"},
};
/// With norms behind attention and MLP, besides.
inline constexpr std::array gemma2_inside{
    Name{"attn_norm", "input_layernorm"},
    Name{"attn_q", "self_attn.q_proj"},
    Name{"attn_k", "self_attn.k_proj"},
    Name{"attn_v", "self_attn.v_proj"},
    Name{"attn_output", "self_attn.o_proj"},
    Name{"attn_q_norm", "self_attn.q_norm"},
    Name{"attn_k_norm", "self_attn.k_norm"},
    Name{"post_attention_norm", "post_attention_layernorm"},
    Name{"ffn_norm", "pre_feedforward_layernorm"},
    Name{"post_ffw_norm", "post_feedforward_layernorm"},
    Name{"ffn_gate", "mlp.gate_proj"},
    Name{"ffn_up", "mlp.up_proj"},
    Name{"ffn_down", "mlp.down_proj"},
};
inline constexpr std::array phi_outside{Name{"token_embd", "embed_tokens"}, Name{"output_norm", "final_layernorm"},
                                        Name{"output", "lm_head"}};
inline constexpr std::array phi_inside{
    Name{"attn_norm", "input_layernorm"},
    Name{"attn_q", "self_attn.q_proj"},
    Name{"attn_k", "self_attn.k_proj"},
    Name{"attn_v", "self_attn.v_proj"},
    Name{"attn_qkv", "self_attn.qkv_proj"},
    Name{"attn_output", "self_attn.dense"},
    Name{"ffn_up", "mlp.fc1"},
    Name{"ffn_down", "mlp.fc2"},
};
inline constexpr std::array gpt2_outside{Name{"token_embd", "wte"}, Name{"position_embd", "wpe"}, Name{"output_norm", "ln_f"},
                                         Name{"output", "lm_head"}};
inline constexpr std::array gpt2_inside{
    Name{"attn_norm", "ln_1"}, Name{"attn_qkv", "attn.c_attn"}, Name{"attn_output", "attn.c_proj"},
    Name{"ffn_norm", "ln_2"},  Name{"ffn_up", "mlp.c_fc"},      Name{"ffn_down", "mlp.c_proj"},
};
inline constexpr std::array neox_outside{Name{"token_embd", "embed_in"}, Name{"output_norm", "final_layer_norm"},
                                         Name{"output", "embed_out"}};
inline constexpr std::array neox_inside{
    Name{"attn_norm", "input_layernorm"},   Name{"attn_qkv", "attention.query_key_value"},
    Name{"attn_output", "attention.dense"}, Name{"ffn_norm", "post_attention_layernorm"},
    Name{"ffn_up", "mlp.dense_h_to_4h"},    Name{"ffn_down", "mlp.dense_4h_to_h"},
};
inline constexpr std::array bert_outside{
    Name{"token_embd", "embeddings.word_embeddings"}, Name{"position_embd", "embeddings.position_embeddings"},
    Name{"token_types", "embeddings.token_type_embeddings"}, Name{"token_embd_norm", "embeddings.LayerNorm"}};
inline constexpr std::array bert_inside{
    Name{"attn_q", "attention.self.query"},
    Name{"attn_k", "attention.self.key"},
    Name{"attn_v", "attention.self.value"},
    Name{"attn_output", "attention.output.dense"},
    Name{"attn_output_norm", "attention.output.LayerNorm"},
    Name{"ffn_up", "intermediate.dense"},
    Name{"ffn_down", "output.dense"},
    Name{"layer_output_norm", "output.LayerNorm"},
};

inline constexpr TensorNames llama_names{"layers.", llama_outside, llama_inside};
inline constexpr TensorNames gemma2_names{"layers.", llama_outside, gemma2_inside};
inline constexpr TensorNames phi_names{"layers.", phi_outside, phi_inside};
inline constexpr TensorNames gpt2_names{"h.", gpt2_outside, gpt2_inside};
inline constexpr TensorNames neox_names{"layers.", neox_outside, neox_inside};
inline constexpr TensorNames bert_names{"encoder.layer.", bert_outside, bert_inside};

struct Family {
    std::string_view architecture, model_type;
    const TensorNames& names;
    bool like_llama = false; ///< its tensors say whether linear layers have biases; without key_length a head has D / H numbers
    bool interleaved = false; ///< queries and keys in the order of neighbouring pairs
};

inline constexpr std::array families{
    Family{"bert", "bert", bert_names},
    Family{"gemma", "gemma", llama_names, true},
    Family{"gemma2", "gemma2", gemma2_names, true},
    Family{"gemma3", "gemma3_text", gemma2_names, true},
    Family{"gpt2", "gpt2", gpt2_names},
    Family{"gptneox", "gpt_neox", neox_names},
    Family{"llama", "llama", llama_names, true, true},
    Family{"olmo2", "olmo2", gemma2_names, true},
    Family{"phi2", "phi", phi_names},
    Family{"qwen2", "qwen2", llama_names, true},
    Family{"qwen3", "qwen3", llama_names, true},
};

/// Keys behind "llama.", say. Those without another name change nothing that is computed here.
inline constexpr std::array keys{
    Name{"attention.head_count", "num_attention_heads"},
    Name{"attention.head_count_kv", "num_key_value_heads"},
    Name{"attention.key_length", "head_dim"},
    Name{"attention.layer_norm_epsilon", "layer_norm_eps"},
    Name{"attention.layer_norm_rms_epsilon", "rms_norm_eps"},
    Name{"attention.sliding_window", "sliding_window"},
    Name{"attn_logit_softcapping", "attn_logit_softcapping"},
    Name{"block_count", "num_hidden_layers"},
    Name{"context_length", "max_position_embeddings"},
    Name{"embedding_length", "hidden_size"},
    Name{"feed_forward_length", "intermediate_size"},
    Name{"final_logit_softcapping", "final_logit_softcapping"},
    Name{"pooling_type", ""},
    Name{"rope.freq_base", "rope_theta"},
    Name{"rope.freq_base_swa", "rope_local_base_freq"},
    Name{"rope.scaling.factor", "rope_scaling.factor"},
    Name{"rope.scaling.finetuned", ""},
    Name{"rope.scaling.original_context_length", ""},
    Name{"rope.scaling.type", "rope_scaling.type"},
    Name{"tensor_data_layout", ""},
    Name{"use_parallel_residual", "use_parallel_residual"},
    Name{"vocab_size", "vocab_size"},
};
/// Of these something else is made, or nothing but a judgement.
inline constexpr std::array<std::string_view, 3> read_apart{"attention.causal", "attention.value_length",
                                                            "rope.dimension_count"};
/// GPT-2's config has names of its own.
inline constexpr std::array gpt2_keys{Name{"intermediate_size", "n_inner"}, Name{"layer_norm_eps", "layer_norm_epsilon"}};

} // namespace attn::io::gguf_names
