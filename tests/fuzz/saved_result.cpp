// Arbitrary bytes as a saved result, or as what --lines leaves of a failed sentence: told apart, and read or refused with
// Error(data) in one line. Nothing else may happen.
#include "attn/io/json/saved_result.hpp"
#include "refusal.hpp"

#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    must_work_or_refuse([&] { (void)attn::io::kind_of(text); });
    must_work_or_refuse([&] { (void)attn::io::parse_failed_line(text); });
    must_work_or_refuse([&] { (void)attn::io::parse_saved_result(text); });
    return 0;
}
