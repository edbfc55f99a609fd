// What a refusal says.
#pragma once

#include "attn/tensor/error.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

/// The text of the Error that `work` throws, which must be of this kind and one line; "no error" where it throws none.
inline std::string error_of(attn::ErrorKind kind, const std::function<void()>& work)
{
    try {
        work();
    } catch (const attn::Error& error) {
        const std::string text = error.what();
        EXPECT_EQ(error.kind(), kind) << text;
        EXPECT_EQ(text.find('\n'), std::string::npos) << text;
        return text;
    }
    return "no error";
}

/// Of kind data, as most are.
inline std::string error_of(const std::function<void()>& work)
{
    return error_of(attn::ErrorKind::data, work);
}
