#include "attn/model/attend/attend_layout.hpp"

#include "attn/tensor/error.hpp"
#include "unit/error_of.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

namespace {

using attn::ElementType;
using attn::ErrorKind;
using attn::Index;
using attn::Shape;
using attn::TensorView;
using attn::model::Attend;
using attn::model::AttendInputs;
using attn::model::AttendViews;
using attn::model::lay_out;

/// 0, 1, 2, … in row-major order: an element's value is its place.
TensorView counted(Shape shape, ElementType type = ElementType::float32)
{
    static std::vector<std::vector<std::byte>> kept;
    std::vector<double> values(static_cast<std::size_t>(attn::element_count(shape)));
    std::iota(values.begin(), values.end(), 0.0);
    if (type == ElementType::boolean) {
        std::fill(values.begin(), values.end(), 1.0);
    }
    kept.push_back(attn::to_bytes<double>(type, values));
    return attn::row_major_view(type, std::move(shape), kept.back());
}

AttendInputs inputs(const Shape& q, const Shape& k, const Shape& v)
{
    return {counted(q), counted(k), counted(v)};
}

AttendInputs with_cache(AttendInputs given, const Shape& key, const Shape& value)
{
    given.past_key = counted(key);
    given.past_value = counted(value);
    return given;
}

AttendInputs with_mask(AttendInputs given, const Shape& shape, ElementType type = ElementType::float32)
{
    given.mask = counted(shape, type);
    return given;
}

AttendInputs with_lengths(AttendInputs given, const Shape& shape, ElementType type = ElementType::int64)
{
    given.lengths = counted(shape, type);
    return given;
}

Attend with_heads(Index heads, std::optional<Index> kv_heads = {})
{
    Attend options;
    options.heads = heads;
    options.kv_heads = kv_heads;
    return options;
}

double value_at(const TensorView& view, std::initializer_list<Index> index)
{
    return view.at(std::vector<Index>(index));
}

TEST(LayOut, GivesEveryInputFourDimensions)
{
    const AttendViews plain = lay_out(inputs({2, 3}, {4, 3}, {4, 5}), {});
    EXPECT_EQ(plain.queries.shape, (Shape{1, 1, 2, 3}));
    EXPECT_EQ(plain.values.shape, (Shape{1, 1, 4, 5}));
    EXPECT_EQ(value_at(plain.queries, {0, 0, 1, 2}), 5);

    const AttendViews heads = lay_out(inputs({6, 2, 3}, {2, 4, 3}, {2, 4, 5}), {});
    EXPECT_EQ(heads.queries.shape, (Shape{1, 6, 2, 3}));
    EXPECT_EQ(heads.sizes.H, 6);
    EXPECT_EQ(heads.sizes.H_kv, 2);

    const AttendViews batch = lay_out(inputs({2, 6, 2, 3}, {2, 2, 4, 3}, {2, 2, 4, 5}), {});
    EXPECT_EQ(batch.sizes.B, 2);
    EXPECT_EQ(batch.sizes.total(), 4);
}

TEST(LayOut, SplitsHeadsThatLieSideBySide)
{
    const AttendViews views = lay_out(inputs({2, 2, 12}, {2, 3, 6}, {2, 3, 4}), with_heads(4, 2));
    EXPECT_EQ(views.queries.shape, (Shape{2, 4, 2, 3}));
    EXPECT_EQ(views.keys.shape, (Shape{2, 2, 3, 3}));
    EXPECT_EQ(views.values.shape, (Shape{2, 2, 3, 2}));
    EXPECT_EQ(value_at(views.queries, {1, 3, 1, 2}), 47); // the last
    EXPECT_EQ(value_at(views.queries, {0, 1, 0, 0}), 3);  // head 1 begins after the 3 of head 0
    EXPECT_EQ(value_at(views.queries, {0, 0, 1, 0}), 12); // row 1 after the 12 of row 0
    EXPECT_EQ(attn::model::context_shape(views), (Shape{2, 2, 8}));
    EXPECT_EQ(attn::model::stage_shape(views, 4, 2, 3), (Shape{2, 4, 2, 3}));

    const AttendViews one = lay_out(inputs({2, 12}, {3, 12}, {3, 8}), with_heads(4));
    EXPECT_EQ(one.keys.shape, (Shape{1, 4, 3, 3}));
    EXPECT_EQ(attn::model::context_shape(one), (Shape{2, 8}));
    EXPECT_EQ(attn::model::stage_shape(one, 4, 2, 3), (Shape{4, 2, 3}));
}

TEST(LayOut, TakesACacheWithOrWithoutABatch)
{
    const AttendInputs three = inputs({2, 2, 3}, {2, 4, 3}, {2, 4, 5});
    EXPECT_EQ(lay_out(with_cache(three, {2, 7, 3}, {2, 7, 5}), {}).sizes.P, 7);
    EXPECT_EQ(lay_out(with_cache(three, {1, 2, 7, 3}, {1, 2, 7, 5}), {}).sizes.total(), 11);
}

TEST(LayOut, BroadcastsTheMaskFromTheRight)
{
    const AttendInputs given = inputs({2, 3, 2, 4}, {2, 3, 5, 4}, {2, 3, 5, 4});
    const auto mask = [&](const Shape& shape) { return *lay_out(with_mask(given, shape), {}).mask; };
    for (const Shape& shape : std::vector<Shape>{{5}, {2, 5}, {1, 5}, {3, 2, 5}, {2, 3, 2, 5}, {2, 1, 1, 5}}) {
        EXPECT_EQ(mask(shape).shape, (Shape{2, 3, 2, 5})) << attn::to_string(shape);
    }
    EXPECT_EQ(value_at(mask({5}), {1, 2, 1, 3}), 3);
    EXPECT_EQ(value_at(mask({2, 5}), {1, 2, 1, 3}), 8);
    EXPECT_EQ(value_at(mask({3, 1, 5}), {1, 2, 1, 3}), 13);
    EXPECT_EQ(value_at(mask({2, 1, 1, 5}), {1, 2, 1, 3}), 8);
}

TEST(LayOut, LeavesTheLastDimensionOfTheMaskShort)
{
    const AttendInputs given = inputs({2, 4}, {5, 4}, {5, 4});
    EXPECT_EQ(lay_out(with_mask(given, {2, 3}), {}).mask->shape, (Shape{1, 1, 2, 3}));
    EXPECT_EQ(lay_out(with_mask(given, {1}), {}).mask->shape, (Shape{1, 1, 2, 1}));
}

void expect_refused(const AttendInputs& given, const Attend& options, ErrorKind kind, const std::string& message)
{
    const auto read = [&] {
        AttendViews views = lay_out(given, options);
        attn::model::read_numbers(given, options.align, views);
    };
    EXPECT_EQ(error_of(kind, read), message);
}

void expect_refused(const AttendInputs& given, const std::string& message)
{
    expect_refused(given, {}, ErrorKind::data, message);
}

TEST(LayOut, RefusesShapesThatDoNotBelongTogetherNamingThem)
{
    const AttendInputs good = inputs({2, 6, 3, 4}, {2, 2, 5, 4}, {2, 2, 5, 7});
    expect_refused(
        inputs({3}, {3}, {3}),
        "queries: got the shape (3,); allowed: (T, d), (H, T, d) or (B, H, T, d); with --heads (T, H*d) or (B, T, H*d)");
    expect_refused(inputs({2, 3}, {1, 2, 3}, {2, 3}),
                   "keys: got the shape (1, 2, 3); allowed: 2 dimensions, as the queries have");
    expect_refused(inputs({2, 3}, {2, 3}, {1, 2, 3}),
                   "values: got the shape (1, 2, 3); allowed: 2 dimensions, as the queries have");
    expect_refused(inputs({2, 6, 3, 4}, {1, 2, 5, 4}, {1, 2, 5, 7}),
                   "keys: got the shape (1, 2, 5, 4); allowed: (B, H_kv, S, d) = (2, 2, 5, 4) for the queries (2, 6, 3, 4)");
    expect_refused(inputs({2, 3}, {2, 4}, {2, 4}),
                   "keys: got the shape (1, 1, 2, 4); allowed: (B, H_kv, S, d) = (1, 1, 2, 3) for the queries (1, 1, 2, 3)");
    expect_refused(inputs({2, 0}, {2, 0}, {2, 1}),
                   "queries: got the shape (1, 1, 2, 0); allowed: a last dimension of 1 or more");
    expect_refused(inputs({2, 6, 3, 4}, {2, 4, 5, 4}, {2, 4, 5, 4}),
                   "keys: got the shape (2, 4, 5, 4); allowed: a number of heads that divides the 6 of the queries");
    expect_refused(inputs({2, 6, 3, 4}, {2, 0, 5, 4}, {2, 0, 5, 4}),
                   "keys: got the shape (2, 0, 5, 4); allowed: a number of heads that divides the 6 of the queries");
    expect_refused(inputs({2, 6, 3, 4}, {2, 2, 5, 4}, {2, 2, 6, 4}),
                   "values: got the shape (2, 2, 6, 4); allowed: (2, 2, 5, 4)");
    expect_refused(with_cache(good, {2, 3, 5, 4}, {2, 2, 5, 7}), "past_key: got the shape (2, 3, 5, 4); allowed: (2, 2, 5, 4)");
    expect_refused(with_cache(good, {2, 2, 5, 4}, {2, 2, 6, 7}),
                   "past_value: got the shape (2, 2, 6, 7); allowed: (2, 2, 5, 7)");
    expect_refused(with_cache(good, {4}, {2, 2, 5, 7}),
                   "past_key: got the shape (4,); allowed: (B, H_kv, P, d), (H_kv, P, d) or (P, d)");
    expect_refused(with_mask(good, {}), "the mask: got the shape (); allowed: a shape of one dimension or more that broadcasts "
                                        "to (2, 6, 3, 5), the last dimension up to 5");
    expect_refused(
        with_mask(good, {6}),
        "the mask: got the shape (6,); allowed: a shape that broadcasts to (2, 6, 3, 5), the last dimension up to 5");
    expect_refused(
        with_mask(good, {2, 5}),
        "the mask: got the shape (2, 5); allowed: a shape that broadcasts to (2, 6, 3, 5), the last dimension up to 5");
    expect_refused(
        with_mask(good, {1, 2, 6, 3, 5}),
        "the mask: got the shape (1, 2, 6, 3, 5); allowed: a shape that broadcasts to (2, 6, 3, 5), the last dimension up "
        "to 5");
    expect_refused(with_lengths(good, {3}), "the lengths: got the shape (3,); allowed: (2,), one a batch entry");
}

TEST(LayOut, RefusesTypesThatHoldNoScores)
{
    AttendInputs whole = inputs({2, 3}, {2, 3}, {2, 3});
    whole.values = counted({2, 3}, ElementType::int64);
    AttendInputs boolean = inputs({2, 3}, {2, 3}, {2, 3});
    boolean.queries = counted({2, 3}, ElementType::boolean);
    const AttendInputs good = inputs({2, 3}, {2, 3}, {2, 3});
    expect_refused(whole, "values: got int64; allowed: float16, bfloat16, float32, float64");
    expect_refused(boolean, "queries: got bool; allowed: float16, bfloat16, float32, float64");
    expect_refused(with_lengths(good, {1}, ElementType::float32), "the lengths: got float32; allowed: uint8, int32, int64");
}

TEST(LayOut, RefusesHeadCountsThatDoNotFit)
{
    const AttendInputs flat = inputs({2, 2, 12}, {2, 3, 12}, {2, 3, 12});
    const AttendInputs split = inputs({2, 4, 3, 5}, {2, 2, 3, 5}, {2, 2, 3, 5});
    Attend only_kv;
    only_kv.kv_heads = 2;
    expect_refused(flat, only_kv, ErrorKind::usage, "--kv-heads requires --heads");
    expect_refused(flat, with_heads(5), ErrorKind::usage,
                   "--heads: got 5; allowed: a divisor of the last dimension of the queries (2, 2, 12)");
    expect_refused(flat, with_heads(4, 5), ErrorKind::usage,
                   "--kv-heads: got 5; allowed: a divisor of the last dimension of the keys (2, 3, 12)");
    expect_refused(split, with_heads(3), ErrorKind::usage, "--heads: got 3; allowed: 4, the heads of the queries");
    expect_refused(split, with_heads(4, 4), ErrorKind::usage, "--kv-heads: got 4; allowed: 2, the heads of the keys");
    expect_refused(flat, with_heads(0), ErrorKind::usage, "--heads: got 0; allowed: 1 and more");
    expect_refused(flat, with_heads(4, 0), ErrorKind::usage, "--kv-heads: got 0; allowed: 1 and more");
    EXPECT_EQ(lay_out(split, with_heads(4, 2)).sizes.H_kv, 2);
}

TEST(LayOut, RefusesLengthsThatAreNotAmongTheKeysAndTheCache)
{
    AttendInputs given = inputs({1, 2, 3}, {1, 2, 3}, {1, 2, 3});
    for (const std::int64_t length : {std::int64_t{-1}, std::int64_t{3}}) {
        std::vector<std::byte> bytes(8);
        std::memcpy(bytes.data(), &length, 8);
        given.lengths = attn::row_major_view(ElementType::int64, {1}, bytes);
        expect_refused(given, "lengths[0]: got " + std::to_string(length) + "; allowed: 0 to 2, the keys");
    }
    const std::int64_t all = 3; // of which the cache has one
    given.lengths = attn::row_major_view(ElementType::int64, {1}, std::as_bytes(std::span(&all, 1)));
    const AttendInputs cached = with_cache(given, {1, 1, 3}, {1, 1, 3});
    AttendViews views = lay_out(cached, {});
    attn::model::read_numbers(cached, attn::model::CausalAlign::offset, views);
    EXPECT_EQ(views.lengths, std::vector<Index>{3});
    EXPECT_EQ(views.offsets, std::vector<Index>{1});
    AttendInputs half = inputs({2, 3}, {2, 3}, {2, 3});
    half.past_key = counted({2, 3});
    expect_refused(half, {}, ErrorKind::usage, "--past-key and --past-value belong together; allowed: both or none");
}

} // namespace
