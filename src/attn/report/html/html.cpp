#include "attn/report/html/html.hpp"

#include "attn/report/colour_map.hpp"
#include "attn/report/head_means.hpp"
#include "attn/report/json/json.hpp"
#include "attn/report/json_writer.hpp"
#include "attn/report/svg/markup.hpp"
#include "attn/tensor/buffer.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace attn::report {
namespace {

/// A JSON object of the members that `write_members` writes.
template <typename WriteMembers>
std::string object_of(WriteMembers write_members)
{
    Buffer text;
    JsonWriter json(text);
    json.begin_object();
    write_members(json);
    json.end_object();
    return std::move(text.text());
}

/// What the page has in common with the other pictures: the 256 colours from 0 to 1 of both grounds, each "00224e…" in one
/// string, and the means of heads.
std::string declarations()
{
    std::string light, dark;
    for (int place = 0; place < 256; ++place) {
        light += hex(ink_of(place / 255.0)).substr(1);
        dark += hex(colour_of(place / 255.0)).substr(1);
    }
    return object_of([&](JsonWriter& json) {
        json.member("light", light);
        json.member("dark", dark);
        json.member("least_role", least_role);
        json.objects("means", head_means, [&](const ShownMean& mean) {
            json.member("name", mean.name);
            json.member("header", mean.header);
            json.member("meaning", mean.meaning);
            json.member("colour", mean.colour);
        });
    });
}

/// Hands on JSON in which no word ends the script that holds it.
class Escaped : public Buffer {
public:
    explicit Escaped(Buffer& out) : Buffer(usual_size), out_(out) {}

private:
    void send(std::string_view json) override
    {
        while (!json.empty()) {
            const std::size_t end = std::min(json.find('<'), json.size());
            out_.append(json.substr(0, end));
            if (end < json.size()) {
                out_.append("\\u003c");
            }
            json.remove_prefix(std::min(end + 1, json.size()));
        }
    }

    Buffer& out_;
};

const Shape& shape_of_weights(const model::Layer& layer)
{
    const AnyTensor* weights = layer.find(model::Item::weights);
    if (weights == nullptr || shape_of(*weights).size() != 3) {
        throw Error(ErrorKind::internal, "an HTML page needs weights (H, T, S)");
    }
    return shape_of(*weights);
}

/// "means":[[{"role":"previous","entropy":0.5,"itself":0.1,…},…],…], of each head of each layer what there is.
void write_means(const model::Result& result, JsonWriter& json)
{
    json.array("means", model::summaries_of(result), [&](const model::Summary& layer) {
        json.begin_array();
        for (const model::HeadSummary& head : layer.heads) {
            json.begin_object();
            if (const ShownMean* role = role_of(head, layer.equal)) {
                json.member("role", role->name);
            }
            for (const ShownMean& mean : head_means) {
                if (const std::optional<double> value = mean.value(head); value && std::isfinite(*value)) {
                    json.member(mean.name, static_cast<float>(*value)); // of which people see two digits
                }
            }
            json.end_object();
        }
        json.end_array();
    });
}

/// {"remark":"Random …","shade":"row","shade_max":0.1,"command":"attn-cli run …","means":…}, of each what there is.
void write_asked(const model::Result& result, const PageOptions& options, Buffer& out)
{
    JsonWriter json(out);
    json.begin_object();
    if (!options.remark.empty()) {
        json.member("remark", options.remark);
    }
    if (options.shade.shade) {
        json.member("shade", shade_names.at(static_cast<std::size_t>(*options.shade.shade)));
    }
    json.member("shade_max", options.shade.most);
    if (!options.command.empty()) {
        json.member("command", options.command);
    }
    write_means(result, json);
    json.end_object();
}

} // namespace

void require_page_size(const Shape& weights, Index layers)
{
    struct Limit {
        Index count;
        const char* what;
        Index most;
        const char* instead;
    };
    for (const auto& [count, what, most, instead] :
         {Limit{weights[1], "query words", 1024, "--query shows some of them"},
          Limit{weights[2], "key words", 8192, "a shorter text has fewer"},
          Limit{weights[0], "heads", 1024, "--heads computes fewer"},
          Limit{layers * weights[0] * weights[1] * weights[2], "weights", 5'000'000,
                layers > 1 ? "--layer and --head show some of them" : "--query shows those of some words"}}) {
        if (count > most) {
            throw Error(ErrorKind::too_large, "HTML", fmt::format("{} {}", count, what),
                        fmt::format("up to {} {} in a page; {}", most, what, instead));
        }
    }
}

void write_html(const model::Result& result, const PageParts& parts, const PageOptions& options, Buffer& out)
{
    for (const model::Layer& layer : result.layers) {
        require_page_size(shape_of_weights(layer), std::ssize(result.layers));
    }
    const std::string declared = declarations();
    const std::array<std::pair<std::string_view, std::string_view>, 5> texts{{{"style", parts.style},
                                                                              {"script", parts.script},
                                                                              {"style_hash", parts.style_hash},
                                                                              {"script_hash", parts.script_hash},
                                                                              {"declared", declared}}};
    Escaped escaped(out);
    std::string_view rest = parts.frame;
    while (!rest.empty()) {
        const std::size_t begin = std::min(rest.find("{{"), rest.size());
        out.append(rest.substr(0, begin));
        rest.remove_prefix(begin);
        if (rest.empty()) {
            break;
        }
        const std::size_t end = rest.find("}}");
        const std::string_view name = end == std::string_view::npos ? rest : rest.substr(2, end - 2);
        const auto* const text =
            std::find_if(texts.begin(), texts.end(), [&](const auto& entry) { return entry.first == name; });
        if (name == "result") {
            write_json(result, {}, escaped);
            escaped.flush();
        } else if (name == "asked") {
            write_asked(result, options, escaped);
            escaped.flush();
        } else if (text != texts.end()) {
            out.append(text->second);
        } else {
            throw Error(ErrorKind::internal, "the page's frame", in_quotes(name), "a name of report/html/html.hpp");
        }
        rest.remove_prefix(end + 2);
    }
}

} // namespace attn::report
