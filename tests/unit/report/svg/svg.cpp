#include "attn/report/svg/svg.hpp"

#include "attn/report/svg/picture.hpp"
#include "attn/tensor/error.hpp"
#include "unit/error_of.hpp"
#include "unit/report/sample.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

namespace {

using attn::Index;
using attn::Tensor;
using attn::model::Item;
using attn::model::Result;
using attn::report::Plot;
using attn::report::SvgOptions;

attn::report::Picture picture_of(const Result& result)
{
    return attn::report::picture_of(result, result.front(), {});
}

std::string svg_of(const Result& result, const SvgOptions& options = {})
{
    return sample::text_of([&](auto& out) { attn::report::write_svg(result, {}, options, out); });
}

Index count(const std::string& text, const std::string& part)
{
    Index found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) {
        ++found;
    }
    return found;
}

/// Words "0", "1", … with one array.
Result numbered(Item item, Tensor<float> tensor)
{
    Result result;
    result.config() = attn::model::default_recipe();
    for (Index i = 0; i < tensor.shape[1]; ++i) {
        result.tokens.push_back(std::to_string(i));
    }
    for (Index j = 0; j < tensor.shape[2]; ++j) {
        result.key_tokens.push_back(std::to_string(j));
    }
    result.cross = true;
    result.front().arrays = {{std::string(name_of(item)), std::move(tensor)}};
    result.show = {item};
    return result;
}

/// Weights that are all the same.
Result even(Index heads, Index rows, Index columns)
{
    Tensor<float> weights({heads, rows, columns});
    std::ranges::fill(weights.values, 1.0F / static_cast<float>(columns));
    return numbered(Item::weights, std::move(weights));
}

std::string svg_error(const Result& result, const SvgOptions& options, attn::ErrorKind kind)
{
    attn::Buffer written;
    const auto write = [&] { write_svg(result, {}, options, written); };
    const std::string message = error_of(kind, write);
    EXPECT_EQ(written.text(), "");
    return message;
}

TEST(Svg, DrawsACellForEveryWeightWithItsWordsAndItsNumber)
{
    const std::string svg = svg_of(sample::two_words());
    EXPECT_EQ(count(svg, "</title></rect>"), 4);
    EXPECT_EQ(count(svg, "<title>to → be: 0.25</title>"), 1);
    EXPECT_EQ(count(svg, "<title>be → be: 0.9995</title>"), 1);
    EXPECT_EQ(count(svg, ">0.75</text>"), 1);
    EXPECT_EQ(count(svg, ">1.00</text>"), 1); // 0.9995
    EXPECT_EQ(count(svg, "<title>weights (2, 2)</title>"), 1);
    EXPECT_EQ(count(svg_of(sample::two_words(), {.digits = 4, .most = {}, .title = {}}), ">0.9995</text>"), 1);
}

TEST(Svg, ColoursFromPaperToInk)
{
    const std::string svg = svg_of(numbered(Item::weights, Tensor<float>({1, 1, 2}, {1.0F, 0.0F})));
    EXPECT_EQ(count(svg, "fill=\"#081a3f\"><title>0 → 0: 1.0<"), 1);
    EXPECT_EQ(count(svg, "fill=\"#f7fafd\"><title>0 → 1: 0.0<"), 1);
    EXPECT_EQ(count(svg, "fill=\"#fff\">1.00<"), 1); // light text on ink
    EXPECT_EQ(count(svg, "fill=\"#000\">0.00<"), 1); // dark text on paper
}

TEST(Svg, WordsAreTextWhateverTheyHold)
{
    Result result = sample::two_words();
    result.tokens = {"<script>alert(1)</script>", "\"&'\x1b[31m\uFFFE"};
    for (const Plot plot : {Plot::heat_map, Plot::arcs}) {
        const std::string svg = svg_of(result, {.plot = plot, .most = {}, .title = "<b>&\x01"});
        EXPECT_EQ(count(svg, "<script"), 0);
        EXPECT_EQ(count(svg, "<b>"), 0);
        EXPECT_GE(count(svg, "&lt;script&gt;alert(1)"), 1);
        EXPECT_GE(count(svg, "&quot;&amp;&#39;\\x1b[31m\\ufffe"), 1);
        EXPECT_GE(count(svg, "&lt;b&gt;&amp;\\x01"), 1);
        EXPECT_EQ(svg.find_first_of("\x1b\x01"), std::string::npos);
    }
}

