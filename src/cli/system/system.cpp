#include "cli/system/system.hpp"

#include "cli/system/platform.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace attn::cli {
namespace {

/// Address space for a stack, and for an arena of the C library, reserved though hardly used.
constexpr Index room_of_thread = Index{256} << 20U;

} // namespace

int available_processors()
{
    return std::clamp(platform::processors(), 1, most_threads);
}

int default_threads()
{
    return static_cast<int>(std::clamp<Index>(platform::address_space_room() / room_of_thread, 1, available_processors()));
}

void prepare_for_threads(int threads)
{
    if (platform::address_space_room() / room_of_thread < threads) {
        platform::share_heap();
    }
}

void keep_freed_memory()
{
    constexpr int largest = 1 << 25; // bytes of an array; as large as malloc() allows
    platform::keep_freed(largest);
}

std::string_view environment(const char* variable)
{
    const char* value = std::getenv(variable); // NOLINT(concurrency-mt-unsafe): nothing here changes the environment
    return value == nullptr ? std::string_view{} : value;
}

Index number_after(std::string_view text, std::string_view key)
{
    const std::size_t at = text.find(key);
    if (at == std::string_view::npos) {
        return -1;
    }
    text.remove_prefix(at + key.size());
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    Index number = -1;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    // A version-1 group without a limit states a number of pages just below 2^63 bytes; some state more than fits.
    return error == std::errc{} ? number : -1;
}

Index memory_limit()
{
    const Index least = std::min(platform::free_memory(), platform::address_space_room());
    return least == platform::unlimited ? least : least - least / 8;
}

} // namespace attn::cli
