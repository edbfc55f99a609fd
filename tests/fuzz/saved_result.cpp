// Arbitrary bytes as a saved result, or as what --lines leaves of a failed sentence: told apart, and read or refused with
// Error(data) in one line. Nothing else may happen.
#include "attn/io/json/saved_result.hpp"
#include "attn/tensor/error.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

template <typename Read>
void must_read_or_refuse(Read read)
{
    try {
        (void)read();
    } catch (const attn::Error& error) {
        const std::string_view message = error.what();
        if (error.kind() != attn::ErrorKind::data || message.empty() || message.find('\n') != message.npos) {
            std::abort();
        }
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    must_read_or_refuse([&] { return attn::io::kind_of(text); });
    must_read_or_refuse([&] { return attn::io::parse_failed_line(text); });
    must_read_or_refuse([&] { return attn::io::parse_saved_result(text); });
    return 0;
}