TEST(Svg, LeavesMaskedPlacesEmpty)
{
    constexpr float masked = -std::numeric_limits<float>::infinity();
    const std::string scores = svg_of(numbered(Item::masked_scores, Tensor<float>({1, 2, 2}, {1, masked, -3, 5})));
    EXPECT_EQ(count(scores, "fill=\"url(#blank)\"><title>0 → 1: -inf"), 1);
    EXPECT_EQ(count(scores, ">masked</text>"), 1);
    EXPECT_EQ(count(scores, "inf</text>"), 0);

    Result causal = numbered(Item::weights, Tensor<float>({1, 2, 2}, {1, 0, 0, 1}));
    causal.config().attention.causal = true;
    const std::string svg = svg_of(causal);
    EXPECT_EQ(count(svg, "fill=\"url(#blank)\"><title>0 → 1: 0.0"), 1);
    EXPECT_EQ(count(svg, ">masked</text>"), 1);
    EXPECT_EQ(count(svg, "fill=\"#f7fafd\"><title>1 → 0: 0.0"), 1); // seen, but too small
    EXPECT_EQ(count(svg, ">0.00</text>"), 1);
    Result many = numbered(Item::weights, Tensor<float>({1, 65, 65})); // one path a colour
    many.config().attention.causal = true;
    EXPECT_EQ(count(svg_of(many), " 1h65"), 1); // the last row is seen whole
    EXPECT_EQ(count(svg_of(many), " 1h64"), 1);
}

TEST(Svg, ColoursWeightsOfZeroThatNoMaskMade)
{
    const std::string svg = svg_of(numbered(Item::weights, Tensor<float>({1, 2, 2}, {1, 0, 0, 1}))); // as under a causal mask
    EXPECT_EQ(count(svg, "fill=\"#f7fafd\"><title>"), 2);
    EXPECT_EQ(count(svg, "url(#blank)"), 0);
    EXPECT_EQ(count(svg, ">masked</text>"), 0);
    const std::string large = svg_of(numbered(Item::weights, Tensor<float>({1, 65, 65}))); // one path a colour
    EXPECT_EQ(count(large, "<path stroke=\"#f7fafd\""), 1);
}

TEST(Svg, LeavesZerosEmptyThatAMaskItDoesNotHoldMayHaveMade)
{
    Result result = numbered(Item::weights, Tensor<float>({1, 2, 2}, {1, 0, 0, 1}));
    result.config().attention.mask = attn::model::FileTensor{.file = "mask.npy", .name = {}, .sha256 = {}};
    EXPECT_EQ(count(svg_of(result), "fill=\"url(#blank)\"><title>"), 2);
    EXPECT_EQ(count(svg_of(result), ">exactly 0</text>"), 1);
    EXPECT_EQ(count(svg_of(result), ">masked</text>"), 0);
    result.config().attention.causal = true;
    EXPECT_EQ(count(svg_of(result), ">masked or exactly 0</text>"), 1);
    constexpr float masked = -std::numeric_limits<float>::infinity();
    result.front().arrays.push_back({"masked_scores", Tensor<float>({1, 2, 2}, {1, masked, -200, 1})});
    EXPECT_EQ(count(svg_of(result), ">masked</text>"), 1);
    EXPECT_EQ(count(svg_of(result), "fill=\"url(#blank)\"><title>"), 1);
}

