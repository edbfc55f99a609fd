#include "attn/text/pieces/models.hpp"

#include "attn/tensor/error.hpp"
#include "attn/tensor/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <queue>

namespace attn::text {

// ---- WordPiece, and whole words --------------------------------------------------------------------------------------------

namespace {

Index characters(std::string_view word)
{
    return std::count_if(word.begin(), word.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
}

Span whole(std::string_view word)
{
    return {0, static_cast<std::uint32_t>(word.size())};
}

} // namespace

std::uint32_t require_piece(const PieceIndex& vocabulary, std::string_view piece, std::string_view what)
{
    const std::optional<std::uint32_t> entry = vocabulary.find(piece);
    if (!entry) {
        throw Error(ErrorKind::data, what, in_quotes(piece), "a piece of the vocabulary");
    }
    return *entry;
}

WordPiece::WordPiece(const PieceIndex& vocabulary, WordPieceModel model)
    : model_(std::move(model)), unknown_(require_piece(vocabulary, model_.unknown, "model.unk_token"))
{
}

std::vector<Token> WordPiece::tokens(const PieceIndex& vocabulary, std::string_view word, Budget& budget) const
{
    if (characters(word) > model_.longest_word) {
        return {{unknown_, whole(word)}};
    }
    std::vector<Token> found;
    for (std::uint32_t begin = 0; begin < word.size();) {
        std::optional<Token> longest;
        const std::string_view before = begin == 0 ? std::string_view() : std::string_view(model_.prefix);
        vocabulary.each_beginning(before, word.substr(begin), budget, [&](std::size_t size, std::uint32_t entry) {
            longest = Token{entry, {begin, begin + static_cast<std::uint32_t>(size)}};
        });
        if (!longest) {
            return {{unknown_, whole(word)}};
        }
        found.push_back(*longest);
        begin = longest->span.end;
    }
    return found;
}

WordLevel::WordLevel(const PieceIndex& vocabulary, const WordLevelModel& model)
    : unknown_(require_piece(vocabulary, model.unknown, "model.unk_token"))
{
}

std::vector<Token> WordLevel::tokens(const PieceIndex& vocabulary, std::string_view word, Budget& /*budget*/) const
{
    return {{vocabulary.find(word).value_or(unknown_), whole(word)}};
}

// ---- byte-pair encoding ----------------------------------------------------------------------------------------------------

ByteFallback::ByteFallback(const PieceIndex& vocabulary, bool wanted)
{
    for (std::size_t byte = 0; wanted && byte < entries_.size(); ++byte) {
        std::string name = "<0x";
        name += "0123456789ABCDEF"[byte / 16];
        name += "0123456789ABCDEF"[byte % 16];
        entries_.at(byte) = vocabulary.find(name, ">");
    }
}

std::optional<std::vector<Token>> ByteFallback::tokens(std::string_view word, Span span) const
{
    std::vector<Token> found;
    for (std::uint32_t at = span.begin; at < span.end; ++at) {
        const std::optional<std::uint32_t> entry = entries_.at(static_cast<unsigned char>(word[at]));
        if (!entry) {
            return std::nullopt;
        }
        found.push_back({*entry, {at, at + 1}});
    }
    return found;
}

BytePair::BytePair(const PieceIndex& vocabulary, BytePairModel model)
    : model_(std::move(model)), bytes_(vocabulary, model_.byte_fallback)
{
    if (model_.unknown) {
        unknown_ = vocabulary.find(*model_.unknown); // a byte-level model names one that it may not have, and never needs it
    }
    const std::size_t size = std::bit_ceil(2 * model_.merges.entries.size() + 2);
    shift_ = 64 - std::countr_zero(size);
    merges_.resize(size);
    // Nearly all the time would go into waiting for memory, so each table is asked for what will be needed a little later.
    constexpr std::size_t ahead = 16;
    const std::size_t count = model_.merges.entries.size();
    std::vector<Merge> found;
    found.reserve(count);
    for (std::size_t rank = 0; rank < count + ahead; ++rank) {
        if (rank + ahead < count) {
            vocabulary.prefetch(model_.merges.left(rank + ahead));
            vocabulary.prefetch(model_.merges.right(rank + ahead));
        }
        if (rank < count) {
            // Pieces are numbered in the order in which merges made them, or nearly so.
            found.push_back(found_merge(vocabulary, rank, found.empty() ? 0 : found.back().merged));
            __builtin_prefetch(&merges_[slot_of(found.back().pair)]);
        }
        if (rank >= ahead) {
            add(found[rank - ahead]);
        }
    }
    model_.merges = {};
    model_.ranks = {};
}

std::size_t BytePair::slot_of(std::uint64_t pair) const
{
    return ((pair ^ pair >> 29U) * 0x9E3779B97F4A7C15U) >> shift_;
}

BytePair::Merge BytePair::found_merge(const PieceIndex& vocabulary, std::size_t rank, std::uint32_t near) const
{
    const std::string_view left = model_.merges.left(rank);
    const std::string_view right = model_.merges.right(rank);
    const std::string_view behind_prefix = right.substr(std::min(right.size(), model_.prefix.size()));
    const std::optional<std::uint32_t> both = vocabulary.find_near(near, left, behind_prefix);
    const std::optional<std::uint32_t> first = vocabulary.find(left);
    const std::optional<std::uint32_t> second = vocabulary.find(right);
    if (!first || !second || !both) {
        const std::string made = std::string(left).append(behind_prefix);
        throw Error(ErrorKind::data, fmt::format("model.merges[{}]", rank),
                    in_quotes(!first    ? left
                              : !second ? right
                                        : std::string_view(made)),
                    "pieces of the vocabulary");
    }
    const auto place = static_cast<std::uint32_t>(rank);
    return {std::uint64_t{*first} << 32U | *second, model_.ranks.empty() ? place : model_.ranks[rank], *both};
}

/// In place of an earlier one of the same pair.
void BytePair::add(const Merge& merge)
{
    std::size_t slot = slot_of(merge.pair);
    while (merges_[slot].rank != unused && merges_[slot].pair != merge.pair) {
        slot = (slot + 1) & (merges_.size() - 1);
    }
    merges_[slot] = merge;
}

const BytePair::Merge* BytePair::find(std::uint32_t left, std::uint32_t right) const
{
    const std::uint64_t pair = std::uint64_t{left} << 32U | right;
    for (std::size_t slot = slot_of(pair); merges_[slot].rank != unused; slot = (slot + 1) & (merges_.size() - 1)) {
        if (merges_[slot].pair == pair) {
            return &merges_[slot];
        }
    }
    return nullptr;
}

/// One symbol a character, as the vocabulary knows it.
std::vector<Token> BytePair::symbols(const PieceIndex& vocabulary, std::string_view word) const
{
    std::vector<Token> found;
    bool unknown_before = false;
    std::string name; // of a character with what belongs around it
    each_character(word, {0, static_cast<std::uint32_t>(word.size())}, [&](std::int32_t, Span span) {
        std::string_view character = part(word, span);
        if (!model_.prefix.empty() || !model_.suffix.empty()) {
            name = span.begin == 0 ? "" : model_.prefix;
            name += character;
            name += span.end == word.size() ? model_.suffix : "";
            character = name;
        }
        const std::optional<std::uint32_t> entry = vocabulary.find(character);
        if (entry && !std::ranges::binary_search(model_.never_in_text, *entry)) {
            found.push_back({*entry, span});
            unknown_before = false;
        } else if (const auto bytes = bytes_.tokens(word, span)) {
            found.insert(found.end(), bytes->begin(), bytes->end());
            unknown_before = false;
        } else if (unknown_ && unknown_before && model_.fuse_unknown) {
            found.back().span.end = span.end;
        } else if (unknown_) {
            found.push_back({*unknown_, span, model_.show_unknown});
            unknown_before = true;
        } else if (model_.unknown) {
            (void)require_piece(vocabulary, *model_.unknown, "model.unk_token");
        }
    });
    return found;
}

/// The symbols of a word as a list, and the heap of pairs that may be joined.
class BytePair::Joining {
public:
    Joining(const BytePair& model, std::vector<Token> symbols) : model_(model), symbols_(std::move(symbols))
    {
        const auto count = static_cast<std::uint32_t>(symbols_.size());
        links_.reserve(count);
        for (std::uint32_t i = 0; i < count; ++i) {
            links_.push_back({i == 0 ? none : i - 1, i + 1 == count ? none : i + 1});
        }
        std::vector<Candidate> candidates;
        for (std::uint32_t i = 0; i < count; ++i) {
            if (const auto candidate = candidate_at(i)) {
                candidates.push_back(*candidate);
            }
        }
        heap_ = decltype(heap_)(Later(), std::move(candidates));
    }

