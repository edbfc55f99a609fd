// .npz, NumPy's archive of arrays: a ZIP archive (zip.hpp) whose members are .npy files (npy.hpp) named "<array>.npy".
#pragma once

#include "attn/io/bytes.hpp"
#include "attn/io/tensors/tensor_file.hpp"

namespace attn::io {

/// As open_tensors does. Sizes, ratio and headers are checked before there is room for a deflated member.
[[nodiscard]] TensorFile open_npz(Bytes file, std::string_view what, std::string_view only, Index inflate_limit);

/// As tensor_names does.
[[nodiscard]] std::vector<std::string> npz_names(Bytes file, std::string_view what);

} // namespace attn::io