TEST(Svg, NamesWhatAHeadDoesWhereThereIsRoom)
{
    Result result = even(2, 8, 8);
    auto& weights = std::get<Tensor<float>>(result.front().arrays.front().tensor);
    for (Index i = 0; i < 8; ++i) {
        weights.matrix(1).row(i).setZero();
        weights.matrix(1)(i, 0) = 1;
    }
    const std::vector<attn::model::Summary> summaries{summarize(result, result.front(), 1)};
    const auto drawn = [&](const Result& drawn) {
        return sample::text_of([&](auto& out) { attn::report::write_svg(drawn, summaries, {}, out); });
    };
    EXPECT_EQ(count(drawn(result), ">first word 1.00</text>"), 1);
    EXPECT_EQ(count(svg_of(result), "first word"), 0);
    weights.values.front() = -1;
    EXPECT_EQ(count(drawn(result), "first word"), 0); // these are no weights
    EXPECT_EQ(count(drawn(even(2, 8, 1)), "first word"), 0);
}

TEST(Svg, NamesTheScaleOfEachRow)
{
    Result result = numbered(Item::weights, Tensor<float>({1, 2, 2}, {0.75F, 0.25F, 0.5F, 0.5F}));
    SvgOptions options;
    options.shade.shade = attn::report::Shade::row;
    EXPECT_EQ(count(svg_of(result, options), "colours: each row to its own largest, 0.50 to 0.75</text>"), 1);
    EXPECT_EQ(count(svg_of(result), "largest"), 0);
}

TEST(Svg, GuessesWhetherWeightsOfAnotherProgramAreCausal)
{
    Result causal = numbered(Item::weights, Tensor<float>({1, 2, 2}, {1, 0, 0.25F, 0.75F}));
    causal.foreign = true;
    EXPECT_EQ(count(svg_of(causal), "fill=\"url(#blank)\"><title>0 → 1: 0.0"), 1);
    EXPECT_EQ(count(svg_of(causal), ">exactly 0</text>"), 1);
    EXPECT_EQ(count(svg_of(causal), ">masked</text>"), 0);
    Result other = numbered(Item::weights, Tensor<float>({1, 2, 2}, {0, 1, 0.5F, 0.5F}));
    other.foreign = true;
    EXPECT_EQ(count(svg_of(other), "url(#blank)"), 0);
    EXPECT_EQ(count(svg_of(other), "fill=\"#f7fafd\"><title>0 → 0: 0.0"), 1);
}

TEST(Svg, SaysOfBlankPlacesWhatTheyAre)
{
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    const std::string scores = svg_of(numbered(Item::scores, Tensor<float>({1, 1, 2}, {1, nan})));
    EXPECT_EQ(count(scores, ">not finite</text>"), 1);
    Result overflowed = numbered(Item::weights, Tensor<float>({1, 2, 2}, {1, 0, nan, nan}));
    overflowed.config().attention.causal = true;
    EXPECT_EQ(count(svg_of(overflowed), ">masked or not finite</text>"), 1);
    EXPECT_EQ(count(svg_of(overflowed), ">nan</text>"), 2);
}

TEST(Svg, ManyCellsBecomeOnePathAColour)
{
    Result result = even(1, 512, 512);
    const std::string svg = svg_of(result);
    EXPECT_EQ(count(svg, "<path stroke=\""), 1);
    EXPECT_EQ(count(svg, "h512"), 512);
    auto& values = std::get<Tensor<float>>(result.front().arrays.front().tensor).values;
    std::mt19937 random(1);
    std::ranges::generate(values, [&] { return static_cast<float>(random() % 1000) / 1000; });
    const std::string noise = svg_of(result);
    EXPECT_GT(count(noise, "<path stroke=\""), 200);
    EXPECT_LT(noise.size(), 3500000U);
}

TEST(Svg, DrawsALineForEveryWeightThatCanBeSeen)
{
    const std::string svg = svg_of(sample::two_words(), {.plot = Plot::arcs, .most = {}, .title = {}});
    EXPECT_EQ(count(svg, "</title></path>"), 3); // 0.0005 cannot
    const Result rounded = numbered(Item::weights, Tensor<float>({1, 1, 2}, {1.01F, 0.005F}));
    EXPECT_EQ(
        count(svg_of(rounded, {.plot = Plot::arcs, .most = {}, .title = {}}), "stroke-width=\"5\" stroke-opacity=\"0.9\"><"),
        1);
    EXPECT_EQ(count(svg, "<title>be → be: 0.9995</title>"), 1);
    EXPECT_LT(svg.find("to → be: 0.25"), svg.find("to → to: 0.75")); // the strongest above the others
    EXPECT_LT(svg.find("to → to: 0.75"), svg.find("be → be: 0.9995"));
}