    std::vector<Token> joined()
    {
        while (!heap_.empty()) {
            const Candidate best = heap_.top();
            heap_.pop();
            const auto now = candidate_at(best.place);
            if (now && now->merged == best.merged) {
                join(best);
            }
        }
        std::vector<Token> left;
        for (std::uint32_t i = 0; i < symbols_.size(); ++i) {
            if (!links_[i].gone) {
                left.push_back(symbols_[i]);
            }
        }
        return left;
    }

private:
    static constexpr std::uint32_t none = 0xFFFFFFFF;
    struct Link {
        std::uint32_t previous;
        std::uint32_t next;
        bool gone = false;
    };
    struct Candidate {
        std::uint32_t rank;
        std::uint32_t place; ///< of the left symbol
        std::uint32_t merged;
    };
    struct Later {
        bool operator()(const Candidate& a, const Candidate& b) const
        {
            return a.rank != b.rank ? a.rank > b.rank : a.place > b.place;
        }
    };

    std::optional<Candidate> candidate_at(std::uint32_t place) const
    {
        if (links_[place].gone || links_[place].next == none) {
            return std::nullopt;
        }
        const Merge* merge = model_.find(symbols_[place].entry, symbols_[links_[place].next].entry);
        return merge == nullptr ? std::nullopt : std::optional(Candidate{merge->rank, place, merge->merged});
    }
    void push(std::uint32_t place)
    {
        if (const auto candidate = candidate_at(place)) {
            heap_.push(*candidate);
        }
    }
    void join(const Candidate& best)
    {
        const std::uint32_t right = links_[best.place].next;
        symbols_[best.place].entry = best.merged;
        symbols_[best.place].span.end = symbols_[right].span.end;
        links_[right].gone = true;
        links_[best.place].next = links_[right].next;
        if (links_[right].next != none) {
            links_[links_[right].next].previous = best.place;
        }
        if (links_[best.place].previous != none) {
            push(links_[best.place].previous);
        }
        push(best.place);
    }

