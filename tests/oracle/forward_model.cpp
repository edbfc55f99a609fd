// Runs a model directory, for tests/oracle/live_models.py.
//
//   forward_model DIR OUT.safetensors IDS [TYPES] [--set KEY=VALUE]… [--swap] [--threads N] [--time N]
//
// IDS and TYPES are numbers with commas between. OUT gets attentions.L (H, T, S), hidden.L (T, D) and, of a model with a head,
// logits (T, V), named as in transformers. --set replaces a value of config.json, which must be there: so that the caller can
// see that a mistake there would be seen. --time runs N times more, without the stages, and prints the fastest in seconds.
#include "attn/core/isa.hpp"
#include "attn/io/json/model_config.hpp"
#include "attn/io/tensors/tensor_file.hpp"
#include "attn/tensor/error.hpp"
#include "attn/transformer/architectures/describe.hpp"
#include "attn/transformer/run/forward.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <list>
#include <string>
#include <vector>

namespace {

namespace io = attn::io;
namespace transformer = attn::transformer;
using attn::Index;

std::string contents(const std::filesystem::path& path)
{
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<Index> numbers(const std::string& text)
{
    std::vector<Index> list;
    for (std::size_t at = 0; at < text.size(); at = std::min(text.find(',', at), text.size() - 1) + 1) {
        list.push_back(std::stol(text.substr(at)));
    }
    return list;
}

struct Arguments {
    std::filesystem::path directory = {}, out = {};
    transformer::TokenInput input = {};
    std::vector<std::string> set = {};
    bool swapped = false;
    int threads = 1, rounds = 0;
};

Arguments parse(const std::vector<std::string>& given)
{
    Arguments arguments{.directory = given.at(0), .out = given.at(1), .input = {.ids = numbers(given.at(2))}};
    for (std::size_t i = 3; i < given.size(); ++i) {
        if (given[i] == "--set") {
            arguments.set.push_back(given.at(++i));
        } else if (given[i] == "--swap") {
            arguments.swapped = true;
        } else if (given[i] == "--threads") {
            arguments.threads = std::stoi(given.at(++i));
        } else if (given[i] == "--time") {
            arguments.rounds = std::stoi(given.at(++i));
        } else {
            arguments.input.types = numbers(given[i]);
        }
    }
    return arguments;
}

/// "key=value": of the kind of the value that is there.
void replace(transformer::ConfigValues& values, const std::string& set)
{
    const std::size_t equals = set.find('=');
    transformer::ConfigValue& value = values.at(set.substr(0, equals));
    const std::string text = set.substr(equals + 1);
    if (std::holds_alternative<bool>(value)) {
        value = text == "true";
    } else if (std::holds_alternative<double>(value)) {
        value = std::stod(text);
    } else {
        value = text;
    }
}

/// The bytes of a model's files, and the model that reads them.
struct Loaded {
    std::list<std::string> bytes;
    transformer::Weights weights;
};

void load_weights(const std::filesystem::path& directory, Loaded& loaded)
{
    const std::filesystem::path index = directory / "model.safetensors.index.json";
    const std::vector<std::string> names = std::filesystem::exists(index) ? io::files_of(io::read_weight_map(contents(index)))
                                                                          : std::vector<std::string>{"model.safetensors"};
    for (const std::string& name : names) {
        loaded.bytes.push_back(contents(directory / name));
        const io::TensorFile file = io::read_tensors(std::as_bytes(std::span(loaded.bytes.back())), name);
        for (const auto& entry : file.entries) {
            loaded.weights.add(entry);
        }
        for (const auto& unread : file.unsupported) {
            loaded.weights.add({.name = unread.name, .view = {}}, unread.type);
        }
    }
}

double seconds_of_one(const transformer::Model& model, const transformer::TokenInput& input, const attn::core::Work& work)
{
    const auto L = static_cast<Index>(model.architecture().layers.size());
    const auto begin = std::chrono::steady_clock::now();
    (void)transformer::forward(model, input, {.layers = {L - 1}, .stages = {attn::core::Stage::weights}}, work, [](auto&&) {});
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void run(const Arguments& arguments)
{
    const std::filesystem::path config = arguments.directory / "config.json";
    transformer::ConfigValues values = io::read_model_config(contents(config));
    for (const std::string& set : arguments.set) {
        replace(values, set);
    }
    Loaded loaded;
    load_weights(arguments.directory, loaded);
    transformer::Architecture architecture = transformer::describe(transformer::Config(values));
    for (transformer::LayerPart& layer : architecture.layers) {
        if (arguments.swapped) {
            std::swap(layer.attention.query, layer.attention.key);
        }
    }
    const transformer::Model model(architecture, loaded.weights);

    const attn::core::Work work{.threads = arguments.threads};
    transformer::Asked asked{.stages = {attn::core::Stage::weights}, .hidden_states = true};
    for (std::size_t l = 0; l < model.architecture().layers.size(); ++l) {
        asked.layers.push_back(static_cast<Index>(l));
    }
    asked.logits = model.architecture().head ? transformer::Logits::all : transformer::Logits::none;
    std::vector<attn::NamedTensor> tensors;
    const auto keep = [&](const std::string& name, attn::Tensor<float> tensor) {
        tensors.push_back(attn::owned(name, std::move(tensor)));
    };
    transformer::Outputs outputs =
        transformer::forward(model, arguments.input, asked, work, [&](transformer::LayerStages&& stages) {
            keep("attentions." + std::to_string(stages.layer), std::move(stages.stages[attn::core::Stage::weights]));
        });
    for (std::size_t i = 0; i < outputs.hidden_states.size(); ++i) {
        keep("hidden." + std::to_string(i), std::move(outputs.hidden_states[i]));
    }
    if (asked.logits != transformer::Logits::none) {
        keep("logits", std::move(outputs.logits));
    }
    attn::Buffer file;
    io::write_safetensors(tensors, file);
    std::ofstream(arguments.out, std::ios::binary) << file.text();

    double fastest = 1e9;
    for (int round = 0; round < arguments.rounds; ++round) {
        fastest = std::min(fastest, seconds_of_one(model, arguments.input, work));
    }
    if (arguments.rounds > 0) {
        std::cout << fastest << '\n';
    }
}

} // namespace

int main(int count, char** arguments)
try {
    run(parse({arguments + 1, arguments + count}));
    return 0;
} catch (const attn::Error& error) {
    std::cerr << error.what() << '\n';
    return error.kind() == attn::ErrorKind::data ? 65 : 1;
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
