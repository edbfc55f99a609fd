#include "attn/model/recipe/field.hpp"

#include <fmt/format.h>

namespace attn::model {

std::string in_words(const OnlyWith& only)
{
    std::string text = fmt::format(R"(only with "{}": )", only.other->name());
    for (Index place = only.first; place <= only.last; ++place) {
        if (only.allows(place)) {
            text += place == only.first ? "\"" : ", \"";
            text.append(only.other->allowed.names[static_cast<std::size_t>(place)]).append("\"");
        }
    }
    return text;
}

bool goes_with(const OnlyWith& only, const FieldValue& other)
{
    const auto* place = std::get_if<Index>(&other);
    return place != nullptr && only.allows(*place);
}

std::string_view key_within(std::string_view key, std::string_view section)
{
    if (!section.empty()) {
        if (!key.starts_with(section) || !key.substr(section.size()).starts_with('.')) {
            return {};
        }
        key.remove_prefix(section.size() + 1);
    }
    return key.substr(0, key.find('.'));
}

} // namespace attn::model