TEST(Svg, DrawsTheStrongestLinesAlone)
{
    Tensor<float> weights({2, 3, 3});
    std::iota(weights.values.begin(), weights.values.end(), 1.0F);
    std::ranges::for_each(weights.values, [](float& value) { value /= 20; });
    const std::string svg = svg_of(numbered(Item::weights, std::move(weights)), {.plot = Plot::arcs, .most = 2, .title = {}});
    EXPECT_EQ(count(svg, "</title></path>"), 4);
    for (const char* line : {"2 → 1: 0.4<", "2 → 2: 0.45<", "2 → 1: 0.85<", "2 → 2: 0.9<"}) {
        EXPECT_EQ(count(svg, line), 1) << line;
    }
}

TEST(Svg, SaysThatWeakerLinesAreLeftOut)
{
    const auto has = [](const Result& result, Index most, const std::string& note) {
        return count(svg_of(result, {.plot = Plot::arcs, .most = most, .title = {}}), note + "</text>");
    };
    EXPECT_EQ(
        has(even(2, 2, 2), 3, ">the thicker a line, the heavier the weight; only the 3 strongest lines of each head are drawn"),
        1);
    EXPECT_EQ(has(even(1, 2, 2), 3, "the weight; only the 3 strongest lines are drawn"), 1);
    EXPECT_EQ(has(even(2, 2, 2), 1, "the weight; only the strongest line of each head is drawn"), 1);
    EXPECT_EQ(has(even(2, 2, 2), 4, ">the thicker a line, the heavier the weight"), 1); // all that there are
    const std::string titled = svg_of(even(1, 2, 2), {.plot = Plot::arcs, .most = 1, .title = "A"});
    EXPECT_EQ(
        count(titled, ">weights (2, 2); the thicker a line, the heavier the weight; only the strongest line is drawn</text>"),
        1);
}

TEST(Svg, CallsWeightsThatAreNoneNumbers)
{
    const Result scores = numbered(Item::weights, Tensor<float>({1, 2, 2}, {-1.5F, 2, 0, 4.25F}));
    const std::string svg = svg_of(scores);
    EXPECT_EQ(count(svg, "<title>numbers (2, 2)</title>"), 1);
    EXPECT_EQ(count(svg, "weights"), 0);
    EXPECT_EQ(count(svg, "fill=\"#f7fafd\"><title>0 → 0: -1.5<"), 1);
    EXPECT_EQ(count(svg, "fill=\"#081a3f\"><title>1 → 1: 4.25<"), 1);
    EXPECT_EQ(count(svg_of(scores, {.plot = Plot::heat_map, .most = {}, .title = "Layer 3"}), "<title>Layer 3</title>"), 1);
    const std::string arcs = svg_of(scores, {.plot = Plot::arcs, .most = {}, .title = {}});
    EXPECT_EQ(count(arcs, ">the thicker a line, the larger the number above 0</text>"), 1);
    EXPECT_EQ(count(arcs, "the weight"), 0);
}

TEST(Svg, DrawsTheStrongestLinesOf30WordsAndMoreUnlessToldOtherwise)
{
    const auto lines = [](Index words, std::optional<Index> most) {
        return count(svg_of(even(1, words, words), {.plot = Plot::arcs, .most = most, .title = {}}), "</title></path>");
    };
    EXPECT_EQ(lines(29, {}), 29 * 29);
    EXPECT_EQ(lines(30, {}), 60);
    EXPECT_EQ(lines(30, 1000), 900);
    const std::string note = "; only the 60 strongest lines are drawn";
    EXPECT_EQ(count(svg_of(even(1, 30, 30), {.plot = Plot::arcs, .most = {}, .title = {}}), note + "</text>"), 1);
}

