#include "attn/io/models/scored_pieces.hpp"

#include "attn/tensor/error.hpp"
#include "attn/tensor/utf8.hpp"
#include "attn/text/tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_set>

namespace attn::io {

std::string place_in(std::string_view list, std::size_t i)
{
    return fmt::format("{}[{}]", list, i);
}

void add_piece(std::vector<ScoredPiece>& pieces, const ScoredPiece& piece, std::string_view list)
{
    constexpr std::size_t most = 2048;
    const std::string place = place_in(list, pieces.size());
    text::require_utf8(piece.text, place);
    if (piece.text.size() > most) {
        throw Error(ErrorKind::data, place, fmt::format("a piece of {} bytes", piece.text.size()),
                    fmt::format("up to {}", most));
    }
    pieces.push_back(piece);
}

namespace {

/// Every way to make a piece out of two, the piece of the highest score first.
class ScoredMerges {
public:
    explicit ScoredMerges(const std::vector<ScoredPiece>& pieces) : all_(pieces)
    {
        const auto is_joined = [](const ScoredPiece& each) { return each.type == PieceType::normal && !each.text.empty(); };
        for (const ScoredPiece& each : pieces) {
            if (is_joined(each)) {
                joined_.insert(each.text);
            }
        }
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            if (is_joined(pieces[i])) {
                add_ways(i);
            }
        }
        std::ranges::stable_sort(ways_, std::ranges::greater(), [&](const Way& way) { return score(way); });
    }

    void write(text::BytePairModel& model) const
    {
        for (std::size_t i = 0; i < ways_.size(); ++i) {
            const Way& way = ways_[i];
            const bool wanted_alike = i > 0 && score(way) == score(ways_[i - 1]);
            model.ranks.push_back(wanted_alike ? model.ranks.back() : static_cast<std::uint32_t>(i));
            const std::string_view piece = all_[way.piece].text;
            model.merges.add(piece.substr(0, way.left), piece.substr(way.left));
        }
    }

private:
    struct Way {
        std::uint32_t piece;
        std::uint32_t left; ///< bytes
    };
    static constexpr std::size_t most = std::size_t{1} << 28U; ///< bytes of all that may be one: Gemma's take 13 million

    [[nodiscard]] double score(const Way& way) const { return all_[way.piece].score; }

    void add_ways(std::size_t i)
    {
        const std::string_view piece = all_[i].text;
        for (std::size_t left = front(piece).bytes; left < piece.size(); left += front(piece.substr(left)).bytes) {
            tried_ += piece.size();
            if (joined_.contains(piece.substr(0, left)) && joined_.contains(piece.substr(left))) {
                ways_.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(left)});
            }
        }
        if (tried_ > most) {
            throw Error(ErrorKind::data, "the tokenizer", "pieces that may be made of each other in too many ways",
                        fmt::format("{} bytes of ways", most));
        }
    }

    const std::vector<ScoredPiece>& all_;
    std::unordered_set<std::string_view> joined_;
    std::vector<Way> ways_;
    std::size_t tried_ = 0; ///< bytes
};

} // namespace

text::BytePairModel scored_pairs(const std::vector<ScoredPiece>& pieces)
{
    text::BytePairModel model{.fuse_unknown = true};
    ScoredMerges(pieces).write(model);
    for (const ScoredPiece& piece : pieces) {
        if (piece.type == PieceType::unknown) {
            model.unknown = std::string(piece.text);
        }
        model.byte_fallback = model.byte_fallback || piece.type == PieceType::byte;
    }
    return model;
}

void put_around(text::TokenizerSpec& spec, std::optional<std::int32_t> begin, std::optional<std::int32_t> end)
{
    for (std::size_t count = 0; count < spec.templates.size(); ++count) {
        std::vector<text::TemplateItem>& items = spec.templates.at(count);
        items.clear();
        for (int sentence = 0; sentence <= static_cast<int>(count); ++sentence) {
            if (begin) {
                items.push_back({-1, *begin, sentence});
            }
            items.push_back({sentence, 0, sentence});
            if (end) {
                items.push_back({-1, *end, sentence});
            }
        }
    }
}

} // namespace attn::io
