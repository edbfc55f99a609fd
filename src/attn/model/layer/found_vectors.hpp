// What a search for words asks, and what it finds.
#pragma once

#include "attn/tensor/tensor.hpp"

#include <span>
#include <string>
#include <vector>

namespace attn::model {

inline constexpr Index largest_vector = 1048576; ///< numbers of a word

/// Words to look for, each at most once in either list.
struct WantedWords {
    std::span<const std::string> words;        ///< whose vectors are read
    std::span<const std::string> noticed = {}; ///< whose vectors are not: only whether they are there is asked
};

/// What was found, in the order of the words.
struct FoundVectors {
    Tensor<double> rows;            ///< (n, D); of a word that is not there, zeros
    std::vector<bool> found;        ///< (n)
    std::vector<bool> noticed = {}; ///< of WantedWords::noticed
    std::string other_count = {};   ///< why the first of the words is not there whose line has more numbers than others
};

} // namespace attn::model
