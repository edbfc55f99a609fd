#include "attn/io/texts/printed_array.hpp"

#include "unit/error_of.hpp"

#include <gtest/gtest.h>

namespace {

using attn::Shape;
using attn::io::parse_printed_array;
using Numbers = attn::TextList;

std::string array_error(std::string_view text)
{
    return error_of([&] { (void)parse_printed_array(text, "x"); });
}

TEST(PrintedArray, ReadsWhatPyTorchAndNumPyPrint)
{
    for (const char* text : {"tensor([[0.2961, 0.5166],\n        [0.2517, -inf]], grad_fn=<MmBackward0>)",
                             "[[0.2961 0.5166]\n [0.2517   -inf]]", "array([[0.2961, 0.5166], [0.2517, -inf]], dtype=float32)",
                             "Parameter containing:\ntensor([[0.2961, 0.5166], [0.2517, -inf]], requires_grad=True)\n"}) {
        const attn::io::PrintedArray array = parse_printed_array(text, "x");
        EXPECT_EQ(array.shape, (Shape{2, 2})) << text;
        EXPECT_EQ(array.texts, (Numbers{"0.2961", "0.5166", "0.2517", "-inf"})) << text;
        EXPECT_EQ(array.digits.fixed, 4) << text;
    }
    EXPECT_EQ(parse_printed_array("tensor(1.5000e-02)", "x").shape, Shape{});
    EXPECT_EQ(parse_printed_array("tensor([1, 0, 1], device='cuda:0', size=(3,))", "x").texts, (Numbers{"1", "0", "1"}));
    EXPECT_EQ(parse_printed_array("[[[1.]]\n\n [[2.]]]", "x").shape, (Shape{2, 1, 1}));
    EXPECT_EQ(parse_printed_array("tf.Tensor(1.5, shape=(), dtype=float32)", "x").shape, Shape{});
    EXPECT_EQ(parse_printed_array("[tensor([1, 2], size=[2]), <tf.Tensor: shape=(2,), numpy=array([3, 4])>]", "x").shape,
              (Shape{2, 2}));
}

TEST(PrintedArray, RefusesTheRestNamingIt)
{
    EXPECT_EQ(array_error("[[1, 2], [3]]"), "x up to character 12: got 1 element in a row; allowed: 2, as before");
    EXPECT_EQ(array_error("[1, [2]]"), "x at character 4: got '['; allowed: a number, as before");
    EXPECT_EQ(array_error("[[1], 2]"), "x at character 6: got '2'; allowed: a row of numbers, as before");
    EXPECT_EQ(array_error("[1, 2"),
              "x at character 5: got the end of the text; allowed: numbers as PyTorch or NumPy prints them, "
              "such as tensor([[0.2961, 0.5166]]) or [[0.2961 0.5166]]");
    EXPECT_EQ(array_error("tensor([1], grad_fn)"),
              "x at character 12: got 'grad_fn'; allowed: a name and a value, such as grad_fn=<MmBackward0>");
    EXPECT_EQ(array_error("tensor([1], grad_fn=<"),
              "x at character 21: got the end of the text; allowed: ')' behind the array");
    EXPECT_EQ(array_error("tf.Tensor([1, 2], shape=(1, 2))"),
              "x at character 24: got the shape (1, 2); allowed: (2,), which the numbers have");
    EXPECT_EQ(array_error("tensor([1], shape=2)"), "x at character 18: got '2'; allowed: (1,), which the numbers have");
    EXPECT_NE(array_error("W = 2 * tensor([1])").find("x at character 6: got '*'; allowed: numbers as they are"),
              std::string::npos);
    EXPECT_NE(array_error("[1. ... 2.]").find("paste the whole array"), std::string::npos);
    EXPECT_NE(array_error("[[], []]").find("got 0 elements in a row; allowed: at least one"), std::string::npos);
}

} // namespace
