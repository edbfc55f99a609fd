#define FMT_HEADER_ONLY // spdlog calls more of fmt than attn/tensor/fmt.cpp compiles
#include "cli/system/log.hpp"

#include "cli/system/system.hpp"

#include <array>

#include <spdlog/logger.h>
#include <spdlog/sinks/ansicolor_sink.h>

#include <sys/uio.h>
#include <unistd.h>

namespace attn::cli {
namespace {

iovec bytes(std::string_view text)
{
    return {const_cast<char*>(text.data()), text.size()}; // writev does not write to it
}

} // namespace

bool error_terminal()
{
    return ::isatty(STDERR_FILENO) != 0 && !environment("TERM").empty() && environment("TERM") != "dumb";
}

Log::Log() = default;
Log::~Log() = default;

bool Log::coloured() const
{
    switch (options_.colour) {
    case Colour::always: return true;
    case Colour::never: return false;
    case Colour::automatic: break;
    }
    return error_terminal() && environment("NO_COLOR").empty();
}

spdlog::logger& Log::logger()
{
    if (!logger_) {
        const auto mode = coloured() ? spdlog::color_mode::always : spdlog::color_mode::never;
        auto sink = std::make_shared<spdlog::sinks::ansicolor_stderr_sink_st>(mode);
        logger_ = std::make_unique<spdlog::logger>("attn-cli", std::move(sink));
        logger_->set_level(spdlog::level::debug);
        logger_->set_pattern("%n: %^%l%$: %v");
        // A stderr that takes nothing must not end the work, nor be written to once more.
        logger_->set_error_handler([](const std::string&) {});
    }
    return *logger_;
}

void Log::detail(const std::string& message)
{
    if (options_.verbose) {
        logger().debug(message);
    }
}

void Log::warning(const std::string& message)
{
    if (!options_.quiet) {
        logger().warn(message);
    }
}

void Log::warn_of(const std::optional<std::string>& message)
{
    if (message) {
        warning(*message);
    }
}

void Log::note(const std::string& message)
{
    logger().info(message);
}

void Log::hint(const std::string& command) const
{
    if (!options_.quiet) {
        const std::string line = "→ " + command + '\n';
        [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
    }
}

void Log::error(std::string_view message) const noexcept
{
    const bool colour = coloured();
    const std::string_view line = message.substr(0, message.find('\n'));
    const std::array parts{bytes("attn-cli: "), bytes(colour ? "\x1b[31m\x1b[1m" : ""),
                           bytes("error"),      bytes(colour ? "\x1b[m" : ""),
                           bytes(": "),         bytes(line),
                           bytes("\n")};
    // Nothing can be done about a stderr that takes nothing.
    [[maybe_unused]] const auto written = ::writev(STDERR_FILENO, parts.data(), static_cast<int>(parts.size()));
}

} // namespace attn::cli