TEST(Svg, LeavesOutWordsWithoutALineWhereThereAreMany)
{
    const std::string svg = svg_of(even(1, 100, 2000), {.plot = Plot::arcs, .most = 3, .title = {}});
    EXPECT_EQ(count(svg, "</title></path>"), 3);
    EXPECT_EQ(count(svg, ">0 0</text>"), 2); // position and word, of a query and a key
    EXPECT_EQ(count(svg, ">2 2</text>"), 1);
    EXPECT_EQ(count(svg, ">3 3</text>"), 0);
    EXPECT_LT(svg.size(), 10000U);
}

TEST(Svg, RefusesWhatWouldBeTooLargeBeforeWritingAnything)
{
    Result result = even(1, 2000, 2000);
    EXPECT_LT(svg_of(result).size(), 1000000U); // one colour
    auto& values = std::get<Tensor<float>>(result.front().arrays.front().tensor).values;
    std::mt19937 random(1);
    std::ranges::generate(values, [&] { return static_cast<float>(random() % 1000) / 1000; });
    EXPECT_EQ(svg_error(result, {}, attn::ErrorKind::too_large),
              "picture: got 2000 × 2000 cells; allowed: what fits into 30 MB; choose a few rows with --query, or the strongest "
              "lines with --plot arcs --top 100");
    EXPECT_EQ(svg_error(result, {.plot = Plot::arcs, .most = 500001, .title = {}}, attn::ErrorKind::too_large),
              "picture: got more than 500000 lines between 2000 and 2000 words; allowed: up to 500000 lines; choose a few rows "
              "with --query, or the strongest lines with --plot arcs --top 100");
    EXPECT_EQ(
        count(svg_of(result, {.plot = Plot::arcs, .most = {}, .title = {}}), "only the 4000 strongest lines are drawn</text>"),
        1);
    result.show = {Item::scores};
    result.front().arrays.front().name = "scores";
    EXPECT_EQ(svg_error(result, {}, attn::ErrorKind::too_large),
              "picture: got 2000 × 2000 cells; allowed: what fits into 30 MB; choose a few rows with --query");
    EXPECT_LT(svg_of(even(1, 3, 2000)).size(), 2000000U);
}

TEST(Svg, AdvisesOnlyWhatHelps)
{
    const auto error = [](const Result& result) { return svg_error(result, {}, attn::ErrorKind::too_large); };
    const std::string allowed = "allowed: up to 8192 rows and as many columns";
    const std::string lines = "the strongest lines with --plot arcs --top 100";
    EXPECT_EQ(error(even(1, 1, 9000)), "picture: got 1 × 9000 cells; " + allowed + "; " + lines);
    EXPECT_EQ(error(even(1, 9000, 2)),
              "picture: got 9000 × 2 cells; " + allowed + "; choose a few rows with --query, or " + lines);
    EXPECT_EQ(error(numbered(Item::scores, Tensor<float>({1, 1, 9000}))), "picture: got 1 × 9000 cells; " + allowed);
}

TEST(Svg, RefusesWhatItCannotDraw)
{
    Result result = sample::two_words();
    result.show = {Item::context};
    EXPECT_EQ(svg_error(result, {}, attn::ErrorKind::internal),
              "--show: got nothing to draw; allowed: an array that this result has: scores, scaled_scores, capped_scores, "
              "masked_scores, weights, dropped_weights");
    result.show = {Item::scores};
    EXPECT_EQ(svg_error(result, {.plot = Plot::arcs, .most = {}, .title = {}}, attn::ErrorKind::internal),
              "--plot arcs: got scores; allowed: weights; scores are drawn as a heatmap");
}

