// attn-cli completions: what a shell offers while a command is typed. The scripts of the three shells hand over the words; what
// may come next is found here, from the declarations of the options.
#include "attn/io/builtin.hpp"
#include "attn/model/recipe/option_names.hpp"
#include "attn/tensor/error.hpp"
#include "cli/help.hpp"
#include "cli/options/command.hpp"
#include "cli/options/suggest.hpp"
#include "cli/output/output.hpp"
#include "cli/system/exit_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace attn::cli {
namespace {

constexpr std::array completions_examples{
    Example{"attn-cli completions fish > ~/.config/fish/completions/attn-cli.fish", "for fish, where nothing is installed"},
    Example{"source <(attn-cli completions bash)", "in ~/.bashrc; zsh likewise"},
    Example{"attn-cli completions bash -- run --format j", "the completions of the last word, as the scripts ask"},
};
constexpr std::string_view completions_notes =
    "cmake --install puts all three in their place, and so does the Debian package.\n";

// ---- the scripts -----------------------------------------------------------------------------------------------------

struct Shell {
    std::string_view name;
    std::string_view before_meaning; ///< between a word and its meaning; none: words alone
    std::string_view script;         ///< a line of what it gets is a word, or, as "*.npz", a pattern of files
};

constexpr std::string_view bash_script = R"sh(# Completion of attn-cli for bash.
_attn_cli() {
    local word line cur=${COMP_WORDS[COMP_CWORD]} words=()
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do # bash parts --format=json in three
        [[ $word == = ]] || words+=("$word")
    done
    if [[ $cur == = ]]; then
        cur=
        words+=("")
    fi
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == \** ]]; then
            compopt -o filenames
            mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -X "!$line" -- "$cur"; compgen -d -- "$cur")
        else
            COMPREPLY+=("$line")
            [[ $line != *= ]] || compopt -o nospace
        fi
    done < <("${1/#\~/$HOME}" completions bash -- "${words[@]}" 2>/dev/null)
}
complete -F _attn_cli attn-cli
)sh";

