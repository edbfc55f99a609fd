// Draws on request, for tests/oracle/live_draws.py: reads one operation a line and prints the drawn doubles raw, little-endian.
//
//   seed torch|numpy|numpy-pcg64 N      a new stream
//   uniform COUNT LOW HIGH              draws from the stream
//   normal COUNT MEAN DEVIATION
//   integers COUNT LOW HIGH
//   bernoulli COUNT P                   of TorchStream
//   bernoulli_mkl COUNT P FLOAT64       the same as builds with Intel MKL draw it; FLOAT64 is 0 or 1
//   bounds FAN_IN FAN_OUT GAIN A        linear_weight_bound, linear_bias_bound, then bound and deviation of xavier, of kaiming
#include "attn/random/stream.hpp"

#include <bit>
#include <cstdint>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace {

using namespace attn;

static_assert(std::endian::native == std::endian::little);

double number(std::istream& in)
{
    std::string word;
    in >> word;
    return std::stod(word); // hexadecimal floats too, which >> does not read
}

random::Stream seeded(std::istream& in)
{
    std::string generator;
    std::uint64_t seed = 0;
    in >> generator >> seed;
    if (generator == "torch") {
        return random::TorchStream(seed);
    }
    if (generator == "numpy") {
        return random::NumpyStream(static_cast<std::uint32_t>(seed));
    }
    if (generator == "numpy-pcg64") {
        return random::Pcg64Stream(seed);
    }
    throw std::runtime_error("unknown generator: " + generator);
}

std::vector<double> answer(random::Stream& stream, const std::string& operation, std::istream& in)
{
    if (operation == "seed") {
        stream = seeded(in);
        return {};
    }
    Index count = 0;
    in >> count;
    if (operation == "bounds") {
        Index fan_out = 0;
        in >> fan_out;
        const double gain = number(in);
        const double a = number(in);
        return {random::linear_weight_bound(count),
                random::linear_bias_bound(count),
                random::xavier_bound(count, fan_out, gain),
                random::xavier_deviation(count, fan_out, gain),
                random::kaiming_bound(count, a),
                random::kaiming_deviation(fan_out, a)};
    }
    if (operation == "integers") {
        std::int64_t low = 0, high = 0;
        in >> low >> high;
        return random::integers(stream, count, low, high);
    }
    const double first = number(in);
    if (operation.starts_with("bernoulli")) {
        auto& torch = std::get<random::TorchStream>(stream);
        const auto draws =
            operation == "bernoulli" ? torch.bernoulli(count, first) : torch.bernoulli_of_mkl(count, first, number(in) != 0);
        return {draws.begin(), draws.end()};
    }
    const double second = number(in);
    if (operation == "uniform") {
        return random::uniform(stream, count, first, second);
    }
    if (operation == "normal") {
        return random::normal(stream, count, first, second);
    }
    throw std::runtime_error("unknown operation: " + operation);
}

} // namespace

int main()
{
    random::Stream stream = random::TorchStream(0);
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words(line);
        std::string operation;
        words >> operation;
        const std::vector<double> draws = answer(stream, operation, words);
        std::cout.write(reinterpret_cast<const char*>(draws.data()),
                        static_cast<std::streamsize>(draws.size() * sizeof(double)));
        std::cout.flush();
    }
    return std::cout ? 0 : 1;
}
