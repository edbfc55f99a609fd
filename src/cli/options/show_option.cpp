#include "cli/options/show_option.hpp"

#include "attn/model/recipe/option_names.hpp"

#include <algorithm>

namespace attn::cli {
namespace {

constexpr std::string_view all_name = "all";

/// The names of items, and "all".
std::span<const std::string_view> names_of(model::ShownBy command)
{
    static const auto list = [](model::ShownBy of) {
        std::vector<std::string_view> names;
        for (const model::ItemInfo& info : model::items) {
            if (is_shown_by(info, of)) {
                names.push_back(info.name);
            }
        }
        names.push_back(all_name);
        return names;
    };
    static const std::vector<std::string_view> run = list(model::ShownBy::run);
    static const std::vector<std::string_view> attend = list(model::ShownBy::attend);
    return command == model::ShownBy::run ? run : attend;
}

} // namespace

void declare_show(Options& options, model::ShownBy command, const ShowTexts& texts, ShowOption& show)
{
    const std::span<const std::string_view> names = names_of(command);
    const model::Allowed allowed{.type = model::FieldType::choices, .names = names};
    const OptionInfo option{model::option::show, "LIST", texts.meaning, texts.usual, allowed};
    options.add(option, [&show, names](const model::FieldValue& places) {
        for (const Index place : std::get<std::vector<Index>>(places)) {
            const std::string_view name = names[static_cast<std::size_t>(place)];
            if (name == all_name) {
                show.all = true;
            } else {
                show.items.insert(*model::item_called(name));
            }
        }
    });
}

bool is_shown_name(std::string_view word)
{
    return std::ranges::find(names_of(model::ShownBy::run), word) != names_of(model::ShownBy::run).end();
}

} // namespace attn::cli
