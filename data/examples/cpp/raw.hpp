// Arrays of float32 in raw files, as attn-cli writes and reads them: NAME.bin holds the numbers, NAME.bin.json says which they
// are.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

struct Array {
    std::vector<std::size_t> shape;
    std::vector<float> numbers; // row-major; little-endian in the file, as this machine has them
};

std::map<std::string, Array> read_raw(const std::string& name);
void write_raw(const std::string& name, const std::map<std::string, Array>& arrays);
