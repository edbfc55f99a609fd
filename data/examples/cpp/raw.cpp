#include "raw.hpp"

#include <nlohmann/json.hpp>

#include <fstream>
#include <stdexcept>

std::map<std::string, Array> read_raw(const std::string& name)
{
    std::ifstream header_file(name + ".json"), numbers(name, std::ios::binary);
    const auto header = nlohmann::json::parse(header_file);
    std::map<std::string, Array> arrays;
    for (const auto& described : header.at("arrays")) {
        if (described.at("dtype") != "float32") {
            throw std::runtime_error(name + ": got " + described.dump() + "; allowed: float32");
        }
        Array& array = arrays[described.at("name")];
        std::size_t count = 1;
        for (const std::size_t size : described.at("shape")) {
            array.shape.push_back(size);
            count *= size;
        }
        array.numbers.resize(count);
        numbers.seekg(described.at("offset").get<std::streamoff>());
        numbers.read(reinterpret_cast<char*>(array.numbers.data()), static_cast<std::streamsize>(count * sizeof(float)));
        if (!numbers) {
            throw std::runtime_error(name + ": it ends within " + described.dump());
        }
    }
    return arrays;
}

void write_raw(const std::string& name, const std::map<std::string, Array>& arrays)
{
    std::ofstream numbers(name, std::ios::binary);
    nlohmann::json described = nlohmann::json::array();
    std::size_t bytes = 0;
    for (const auto& [called, array] : arrays) {
        described.push_back({{"name", called}, {"dtype", "float32"}, {"shape", array.shape}, {"offset", bytes}});
        const std::size_t size = array.numbers.size() * sizeof(float);
        numbers.write(reinterpret_cast<const char*>(array.numbers.data()), static_cast<std::streamsize>(size));
        bytes += size;
    }
    std::ofstream(name + ".json") << nlohmann::json{{"schema", "attn-cli/raw/1"}, {"bytes", bytes}, {"arrays", described}};
}
