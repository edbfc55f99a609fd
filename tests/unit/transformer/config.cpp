#include "attn/transformer/config.hpp"

#include "unit/error_of.hpp"
#include "unit/transformer/small_models.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace {

namespace transformer = attn::transformer;
using transformer::Config;
using transformer::ConfigNull;
using transformer::ConfigObject;
using transformer::ConfigScalar;

TEST(Config, TakesTheFirstNameThatHasAValue)
{
    Config config({{"new", ConfigNull{}}, {"old", 3.0}, {"older", 4.0}});
    EXPECT_EQ(config.count({"new", "old", "older"}), 3);
    config.require_all_used(); // the others are names of the same thing
}

TEST(Config, TellsNullFromAbsent)
{
    Config config({{"window", ConfigNull{}}});
    EXPECT_EQ(config.optional_count({"window"}, 4096), std::nullopt);
    EXPECT_EQ(config.optional_count({"other"}, 4096), 4096);
    EXPECT_EQ(config.count({"window"}, 7), 7);
    EXPECT_FALSE(config.has({"window"}));
}

TEST(Config, RefusesAKeyThatNobodyAskedForAndSaysHowToGoOn)
{
    const Config config({{"hidden_sizes", 3.0}});
    EXPECT_EQ(error_of([&] { config.require_all_used(); }),
              "'hidden_sizes' = 3 is not known here and may change what the model computes; if it does not, "
              "--set model.ignore_config='hidden_sizes' leaves it out");
}

TEST(Config, NamesAllKeysThatNobodyAskedFor)
{
    using attn::transformer::ConfigObject;
    const Config dotted({{"transformers", 1.0}, {"transformers.js_config", "harmless"}});
    EXPECT_TRUE(error_of([&] { dotted.require_all_used(); }).starts_with("'transformers' = 1 is not known"));
    Config config({{"a", 1.0},
                   {"known", ConfigObject{}},
                   {"known.b", true},
                   {"known.size", 2.0},
                   {"odd", ConfigObject{}},
                   {"odd.c", 3.0},
                   {"odd.d", ConfigObject{}},
                   {"odd.d.e", "f"}});
    EXPECT_EQ(config.count({"known.size"}), 2);
    EXPECT_EQ(error_of([&] { config.require_all_used(); }),
              "'a' = 1, 'known.b' = true, 'odd' = an object are not known here and may change what the model computes; if they "
              "do not, --set model.ignore_config='a,known.b,odd' leaves them out");
}

TEST(Config, NamesKeysWithDotsWhole)
{
    const Config config({{"llama.expert.count", 8.0}, {"llama.expert.used", 2.0}});
    EXPECT_TRUE(error_of([&] {
                    config.require_all_used();
                }).starts_with("'llama.expert.count' = 8, 'llama.expert.used' = 2 are not known here"));
    Config({{"llama.expert.count", 8.0}, {"llama.expert.used", 2.0}}, {"llama.expert.count", "llama.expert.used"})
        .require_all_used();
}

TEST(Config, CallsKeysAsTheFileDoes)
{
    const transformer::ConfigNames names{{"size", "llama.width"}, {"odd", "llama.odd"}};
    const auto config = [&](const std::vector<std::string>& ignored = {}) {
        return Config({{"size", 0.0}, {"odd", 1.0}}, ignored, names);
    };
    EXPECT_EQ(error_of([&] { (void)config().count({"size"}); }),
              "llama.width: got 0; allowed: a whole number from 1 to 1,000,000,000");
    EXPECT_EQ(error_of([&] { config().require("size", 1.0); }),
              "llama.width: got 0; allowed: 1, the one that is computed here");
    EXPECT_EQ(error_of([&] { (void)config({"llama.width"}).count({"size"}); }),
              "it has no llama.width, which this model_type needs");
    EXPECT_TRUE(error_of([&] { config().require_all_used(); }).starts_with("'llama.odd' = 1, 'llama.width' = 0 are not known"));
}

TEST(Config, LeavesOutWhatIsIgnoredWithAllThatIsInside)
{
    Config config({{"quantization_config.bits", 4.0}, {"quantization_config.group.size", 4.0}, {"quantization_configs", true}},
                  {"quantization_config"});
    EXPECT_FALSE(config.has({"quantization_config"}));
    EXPECT_TRUE(config.has({"quantization_configs"}));
}

TEST(Config, IgnoresNoKeyThatIsNotThere)
{
    const auto ignored = [] { (void)Config({{"hidden_size", 8.0}}, {"hidden_sizes"}); };
    EXPECT_EQ(error_of(attn::ErrorKind::usage, ignored),
              "--set model.ignore_config: got 'hidden_sizes'; allowed: a key that this model states");
}

TEST(Config, PassesOverWhatChangesNothing)
{
    Config config(
        {{"torch_dtype", "float32"}, {"id2label.0", "a"}, {"unknown", ConfigNull{}}, {"task_specific_params.a.b", 1.0}});
    config.require_all_used();
}

TEST(Config, ReadsThePartForTextOfAModelForPicturesToo)
{
    Config config({{"text_config.hidden_size", 5.0}, {"vision_config.hidden_size", 6.0}});
    EXPECT_EQ(config.count({"hidden_size"}), 5);
    config.require_all_used();
}

TEST(Config, RefusesValuesOfAnotherKindOrOutOfRange)
{
    const auto refusal = [](const transformer::ConfigValue& value, auto ask) {
        Config config({{"key", value}});
        return error_of([&] { ask(config); });
    };
    const auto count = [](Config& config) { (void)config.count({"key"}); };
    const std::string whole = "; allowed: a whole number from 1 to 1,000,000,000";
    EXPECT_EQ(refusal(0.0, count), "key: got 0" + whole);
    EXPECT_EQ(refusal(-1.0, count), "key: got -1" + whole);
    EXPECT_EQ(refusal(1.5, count), "key: got 1.5" + whole);
    EXPECT_EQ(refusal(1e10, count), "key: got 10000000000" + whole);
    EXPECT_EQ(refusal("three", count), "key: got 'three'" + whole);
    EXPECT_EQ(refusal(true, count), "key: got true" + whole);
    EXPECT_EQ(refusal(std::vector<ConfigScalar>{1.0, 2.0}, count), "key: got a list of 2" + whole);
    EXPECT_EQ(refusal(ConfigObject{}, count), "key: got an object or a list" + whole);
    EXPECT_EQ(refusal(std::vector<ConfigScalar>{ConfigObject{}}, [](Config& config) { (void)config.texts({"key"}); }),
              "key: got an object or a list; allowed: a text");
    EXPECT_EQ(refusal(ConfigNull{}, count), "it has no key, which this model_type needs");
    EXPECT_EQ(refusal(0.0, [](Config& config) { (void)config.positive({"key"}); }), "key: got 0; allowed: a number above 0");
    EXPECT_EQ(refusal(1.0, [](Config& config) { (void)config.flag({"key"}, true); }), "key: got 1; allowed: true or false");
    EXPECT_EQ(refusal(1.0, [](Config& config) { (void)config.text({"key"}); }), "key: got 1; allowed: a text");
    EXPECT_EQ(refusal(1.0, [](Config& config) { (void)config.texts({"key"}); }), "key: got 1; allowed: a list");
    EXPECT_EQ(refusal("relative", [](Config& config) { config.require("key", "absolute"); }),
              "key: got 'relative'; allowed: 'absolute', the one that is computed here");
    EXPECT_NE(refusal(std::numeric_limits<double>::infinity(), count), "no error");
}

} // namespace