constexpr std::string_view zsh_script = R"sh(#compdef attn-cli
# Completion of attn-cli for zsh.
_attn-cli() {
    local line
    local -a offered unfinished patterns
    for line in "${(@f)$(${~words[1]} completions zsh -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
        if [[ $line == \** ]]; then
            patterns+=($line)
        elif [[ ${line%%:*} == *= ]]; then
            unfinished+=($line)
        elif [[ -n $line ]]; then
            offered+=($line)
        fi
    done
    (( $#offered )) && _describe -V attn-cli offered
    (( $#unfinished )) && _describe -V attn-cli unfinished -S ''
    if (( $#patterns )); then
        compset -P '--*='
        _files -g "(${(j:|:)patterns})"
    fi
}
if [[ $funcstack[1] == _attn-cli ]]; then # loaded from fpath, to complete at once
    _attn-cli "$@"
else
    compdef _attn-cli attn-cli
fi
)sh";

constexpr std::string_view fish_script = R"sh(# Completion of attn-cli for fish.
function __attn_cli
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l option (string match -r '^--[^=]*=' -- "$current")
    for line in ($words[1] completions fish -- $words[2..-1] "$current" 2>/dev/null)
        if string match -q '\**' -- $line
            set -l ending (string escape --style=regex -- (string sub -s 2 -- $line))
            __fish_complete_path (string replace -- "$option" '' "$current") | string match -e -r "(/|$ending)(\t|\$)" \
                | string replace -r '^' -- "$option"
        else
            echo $line
        end
    end
end
complete -c attn-cli -k -f -a '(__attn_cli)'
)sh";

constexpr std::array<Shell, 3> shells{{{"bash", "", bash_script}, {"zsh", ":", zsh_script}, {"fish", "\t", fish_script}}};

// ---- what may come next ----------------------------------------------------------------------------------------------

struct Candidate {
    std::string word; ///< or a pattern of files
    std::string meaning = {};
};
using Candidates = std::vector<Candidate>;

Candidates files(std::span<const io::BuiltinFile> builtin)
{
    Candidates all;
    std::ranges::transform(builtin, std::back_inserter(all),
                           [](const io::BuiltinFile& file) { return Candidate{std::string(file.name)}; });
    return all;
}

/// What a word of a usage line, or one that an option offers, stands for; nothing where it is a sentence or the like.
Candidates meant_by(std::string_view word)
{
    if (word == "RECIPE" || word == "NAME") {
        return files(io::builtin_recipes());
    }
    if (word == "TOPIC") {
        return files(io::builtin_manual());
    }
    if (word == "COMMAND") {
        Candidates all;
        std::ranges::transform(commands(), std::back_inserter(all), [](const Command* command) {
            return Candidate{std::string(command->name), std::string(command->summary)};
        });
        return all;
    }
    if (word == "FILE" || word == "A" || word == "B") {
        return {{"*"}};
    }
    if (word.starts_with('*') || std::ranges::any_of(word, [](char c) { return c >= 'a' && c <= 'z'; })) {
        return {{std::string(word)}};
    }
    return {};
}

/// Operand number `place` of "list|show NAME" or "FILE|RECIPE…".
Candidates operands_of(std::string_view usage, std::size_t place)
{
    constexpr std::string_view more = "…";
    for (; place > 0 && !usage.ends_with(more); --place) {
        usage.remove_prefix(std::min(usage.find(' '), usage.size() - 1) + 1);
    }
    usage = usage.substr(0, usage.find_first_of(" ]\xe2")); // the first byte of "…"
    usage.remove_prefix(usage.starts_with('[') ? 1 : 0);
    Candidates all;
    while (!usage.empty()) {
        const std::size_t bar = std::min(usage.find('|'), usage.size());
        std::ranges::move(meant_by(usage.substr(0, bar)), std::back_inserter(all));
        usage.remove_prefix(std::min(bar + 1, usage.size()));
    }
    return all;
}

/// Of a key of --set: "rounding=" while the key is typed, then "rounding=step", each behind `before`.
Candidates keys_and_values(const SetKeys& keys, std::string_view typed, const std::string& before = {})
{
    Candidates all;
    const std::size_t equals = typed.find('=');
    if (equals == std::string_view::npos) {
        for (const SetKey& key : keys.all()) {
            all.push_back({before + key.named_as(typed) + "=", first_phrase(key.meaning)});
        }
    } else if (const SetKey* key = keys.find(typed)) {
        for (const std::string& value : key->offered) {
            const bool pattern = value.starts_with('*'); // of files
            all.push_back({pattern ? value : fmt::format("{}{}{}", before, typed.substr(0, equals + 1), value)});
        }
    }
    return all;
}

/// Behind what is typed of the value, the other items of a list, and `before` it: "--format=".
Candidates values_of(const ListedOption& option, std::string typed, const std::string& before = {})
{
    if (option.keys != nullptr) {
        return keys_and_values(*option.keys, typed, before);
    }
    typed.resize(option.takes_list ? typed.find_last_of(',') + 1 : 0);
    typed.insert(0, before);
    Candidates all;
    for (const std::string& word : option.offered) {
        for (const Candidate& candidate : meant_by(word)) {
            all.push_back({(candidate.word.starts_with('*') ? "" : typed) + candidate.word});
        }
    }
    return all;
}

const ListedOption* find_option(const std::vector<ListedOption>& options, const std::string& name)
{
    const auto found = std::ranges::find_if(
        options, [&](const ListedOption& option) { return std::ranges::find(option.names, name) != option.names.end(); });
    return found == options.end() ? nullptr : &*found;
}

Candidates candidates_of(const std::vector<ListedOption>& options)
{
    Candidates all;
    for (const ListedOption& option : options) {
        for (const std::string& name : option.names) {
            all.push_back({name, first_phrase(option.meaning)});
        }
    }
    return all;
}

/// What the words before the last one are.
struct WordsBefore {
    std::vector<ListedOption> options = global_options();
    const Command* command = nullptr;
    std::size_t operands = 0;
    bool all_text = false;
    std::string awaiting = {};   ///< the option whose value is next
    std::string parted_key = {}; ///< of --set, whose value is next, for bash parts KEY=VALUE in two words

    void read(const std::string& word)
    {
        if (!awaiting.empty()) {
            const bool parted = awaiting == model::option::set && word.find('=') == std::string::npos;
            parted_key = parted ? word + "=" : "";
            awaiting.clear();
        } else if (!parted_key.empty()) {
            parted_key.clear();
        } else if (!all_text && word.starts_with('-')) {
            const ListedOption* option = find_option(options, word);
            awaiting = option != nullptr && !option->symbol.empty() ? word : "";
            all_text = word == "--";
        } else if (command == nullptr && find_command(word) != nullptr) {
            command = find_command(word);
            std::ranges::move(options_of(*command), std::back_inserter(options));
        } else {
            ++operands;
        }
    }
};

/// What may stand in place of `last`, behind these words.
Candidates candidates(std::span<const std::string> words, const std::string& last)
{
    WordsBefore before;
    std::ranges::for_each(words, [&](const std::string& word) { before.read(word); });
    const std::vector<ListedOption>& options = before.options;
    if (!before.parted_key.empty()) {
        Candidates values = keys_and_values(*find_option(options, std::string(model::option::set))->keys, before.parted_key);
        for (Candidate& value : values) {
            value.word.erase(0, value.word.starts_with(before.parted_key) ? before.parted_key.size() : 0);
        }
        return values;
    }
    if (!before.awaiting.empty()) {
        return values_of(*find_option(options, before.awaiting), last);
    }
    if (last.starts_with('-') && !before.all_text) {
        const std::size_t equals = last.find('=');
        const ListedOption* option = equals == std::string::npos ? nullptr : find_option(options, last.substr(0, equals));
        return option == nullptr ? candidates_of(options)
                                 : values_of(*option, last.substr(equals + 1), last.substr(0, equals + 1));
    }
    Candidates all = before.command == nullptr ? meant_by("COMMAND") : operands_of(before.command->operands, before.operands);
    return all.empty() && last.empty() ? candidates_of(options) : all;
}

int execute_completions(const TypedArguments& typed, const Globals&, Log&)
{
    const std::span<const std::string> words(typed.words);
    const std::size_t asked = typed.after_dashes;
    if (words.size() == asked) {
        throw Error(ErrorKind::usage, "completions: a shell is missing: bash, zsh or fish");
    }
    const Shell& shell = shells.at(choice("completions", words.front(), names_of(shells, &Shell::name)));
    if (asked == 0) {
        expect_at_most(typed, 1, "completions takes one shell");
        print(shell.script);
        return success;
    }
    std::string lines;
    for (const auto& [word, meaning] : candidates(words.subspan(1, asked - 1), words.back())) {
        if (word.starts_with('*') || word.starts_with(words.back())) {
            lines += word;
            lines.append(meaning.empty() || shell.before_meaning.empty() ? "" : std::string(shell.before_meaning) + meaning);
            lines += '\n';
        }
    }
    print(lines);
    return success;
}

} // namespace

constinit const Command completions_command{
    .name = "completions",
    .operands = "bash|zsh|fish",
    .summary = "Print the script by which a shell completes commands, options and values.",
    .examples = completions_examples,
    .notes = completions_notes,
    .minor = true,
    .declare = without_options<execute_completions>,
};

} // namespace attn::cli
