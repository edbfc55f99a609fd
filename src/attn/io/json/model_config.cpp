#include "attn/io/json/model_config.hpp"

#include "attn/io/json/json_scanner.hpp"
#include "attn/math/decimal.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace attn::io {
namespace {

using transformer::ConfigNull;
using transformer::ConfigObject;
using transformer::ConfigScalar;
using transformer::ConfigValue;
using transformer::ConfigValues;

/// So that nested keys, each of which is kept with its whole path, take no more than a small multiple of this.
constexpr std::size_t most_kept = 16'000'000;

void require_object(JsonScanner& scanner)
{
    if (scanner.next() == '{') {
        return;
    }
    std::size_t at = scanner.here();
    if (scanner.next() != '[') {
        (void)scanner.skip(); // says if it is malformed
        at = scanner.here() - 1;
    }
    scanner.refuse("expected an object", at);
}

class ConfigReader {
public:
    explicit ConfigReader(std::string_view text) : scanner_(text) {}

    ConfigValues read()
    {
        require_object(scanner_);
        members("");
        scanner_.end();
        return std::move(values_);
    }

private:
    /// Of an object whose members' paths begin with `outer`.
    void members(const std::string& outer)
    {
        scanner_.object([&](std::string_view key) { value(outer + std::string(key)); });
    }

    void value(const std::string& path)
    {
        if (scanner_.next() == '{') {
            (void)add(path, ConfigObject{}, scanner_.here());
            members(path + ".");
        } else if (scanner_.next() == '[') {
            elements(path, std::get_if<std::vector<ConfigScalar>>(&add(path, std::vector<ConfigScalar>{}, scanner_.here())));
        } else {
            add_scalar(path);
        }
    }

    /// Of a list. That of a key keeps its scalars together in `list`; in one within another list each is an entry of its own,
    /// as what is in an object or a list always is.
    void elements(const std::string& path, std::vector<ConfigScalar>* list)
    {
        std::size_t inner = 0;
        scanner_.array([&] {
            const char first = scanner_.next();
            const bool is_scalar = first != '{' && first != '[';
            if (list != nullptr) {
                keep(2 * sizeof(ConfigScalar)); // a vector grows by doubling
                list->push_back(is_scalar ? scalar() : ConfigObject{});
            }
            if (list != nullptr && is_scalar) {
                return;
            }
            const std::string place = fmt::format("{}.{}", path, inner++);
            if (first == '{') {
                members(place + ".");
            } else if (first == '[') {
                elements(place, nullptr);
            } else {
                add_scalar(place);
            }
        });
    }

    ConfigScalar scalar()
    {
        if (scanner_.next() == '"') {
            return std::string(scanner_.string());
        }
        const std::string_view text = scanner_.skip();
        if (text == "null") {
            return ConfigNull{};
        }
        return text == "true" || text == "false" ? ConfigScalar(text == "true") : math::nearest<double>(text);
    }

    void add_scalar(const std::string& path)
    {
        ConfigScalar one = scalar();
        (void)add(path, std::visit([](auto& value) -> ConfigValue { return std::move(value); }, one), scanner_.here() - 1);
    }

    ConfigValue& add(const std::string& path, ConfigValue value, std::size_t offset)
    {
        keep(path.size() + sizeof(ConfigValues::value_type));
        const auto [entry, added] = values_.emplace(path, std::move(value));
        if (!added) {
            scanner_.refuse(fmt::format("the key {} is there twice", in_quotes(path)), offset);
        }
        return entry->second;
    }

    void keep(std::size_t bytes)
    {
        kept_ += bytes;
        if (kept_ > most_kept) {
            scanner_.refuse(fmt::format("more keys, or longer ones, than {} bytes hold", most_kept), scanner_.here());
        }
    }

    JsonScanner scanner_;
    ConfigValues values_;
    std::size_t kept_ = 0;
};

/// A file of the same folder.
bool is_plain_name(std::string_view name)
{
    return !name.empty() && !name.starts_with('.') &&
           name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos;
}

/// What the next value of a weight map is, in place of what it should be.
[[noreturn]] void refuse_in_map(JsonScanner& scanner, std::string_view expected)
{
    std::string_view found;
    std::size_t at = scanner.here();
    switch (scanner.next()) {
    case '{': found = "an object"; break;
    case '[': found = "a list"; break;
    case '"': found = "a string"; break;
    case 't':
    case 'f': found = "a boolean"; break;
    case 'n': found = "null"; break;
    default: found = "a number";
    }
    if (scanner.next() != '{' && scanner.next() != '[') {
        (void)scanner.skip(); // says if it is malformed
        at = scanner.here() - 1;
    }
    scanner.refuse(fmt::format("weight_map: expected {}, found {}", expected, found), at);
}

void read_files(JsonScanner& scanner, std::map<std::string, std::string>& files)
{
    if (scanner.next() != '{') {
        refuse_in_map(scanner, "an object");
    }
    scanner.object([&](std::string_view key) {
        std::string tensor(key);
        if (scanner.next() != '"') {
            refuse_in_map(scanner, "the name of a file");
        }
        std::string file(scanner.string());
        if (!is_plain_name(file)) {
            scanner.refuse(fmt::format("weight_map names the file {}, which is not the plain name of a file beside the index",
                                       in_quotes(file)),
                           scanner.here() - 1);
        }
        const auto [entry, added] = files.emplace(std::move(tensor), std::move(file));
        if (!added) {
            scanner.refuse(fmt::format("weight_map has the tensor {} twice", in_quotes(entry->first)), scanner.here() - 1);
        }
    });
}

} // namespace

ConfigValues read_model_config(std::string_view text)
{
    return ConfigReader(text).read();
}

std::map<std::string, std::string> read_weight_map(std::string_view text)
{
    JsonScanner scanner(text);
    require_object(scanner);
    std::map<std::string, std::string> files;
    bool has_map = false;
    scanner.object([&](std::string_view key) {
        if (key != "weight_map") {
            (void)scanner.skip();
            return;
        }
        if (scanner.next() == '{' && std::exchange(has_map, true)) {
            scanner.refuse("weight_map is there twice", scanner.here());
        }
        read_files(scanner, files);
    });
    scanner.end();
    if (!has_map) {
        throw Error(ErrorKind::data, "it has no weight_map, which says which file has which tensor");
    }
    return files;
}

std::vector<std::string> files_of(const std::map<std::string, std::string>& tensors)
{
    std::set<std::string> files;
    for (const auto& [tensor, file] : tensors) {
        files.insert(file);
    }
    return {files.begin(), files.end()};
}

} // namespace attn::io