TEST(Picture, DrawsWeightsFromZeroToOneOrALargestRoundNumber)
{
    const auto high_of = [](float largest) {
        constexpr Index others = 100;
        Tensor<float> weights({1, 1, 1 + others});
        std::ranges::fill(weights.values, largest == 0 ? 0 : (1 - largest) / others);
        weights.values.front() = largest;
        return picture_of(numbered(Item::weights, std::move(weights))).scale.high;
    };
    EXPECT_EQ(high_of(0.6F), 1);
    EXPECT_EQ(high_of(0.5F), 0.5);
    EXPECT_EQ(high_of(0.21F), 0.25);
    EXPECT_EQ(high_of(0.011F), 0.02);
    EXPECT_EQ(high_of(0), 1);
    const auto rounded = picture_of(numbered(Item::weights, Tensor<float>({1, 2, 2}, {1.01F, 0.005F, 0.4F, 0.6F})));
    EXPECT_EQ(std::pair(rounded.scale.low, rounded.scale.high), std::pair(0.0, 1.0));
    EXPECT_EQ(rounded.array, "weights");
    const auto scores = picture_of(numbered(Item::scores, Tensor<float>({1, 1, 2}, {-3, 7})));
    EXPECT_EQ(scores.scale.low, -3);
    EXPECT_EQ(scores.scale.high, 7);
    const auto negative = picture_of(numbered(Item::weights, Tensor<float>({1, 1, 2}, {-1, 0.5F})));
    EXPECT_EQ(negative.scale.low, -1);
    EXPECT_EQ(negative.scale.high, 0.5);
    const auto unfinished = picture_of(numbered(Item::weights, Tensor<float>({1, 1, 2}, {0.25F, 0.5F})));
    EXPECT_EQ(unfinished.scale.low, 0.25); // sums to 0.75
    EXPECT_EQ(unfinished.scale.high, 0.5);
}

TEST(Picture, HasARangeForAnyNumbers)
{
    const auto range_of = [](double a, double b) {
        Result result = numbered(Item::scores, Tensor<float>({1, 1, 2}));
        result.front().arrays.front().tensor = Tensor<double>({1, 1, 2}, {a, b});
        const auto picture = picture_of(result);
        EXPECT_LE(svg_of(result).size(), 10000U);
        EXPECT_LE(picture.scale.share(picture.scale.low), 0.0);
        EXPECT_GE(picture.scale.share(picture.scale.high), 1.0);
        return std::pair(picture.scale.low, picture.scale.high);
    };
    EXPECT_EQ(range_of(3, 3), std::pair(0.0, 3.0));
    EXPECT_EQ(range_of(-3, -3), std::pair(-3.0, 0.0));
    EXPECT_EQ(range_of(0, 0), std::pair(0.0, 1.0));
    EXPECT_EQ(range_of(1e16, 1e16 + 2), std::pair(1e16, 1e16 + 2)); // steps that a double cannot count
    EXPECT_EQ(range_of(-1e308, 1e308), std::pair(-1e308, 1e308));   // and a range that it cannot hold
    EXPECT_EQ(range_of(5e-324, 1e-320), std::pair(5e-324, 1e-320));
    constexpr double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(range_of(infinity, -infinity), std::pair(0.0, 1.0));
    EXPECT_EQ(range_of(std::numeric_limits<double>::quiet_NaN(), 2), std::pair(0.0, 2.0));
}

TEST(Picture, PutsTicksAtRoundNumbers)
{
    const auto texts = [](double low, double high) {
        const attn::report::Ticks ticks = attn::report::round_ticks(low, high);
        std::string all;
        for (const double value : ticks.values) {
            all += ticks.text(value) + " ";
        }
        return all;
    };
    EXPECT_EQ(texts(0, 1), "0.0 0.2 0.4 0.6 0.8 1.0 ");
    EXPECT_EQ(texts(0, 0.25), "0.00 0.05 0.10 0.15 0.20 0.25 ");
    EXPECT_EQ(texts(0, 0.1), "0.00 0.02 0.04 0.06 0.08 0.10 ");
    EXPECT_EQ(texts(-28.6, 29.1), "-20 0 20 ");
    EXPECT_EQ(texts(-1, 11.5), "0.0 2.5 5.0 7.5 10.0 ");
    EXPECT_EQ(texts(0, 3e-9), "0.0e+00 1.0e-09 2.0e-09 3.0e-09 ");
    EXPECT_EQ(texts(0, 5e9), "0 1.0e+09 2.0e+09 3.0e+09 4.0e+09 5.0e+09 ");
}

} // namespace