    const BytePair& model_;
    std::vector<Token> symbols_;
    std::vector<Link> links_;
    std::priority_queue<Candidate, std::vector<Candidate>, Later> heap_;
};

std::vector<Token> BytePair::tokens(const PieceIndex& vocabulary, std::string_view word, Budget& /*budget*/) const
{
    if (model_.ignore_merges) {
        if (const std::optional<std::uint32_t> entry = vocabulary.find(word)) {
            return {{*entry, {0, static_cast<std::uint32_t>(word.size())}}};
        }
    }
    return Joining(*this, symbols(vocabulary, word)).joined();
}

// ---- Unigram ---------------------------------------------------------------------------------------------------------------

namespace {

constexpr double unknown_penalty = 10; ///< SentencePiece's kUnkPenalty

/// The best way to the end of a part of the word.
struct Best {
    double score = 0;
    std::uint32_t begin = 0; ///< of its last piece,
    std::uint32_t entry = 0; ///< which this is
    bool reached = false;
};

} // namespace

Unigram::Unigram(const PieceIndex& vocabulary, UnigramModel model)
    : model_(std::move(model)), bytes_(vocabulary, model_.byte_fallback)
{
    const std::size_t pieces = vocabulary.pieces().entries.size();
    if (model_.scores.size() != pieces || (model_.unknown && *model_.unknown >= pieces)) {
        throw Error(ErrorKind::internal, "a Unigram model does not fit its vocabulary");
    }
    if (model_.unknown_score) {
        unknown_score_ = *model_.unknown_score;
    } else if (pieces > 0) {
        unknown_score_ = *std::min_element(model_.scores.begin(), model_.scores.end()) - unknown_penalty;
    }
}

std::vector<Token> Unigram::best_path(const PieceIndex& vocabulary, std::string_view word, Budget& budget) const
{
    constexpr std::uint32_t no_entry = 0xFFFFFFFF;
    const auto unknown = model_.unknown ? static_cast<std::uint32_t>(*model_.unknown) : no_entry;
    std::vector<Best> best(word.size() + 1);
    const auto rounded = [&](double sum) { return model_.unknown_score ? double{static_cast<float>(sum)} : sum; };
    const auto offer = [&](std::uint32_t begin, std::uint32_t end, std::uint32_t entry, double sum) {
        const double score = rounded(sum);
        if (!best[end].reached || score > best[end].score) {
            best[end] = {score, begin, entry, true};
        }
    };
    each_character(word, {0, static_cast<std::uint32_t>(word.size())}, [&](std::int32_t, Span character) {
        const double before = best[character.begin].score;
        bool single = false;
        vocabulary.each_beginning({}, word.substr(character.begin), budget, [&](std::size_t size, std::uint32_t entry) {
            if (model_.scores[entry] == no_score) {
                return;
            }
            const std::uint32_t end = character.begin + static_cast<std::uint32_t>(size);
            offer(character.begin, end, entry, before + model_.scores[entry]);
            single = single || end == character.end;
        });
        if (!single) {
            offer(character.begin, character.end, unknown, before + unknown_score_);
        }
    });
    std::vector<Token> path;
    for (auto end = static_cast<std::uint32_t>(word.size()); end > 0; end = best[end].begin) {
        const bool is_unknown = best[end].entry == unknown;
        if (is_unknown && !path.empty() && path.back().unknown) {
            path.back().span.begin = best[end].begin;
        } else {
            path.push_back({best[end].entry, {best[end].begin, end}, is_unknown});
        }
    }
    std::reverse(path.begin(), path.end());
    return path;
}

std::vector<Token> Unigram::tokens(const PieceIndex& vocabulary, std::string_view word, Budget& budget) const
{
    std::vector<Token> found;
    for (Token& token : best_path(vocabulary, word, budget)) {
        if (token.unknown) {
            const std::string_view text = part(word, token.span);
            if (const auto known = model_.unknown_score ? std::nullopt : vocabulary.find(text)) {
                token = {*known, token.span}; // unknown one by one, but not together
            } else if (const auto bytes = bytes_.tokens(word, token.span)) {
                found.insert(found.end(), bytes->begin(), bytes->end());
                continue;
            } else if (!model_.unknown) {
                throw Error(ErrorKind::data, "the sentence", in_quotes(text),
                            "what the vocabulary has, since it has no unk_id");
            }
        }
        found.push_back(token);
    }
    return found;
}

} // namespace attn::text
