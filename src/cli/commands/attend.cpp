// attn-cli attend: the attention operator over tensors from files.
#include "attn/model/attend/attend.hpp"

#include "attn/model/layer/mask.hpp"
#include "attn/report/json/tensor_json.hpp"
#include "attn/tensor/error.hpp"
#include "cli/commands/judged_files.hpp"
#include "cli/commands/suggested_input.hpp"
#include "cli/input/tensor_inputs.hpp"
#include "cli/options/attend_options.hpp"
#include "cli/output/isa_note.hpp"
#include "cli/output/output.hpp"
#include "cli/output/tensor_output.hpp"
#include "cli/system/exit_code.hpp"
#include "cli/system/progress.hpp"
#include "cli/system/system.hpp"

#include <fmt/core.h>

#include <array>
#include <memory>

namespace attn::cli {
namespace {

constexpr std::array examples{
    Example{"attn-cli attend -q q.npy -k k.npy -v v.npy --causal -o y.npy", "from and to NumPy"},
    Example{"attn-cli attend -q t.npz:q -k t.npz:k -v t.npz:v --show all -o s.npz", "every stage of it"},
    Example{"attn-cli attend -q q.npy -k k.npy -v v.npy --causal --against mine.npy", "which mistake gives mine.npy"},
    Example{"attn-cli attend -q q.npy -k k.npy -v v.npy --against mine.npy -o error.svg", "and a picture of where it differs"},
    Example{"attn-cli attend -q q.npy -k k.npy -v v.npy --mask mask.npy | jq -c '.data[0]'", "JSON, for programs"},
};
constexpr std::array<std::string_view, 10> common{"-q",      "-k",       "-v",      "--causal", "--mask",
                                                  "--heads", "--window", "--scale", "--show",   "-o"};
constexpr std::string_view notes = "FILE is .npy, .npz or .safetensors; NAME is required if it holds several\n"
                                   "tensors; - is standard input. Scores: Q·Kᵀ, times the scale, softcap, mask; then\n"
                                   "softmax, times V. float16 and bfloat16 are computed in float32 and rounded once,\n"
                                   "at the end. The result has the type and the layout of the queries.\n"
                                   "With --against the exit code is 0 if all files agree and 1 if one differs.\n";

/// The tensors that the options name.
class Inputs {
public:
    Inputs(const AttendOptions& options, Log& log) : log_(log)
    {
        inputs_.queries = open("queries", *options.queries);
        inputs_.keys = open("keys", *options.keys);
        inputs_.values = open("values", *options.values);
        for (const AttendFile& file : attend_files) {
            if (const std::optional<std::string>& typed = options.*file.typed) {
                inputs_.*file.read = open(file.name, *typed);
            }
        }
    }

    [[nodiscard]] const model::AttendInputs& tensors() const { return inputs_; }
    void read_numbers() { files_.read_numbers(); }
    void require_apart_from(const std::optional<std::string>& output) const { files_.require_apart_from(output); }
    void require_unchanged() const { files_.require_unchanged(); }

private:
    TensorView open(const char* what, const std::string& text)
    {
        TensorView view = files_.open(text);
        log_.detail(fmt::format("{} {} {}", what, name_of(view.type), to_string(view.shape)));
        return view;
    }

    Log& log_;
    TensorInputs files_;
    model::AttendInputs inputs_;
};

/// What cannot be written is noticed before the work.
void require_storable(const model::AttendInputs& inputs, const AttendOptions& options)
{
    for (const model::Item stage : options.attend.show) {
        require_storable(model::type_of(stage, inputs, options.attend), options.format);
    }
}

void write(const std::vector<StoredTensor>& tensors, const AttendOptions& options, Output& output)
{
    if (info_of(options.format).is_binary) {
        std::vector<io::TensorBytes> written;
        written.reserve(tensors.size());
        for (const StoredTensor& tensor : tensors) {
            written.push_back({tensor.name, tensor.type, tensor.shape, tensor.bytes});
        }
        return write_tensors(written, options.format, {}, output);
    }
    for (const StoredTensor& tensor : tensors) {
        const auto name = options.show.given() ? std::optional<std::string_view>(tensor.name) : std::nullopt;
        report::write_tensor_json(tensor.view(), {.name = name, .masked = is_masked(*model::item_called(tensor.name))},
                                  output.sink());
    }
}

/// The files of --against.
int judge(const TiedCall& call, const StoredTensor& right, Log& log)
{
    const model::diagnose::Call attention = model::diagnose::call_of(call.inputs, call.options.attend);
    Judge judge;
    judge.json = call.options.output.json;
    judge.against = [&](const ComparedFile& file) {
        return model::diagnose::against(attention, right, file.only({right.name}), file.name(), {.threads = call.threads});
    };
    if (call.options.against.suggest) {
        judge.suggest = [&](const model::diagnose::Diagnosis& tied) { return write_suggested_input(call, tied); };
    }
    return judge_files(call.options.against, judge, log);
}

int execute_attend(const AttendOptions& options, const Operands& operands, const Globals& globals, Log& log)
{
    Output output(options.output.path);
    refuse_terminal(output, options.format);
    Inputs inputs(options, log);
    for (const auto& path : {options.output.path, options.against.picture, options.against.suggest}) {
        inputs.require_apart_from(path);
    }
    if (!options.against.given()) {
        require_storable(inputs.tensors(), options);
    } else if (options.against.suggest) {
        (void)Output(options.against.suggest); // whether it can be written
        require_storable(inputs.tensors().queries.type, format_of_suggested(options.against));
    }

    StageReporter stages(log);
    model::RunSettings settings;
    settings.threads = globals.threads;
    settings.isa = globals.isa.value_or(core::best_isa());
    settings.memory_limit = memory_limit();
    settings.observer = stages.observer();
    settings.read_numbers = [&] { inputs.read_numbers(); };
    const model::AttendResult result = model::attend(inputs.tensors(), options.attend, settings);
    inputs.require_unchanged();
    for (const std::string& warning : result.warnings) {
        log.warning(warning);
    }
    if (const auto doubt = options.mask ? model::doubt_about(*inputs.tensors().mask) : std::nullopt) {
        log.warning(*doubt);
    }
    if (const auto note = IsaNote(globals.isa).about(result.portable_because)) {
        log.warning(*note);
    }
    if (options.against.given()) {
        return judge({inputs.tensors(), options, operands, globals.threads}, result.tensors.front(), log);
    }
    output.tell(stages);
    if (settings.observer) {
        settings.observer({"output", {}, 0});
    }
    write(result.tensors, options, output);
    output.finish();
    if (settings.observer) {
        settings.observer({"output", {}, 1});
    }
    return success;
}

Execute declare(Options& options)
{
    const auto attend = std::make_shared<AttendOptions>();
    declare_attend(options, *attend);
    return [attend](const Operands& operands, const Globals& globals, Log& log) {
        finish_attend_options(operands, *attend);
        return execute_attend(*attend, operands, globals, log);
    };
}

} // namespace

constinit const Command attend_command{
    .name = "attend",
    .operands = "",
    .summary = "Attention over queries, keys and values from files, with every stage on request.",
    .examples = examples,
    .common = common,
    .notes = notes,
    .page = "tensors",
    .declare = declare,
};

} // namespace attn::cli
