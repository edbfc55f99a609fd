// attn-cli: every exception of the program ends here, as one line on stderr and an exit code.
#include "cli/command_line.hpp"
#include "cli/system/descriptor.hpp"
#include "cli/system/exit_code.hpp"
#include "cli/system/signals.hpp"

#include <new>
#include <system_error>

int main(int argc, char** argv)
{
    using namespace attn::cli;
    occupy_closed_descriptors();
    Log log;
    try {
        handle_signals();
        const auto count = static_cast<std::size_t>(argc);
        return execute(std::span<const char* const>(argv, count).subspan(count > 0 ? 1 : 0), log);
    } catch (const ReaderGone&) {
        return success;
    } catch (const attn::Error& error) {
        log.error(error.what());
        return exit_code(error.kind());
    } catch (const std::bad_alloc&) {
        log.error("out of memory");
        return exit_code(attn::ErrorKind::too_large);
    } catch (const std::system_error& error) { // a thread that the system would not start
        log.error(error.what());
        return exit_code(attn::ErrorKind::too_large);
    } catch (const std::exception& error) {
        log.error(error.what());
        return exit_code(attn::ErrorKind::internal);
    }
}
