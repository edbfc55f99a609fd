#include "attn/text/pieces/character_map.hpp"

#include "attn/tensor/error.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

namespace attn::text {
namespace {

constexpr std::string_view what = "the normalizer's precompiled_charsmap";
constexpr std::size_t unit_bytes = 4;
constexpr std::size_t longest_cluster = 5; ///< that is looked up whole

std::uint32_t little(std::string_view bytes, std::size_t at)
{
    std::uint32_t value = 0;
    for (std::size_t i = unit_bytes; i-- > 0;) {
        value = value << 8U | static_cast<unsigned char>(bytes[at + i]);
    }
    return value;
}

std::size_t children_of(std::uint32_t unit)
{
    return static_cast<std::size_t>(unit >> 10U) << ((unit & 512U) >> 6U);
}

bool is_utf8(std::string_view text)
{
    while (!text.empty()) {
        const CodePoint point = front(text);
        if (!point.well_formed) {
            return false;
        }
        text.remove_prefix(point.bytes);
    }
    return true;
}

/// Where the grapheme cluster ends that begins at `begin`.
std::uint32_t cluster_end(std::string_view text, std::uint32_t begin)
{
    utf8proc_int32_t state = 0;
    CodePoint before = front(text.substr(begin));
    auto end = begin + static_cast<std::uint32_t>(before.bytes);
    while (end < text.size()) {
        const CodePoint next = front(text.substr(end));
        if (utf8proc_grapheme_break_stateful(before.value, next.value, &state)) {
            break;
        }
        end += static_cast<std::uint32_t>(next.bytes);
        before = next;
    }
    return end;
}

} // namespace

CharacterMapper::CharacterMapper(std::string_view bytes)
{
    const std::size_t size = bytes.size() < unit_bytes ? 0 : little(bytes, 0);
    if (size < unit_bytes || size % unit_bytes != 0 || size > bytes.size() - unit_bytes) {
        throw Error(ErrorKind::data, what, counted(static_cast<std::int64_t>(bytes.size()), "byte"),
                    "a size, a double array of so many bytes, and replacements");
    }
    for (std::size_t at = unit_bytes; at < unit_bytes + size; at += unit_bytes) {
        units_.push_back(little(bytes, at));
    }
    replacements_ = bytes.substr(unit_bytes + size);
    if (!is_utf8(replacements_)) {
        throw Error(ErrorKind::data, what, "replacements that are no UTF-8", "UTF-8");
    }
}

std::uint32_t CharacterMapper::unit(std::size_t place) const
{
    if (place >= units_.size()) {
        throw Error(ErrorKind::data, what, fmt::format("a step to unit {}", place),
                    fmt::format("units up to {}", units_.size() - 1));
    }
    return units_[place];
}

std::optional<std::string_view> CharacterMapper::replacement(std::string_view key) const
{
    std::size_t place = children_of(unit(0));
    for (const char c : key) {
        const auto byte = static_cast<unsigned char>(c);
        place ^= byte;
        const std::uint32_t here = unit(place);
        if ((here & 0x800000FFU) != byte) {
            return std::nullopt;
        }
        place ^= children_of(here);
        if ((here >> 8U & 1U) != 0) {
            const std::size_t begin = unit(place) & 0x7FFFFFFFU;
            if (begin > replacements_.size() ||
                (begin < replacements_.size() && (static_cast<unsigned char>(replacements_[begin]) & 0xC0U) == 0x80U)) {
                throw Error(ErrorKind::data, what, fmt::format("a replacement at byte {}", begin),
                            fmt::format("the beginning of one of its {} bytes", replacements_.size()));
            }
            const std::string_view rest = std::string_view(replacements_).substr(begin);
            return rest.substr(0, rest.find('\0'));
        }
    }
    return std::nullopt;
}

AlignedText CharacterMapper::mapped(const AlignedText& text) const
{
    AlignedText out = text.fresh();
    const std::string_view all = text.text();
    for (std::uint32_t begin = 0; begin < all.size();) {
        const Span cluster{begin, cluster_end(all, begin)};
        begin = cluster.end;
        if (cluster.size() <= longest_cluster) {
            if (const auto whole = replacement(part(all, cluster))) {
                out.append(*whole, text.source(cluster));
                continue;
            }
        }
        each_character(all, cluster, [&](std::int32_t, Span character) {
            if (const auto single = replacement(part(all, character))) {
                out.append(*single, text.source(character));
            } else {
                out.append(text, character);
            }
        });
    }
    return out;
}

} // namespace attn::text
