// Where the numbers of a file are wrong, as a picture: one panel per head, the largest difference in each cell.
#pragma once

#include "attn/model/diagnose/against.hpp"
#include "attn/tensor/buffer.hpp"

#include <string_view>

namespace attn::report {

/// `name`: what the file is called. Throws Error(usage) for an array that is not laid out by heads, rows and columns.
void write_error_map(const model::diagnose::Against& against, std::string_view name, Buffer& buffer);

} // namespace attn::report
