// Messages on standard error: errors, warnings, and with --verbose the stages of the work.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace spdlog {
class logger;
}

namespace attn::cli {

enum class Colour { automatic, always, never };
inline constexpr std::array<std::string_view, 3> colour_names{"auto", "always", "never"};

struct LogOptions {
    bool verbose = false;
    bool quiet = false; ///< no warnings
    Colour colour = Colour::automatic;
};

/// The logger is made when the first message comes, so that a run without one does not pay for it.
class Log {
public:
    Log();
    ~Log();
    Log(const Log&) = delete;
    Log(Log&&) = delete;
    Log& operator=(const Log&) = delete;
    Log& operator=(Log&&) = delete;

    void configure(const LogOptions& options) { options_ = options; }
    [[nodiscard]] bool verbose() const { return options_.verbose; }
    [[nodiscard]] bool quiet() const { return options_.quiet; }
    [[nodiscard]] Colour colour() const { return options_.colour; }

    void detail(const std::string& message);                 ///< only with --verbose
    void warning(const std::string& message);                ///< not with --quiet
    void warn_of(const std::optional<std::string>& message); ///< where there is one
    void note(const std::string& message);                   ///< what was asked for and belongs on stderr
    void hint(const std::string& command) const; ///< what to type next: a line that begins with "→"; not with --quiet
    /// "attn-cli: error: …", always one line. Allocates nothing, so that it can also say that memory has run out.
    void error(std::string_view message) const noexcept;

private:
    spdlog::logger& logger();
    [[nodiscard]] bool coloured() const;

    LogOptions options_;
    std::unique_ptr<spdlog::logger> logger_;
};

/// Whether standard error is a terminal that can move its cursor.
[[nodiscard]] bool error_terminal();

} // namespace attn::cli
