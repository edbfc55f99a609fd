#include "attn/text/pieces/models.hpp"

#include "attn/tensor/error.hpp"

#include <algorithm>

namespace attn::text {
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
    if (pieces > 0) {
        unknown_score_ = *std::min_element(model_.scores.begin(), model_.scores.end()) - unknown_penalty;
    }
}

std::vector<Token> Unigram::best_path(const PieceIndex& vocabulary, std::string_view word, Budget& budget) const
{
    constexpr std::uint32_t no_entry = 0xFFFFFFFF;
    const auto unknown = model_.unknown ? static_cast<std::uint32_t>(*model_.unknown) : no_entry;
    std::vector<Best> best(word.size() + 1);
    const auto offer = [&](std::uint32_t begin, std::uint32_t end, std::uint32_t entry, double score) {
        if (!best[end].reached || score > best[end].score) {
            best[end] = {score, begin, entry, true};
        }
    };
    each_character(word, {0, static_cast<std::uint32_t>(word.size())}, [&](std::int32_t, Span character) {
        const double before = best[character.begin].score;
        bool single = false;
        vocabulary.each_beginning({}, word.substr(character.begin), budget, [&](std::size_t size, std::uint32_t entry) {
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
            if (const std::optional<std::uint32_t> known = vocabulary.find(part(word, token.span))) {
                token = {*known, token.span}; // unknown one by one, but not together
            } else if (const auto bytes = bytes_.tokens(word, token.span)) {
                found.insert(found.end(), bytes->begin(), bytes->end());
                continue;
            } else if (!model_.unknown) {
                throw Error(ErrorKind::data, "the sentence", in_quotes(part(word, token.span)),
                            "what the vocabulary has, since it has no unk_id");
            }
        }
        found.push_back(token);
    }
    return found;
}

} // namespace attn::text
