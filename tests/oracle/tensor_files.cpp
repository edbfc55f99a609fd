// What the library reads from a tensor file, and what it writes, for tests/oracle/live_tensor_files.py.
//
//   tensor_files read FILE [NAME]         for each tensor a line "type shape name", then its values as float64 (integers: as
//   they are) tensor_files convert FROM TO FORMAT   the tensors of one file written to another: npy, npz, safetensors
//   tensor_files round TYPE               float64 values of standard input, rounded to float16 or bfloat16 tensor_files widen
//   TYPE their 16-bit patterns of standard input, as float64
#include "attn/io/tensors/tensor_file.hpp"
#include "attn/tensor/error.hpp"

#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

namespace {

using attn::ElementType;

std::string contents(std::istream& stream)
{
    return {std::istreambuf_iterator<char>(stream), {}};
}

std::string file(const std::string& path)
{
    std::ifstream stream(path, std::ios::binary);
    return contents(stream);
}

template <typename Value>
void write_values(const std::vector<Value>& values)
{
    std::cout.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(Value)));
}

template <typename Value>
std::vector<Value> read_values()
{
    const std::string bytes = contents(std::cin);
    std::vector<Value> values(bytes.size() / sizeof(Value));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(Value));
    return values;
}

void read(const std::string& path, const std::string& name)
{
    const std::string bytes = file(path);
    for (const auto& entry : attn::io::read_tensors(std::as_bytes(std::span(bytes)), path, name).entries) {
        std::cout << attn::name_of(entry.view.type) << ' ' << '(';
        for (const attn::Index length : entry.view.shape) {
            std::cout << length << ',';
        }
        std::cout << ") " << entry.name << '\n';
        if (attn::is_integer(entry.view.type)) {
            write_values(attn::load<std::int64_t>(entry.view).values);
        } else {
            write_values(attn::load<double>(entry.view).values);
        }
    }
}

void convert(const std::string& from, const std::string& to, const std::string& format)
{
    const std::string bytes = file(from);
    const attn::io::TensorFile tensors = attn::io::read_tensors(std::as_bytes(std::span(bytes)), from);
    std::vector<attn::NamedTensor> written;
    for (const attn::NamedTensor& entry : tensors.entries) {
        const auto values = attn::load<double>(entry.view).values;
        attn::StoredTensor row_major(entry.name, entry.view.type, entry.view.shape);
        row_major.bytes = attn::to_bytes(row_major.type, std::span<const double>(values));
        written.push_back(attn::owned(std::move(row_major)));
    }
    attn::Buffer file;
    if (format == "npy") {
        attn::io::write_npy(written.at(0), file);
    } else if (format == "npz") {
        attn::io::write_npz(written, file);
    } else {
        attn::io::write_safetensors(written, file);
    }
    std::ofstream(to, std::ios::binary) << file.text();
}

void round(const std::string& type)
{
    const std::vector<double> values = read_values<double>();
    const ElementType to = type == "float16" ? ElementType::float16 : ElementType::bfloat16;
    const std::vector<std::byte> bytes = attn::to_bytes(to, std::span(values));
    std::cout.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

void widen(const std::string& type)
{
    std::vector<double> values;
    for (const std::uint16_t bits : read_values<std::uint16_t>()) {
        values.push_back(type == "float16" ? attn::from_float16(bits) : attn::from_bfloat16(bits));
    }
    write_values(values);
}

} // namespace

int main(int count, char** arguments)
try {
    const std::vector<std::string> given(arguments + 1, arguments + count);
    if (given.at(0) == "read") {
        read(given.at(1), given.size() > 2 ? given[2] : "");
    } else if (given[0] == "convert") {
        convert(given.at(1), given.at(2), given.at(3));
    } else if (given[0] == "round") {
        round(given.at(1));
    } else {
        widen(given.at(1));
    }
    return 0;
} catch (const attn::Error& error) {
    std::cerr << error.what() << '\n';
    return error.kind() == attn::ErrorKind::data ? 65 : 1;
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
