#include "attn/model/run/batch_runner.hpp"

#include "attn/core/parallel.hpp"
#include "attn/model/run/resolved_run.hpp"

#include <utility>
#include <variant>

namespace attn::model {

BatchRunner::BatchRunner(Recipe recipe, RunSettings settings)
    : recipe_(std::move(recipe)), settings_(std::move(settings)),
      show_(what_to_show(recipe_, settings_)), shared_{.preparations = ParameterCache(recipe_), .least = {}, .largest = {}}
{
}

Result BatchRunner::run(std::string sentence)
{
    std::get<SentenceInput>(recipe_.input).sentence = std::move(sentence);
    return run_resolved(ResolvedRun(recipe_, show_, settings_, &shared_));
}

void for_each_sentence(Index count, int threads, const std::function<void(Index i, int worker)>& sentence)
{
    core::for_each_block(count, {.threads = threads}, sentence);
}

} // namespace attn::model
