// There are no signals: whoever ends the program takes it away with its memory and its files.
#include "cli/system/signals.hpp"

namespace attn::cli {

void handle_signals() {}

SignalsBlocked::SignalsBlocked() = default;
SignalsBlocked::~SignalsBlocked() = default;

void remove_on_signal(const std::string& /*path*/) {}

void keep_on_signal() {}

void erase_line_on_signal(bool /*erase*/) {}

} // namespace attn::cli
