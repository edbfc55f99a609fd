// A page has one thread, no other programs and no other users, and the memory and files that the page gives.
#include "cli/system/platform.hpp"

namespace attn::cli::platform {

int processors()
{
    return 1;
}

Index free_memory()
{
    constexpr Index most = Index{1} << 32U; // that an address can say
    return most - peak_memory();
}

Index address_space_room()
{
    return unlimited;
}

Index peak_memory()
{
    constexpr Index page = 65536;
    return static_cast<Index>(__builtin_wasm_memory_size(0)) * page; // it never shrinks
}

void share_heap() {}

void keep_freed(int /*most*/) {}

std::span<const int> ending_signals()
{
    return {};
}

SignalRange real_time_signals()
{
    return {};
}

int duplicate(int descriptor)
{
    return descriptor; // whose end the page does not care for
}

void occupy(int /*descriptor*/) {}

int terminal_width(int /*descriptor*/)
{
    return 0;
}

bool only_appends(const std::string& /*path*/)
{
    return false;
}

bool is_mount(const std::string& /*path*/)
{
    return false;
}

bool exchange(const std::string& /*one*/, const std::string& /*other*/)
{
    return false;
}

void give_rights(int /*descriptor*/, const struct stat& /*old*/) {}

bool acts_for(uid_t /*user*/)
{
    return true;
}

bool lock(int /*descriptor*/)
{
    return false;
}

timespec write_time(const struct stat& status)
{
    return status.st_mtim;
}

void drop_pages(void* /*begin*/, std::size_t /*from*/, std::size_t /*to*/) {}

} // namespace attn::cli::platform
