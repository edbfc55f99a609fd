// The one reader of arrays in files: which kinds of files there are, and which of them a file is. Whatever takes numbers from a
// file (--against, compare, plot, --params, --mask, the tensors of attend) asks here.
#pragma once

#include "attn/io/bytes.hpp"
#include "attn/io/tensors/tensor_file.hpp"
#include "attn/math/printed_numbers.hpp"
#include "attn/model/check/saved_result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace attn::io {

/// Tensors are .npy, .npz and .safetensors; JSON is results and tensors of ours; a text is anything of texts/array_text.hpp.
enum class ArrayFormat { tensors, json, text };

/// What a text says of an array, apart from its numbers.
struct OfText {
    math::PrintedNumbers printed;                ///< row-major; they read from the bytes
    std::vector<std::string> rows, columns = {}; ///< words of the last two dimensions; empty: it has none
};

struct ArrayFile {
    TensorFile file;                           ///< a text gives int64, bool or float64, as its numbers are
    std::vector<OfText> texts = {};            ///< of a text: one per entry
    std::vector<model::NamedWords> words = {}; ///< of results as JSON

    /// How the numbers of an entry were printed; of a file that is not a text, nothing.
    [[nodiscard]] const OfText& of_text(const NamedTensor& entry) const;
};

/// What the first bytes may be the beginning of. Throws Error(data), naming `what`, for anything else.
[[nodiscard]] ArrayFormat may_begin_arrays(Bytes front, const std::string& what);
/// The same of a whole file. An object of JSON that is not a document of ours is a text.
[[nodiscard]] ArrayFormat array_format(Bytes bytes, const std::string& what);

/// Reads a file of any kind; of an .npz the numbers later, as open_tensors() does. `only` is the one array that is wanted. Of
/// several JSON texts the arrays of the third line are called "line 3 weights". Throws Error(data), naming `what`, for what is
/// broken and for what is no such file.
[[nodiscard]] ArrayFile open_arrays(Bytes bytes, const std::string& what, std::string_view only = {});

} // namespace attn::io
