#include "attn/io/json/model_config.hpp"

#include "attn/io/bytes.hpp"
#include "attn/io/json/json_events.hpp"
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

/// What objects and lists share: the path of the value that comes next.
class Paths : public JsonEvents {
public:
    using JsonEvents::JsonEvents;

    bool key(std::string& name)
    {
        containers_.back().key = std::move(name);
        return true;
    }
    bool end_object()
    {
        leave();
        containers_.pop_back();
        return true;
    }
    bool end_array() { return end_object(); }

protected:
    struct Container {
        std::string path; ///< with a dot at its end, except for the outermost one
        bool is_list = false;
        std::size_t elements = 0; ///< of a list, so far
        std::string key = {};     ///< of an object, the last one
    };

    /// The path of the value that is being read.
    [[nodiscard]] std::string path()
    {
        Container& inner = containers_.back();
        return inner.path + (inner.is_list ? std::to_string(inner.elements++) : inner.key);
    }

    /// Goes into the container that is the next value.
    bool open(bool is_list)
    {
        enter();
        containers_.push_back({containers_.empty() ? std::string() : path() + ".", is_list});
        return true;
    }

    void require_object_around() const
    {
        if (containers_.empty()) {
            refuse("expected an object", here() == 0 ? 0 : here() - 1);
        }
    }

    std::vector<Container> containers_;
};

class ConfigReader : public Paths {
public:
    using Paths::Paths;

    bool null() { return put(ConfigNull{}); }
    bool boolean(bool value) { return put(value); }
    bool number_integer(Json::number_integer_t value) { return put(static_cast<double>(value)); }
    bool number_unsigned(Json::number_unsigned_t value) { return put(static_cast<double>(value)); }
    bool number_float(Json::number_float_t value, const std::string&) { return put(value); }
    bool string(std::string& value) { return put(std::move(value)); }
    bool start_object(std::size_t)
    {
        if (!containers_.empty()) {
            note(ConfigObject{});
        }
        return open(false);
    }
    bool start_array(std::size_t)
    {
        require_object_around();
        note(std::vector<ConfigScalar>{});
        return open(true);
    }

    ConfigValues values;

private:
    /// A scalar: an entry of its own, or an element of the list around it.
    bool put(ConfigScalar value)
    {
        require_object_around();
        if (std::vector<ConfigScalar>* list = list_around()) {
            list->push_back(std::move(value));
        } else {
            add(path(), std::visit([](auto& one) -> ConfigValue { return std::move(one); }, value));
        }
        return true;
    }

    /// An object or a list begins: an entry of its own, or an element of the list around it.
    void note(ConfigValue container)
    {
        if (std::vector<ConfigScalar>* list = list_around()) {
            list->emplace_back(ConfigObject{});
        } else if (!containers_.back().is_list) {
            add(path(), std::move(container));
        }
    }

    /// That is itself a value of a key.
    std::vector<ConfigScalar>* list_around()
    {
        const Container& inner = containers_.back();
        const auto entry = inner.is_list ? values.find(inner.path.substr(0, inner.path.size() - 1)) : values.end();
        return entry == values.end() ? nullptr : std::get_if<std::vector<ConfigScalar>>(&entry->second);
    }

    void add(const std::string& path, ConfigValue value)
    {
        if (!values.emplace(path, std::move(value)).second) {
            refuse(fmt::format("the key {} is there twice", in_quotes(path)), here() - 1);
        }
    }
};

/// A file of the same folder.
bool is_plain_name(std::string_view name)
{
    return !name.empty() && !name.starts_with('.') &&
           name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos;
}

constexpr std::string_view weight_map = "weight_map";

class IndexReader : public Paths {
public:
    using Paths::Paths;

    bool null() { return other("null"); }
    bool boolean(bool) { return other("a boolean"); }
    bool number_integer(Json::number_integer_t) { return other("a number"); }
    bool number_unsigned(Json::number_unsigned_t) { return other("a number"); }
    bool number_float(Json::number_float_t, const std::string&) { return other("a number"); }
    bool string(std::string& file)
    {
        if (!in_map()) {
            return other("a string");
        }
        if (!is_plain_name(file)) {
            refuse(
                fmt::format("weight_map names the file {}, which is no plain name of a file beside the index", in_quotes(file)),
                here() - 1);
        }
        if (!files.emplace(containers_.back().key, std::move(file)).second) {
            refuse(fmt::format("weight_map has the tensor {} twice", in_quotes(containers_.back().key)), here() - 1);
        }
        return true;
    }
    bool start_object(std::size_t)
    {
        if (in_map()) {
            return other("an object");
        }
        open(false);
        if (in_map() && std::exchange(has_map, true)) {
            refuse("weight_map is there twice", here() - 1);
        }
        return true;
    }
    bool start_array(std::size_t)
    {
        (void)other("a list");
        return open(true);
    }

    std::map<std::string, std::string> files;
    bool has_map = false;

private:
    [[nodiscard]] bool in_map() const
    {
        return containers_.size() == 2 && containers_.back().path == std::string(weight_map) + ".";
    }

    /// Outside of the map nothing matters; inside there are names of files.
    bool other(const char* found)
    {
        require_object_around();
        if (in_map() || (containers_.size() == 1 && containers_.back().key == weight_map)) {
            refuse(fmt::format("weight_map: expected {}, found {}", in_map() ? "the name of a file" : "an object", found),
                   here() - 1);
        }
        return true;
    }
};

} // namespace

ConfigValues read_model_config(std::string_view text)
{
    ConfigReader reader(without_byte_order_mark(text));
    reader.walk(reader);
    return std::move(reader.values);
}

std::map<std::string, std::string> read_weight_map(std::string_view text)
{
    IndexReader reader(without_byte_order_mark(text));
    reader.walk(reader);
    if (!reader.has_map) {
        throw Error(ErrorKind::data, "it has no weight_map, which says which file has which tensor");
    }
    return std::move(reader.files);
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
