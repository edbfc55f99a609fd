#include "attn/model/extra_key.hpp"

#include "attn/core/stages.hpp"

#include <array>
#include <limits>

namespace attn::model {

template <typename Scalar>
Tensor<Scalar> with_row(const Tensor<Scalar>& rows, const Tensor<Scalar>& row)
{
    const Index S = rows.rows();
    const Index d = rows.columns();
    Tensor<Scalar> joined({rows.shape[0], S + 1, d});
    const Eigen::Map<const Matrix<Scalar>> last(row.values.data(), rows.shape[0], d);
    for (Index h = 0; h < rows.shape[0]; ++h) {
        joined.matrix(h).topRows(S) = rows.matrix(h);
        joined.matrix(h).row(S) = last.row(h);
    }
    return joined;
}

StoredTensor bias_with_extra_key(const std::optional<TensorView>& mask, const core::AttentionOptions& options,
                                 const std::vector<Index>& positions, Index S)
{
    constexpr double hidden = -std::numeric_limits<double>::infinity();
    const auto T = static_cast<Index>(positions.size());
    const bool boolean = mask && mask->type == ElementType::boolean;
    StoredTensor bias("mask", ElementType::float64, {mask ? mask->shape[0] : 1, T, S + 1});
    for (Index h = 0; h < bias.shape[0]; ++h) {
        Matrix<double> values = Matrix<double>::Zero(T, S + 1);
        const Matrix<double> given = mask ? load_matrix<double>(*mask, std::array{h}) : Matrix<double>::Zero(T, S);
        for (Index i = 0; i < T; ++i) {
            const core::KeyRange keys = core::visible_keys(options, positions[static_cast<std::size_t>(i)], S);
            for (Index j = 0; j < S; ++j) {
                const bool masked = j >= given.cols() || (boolean && given(i, j) == 0);
                const bool seen = j >= keys.begin && j < keys.end && !masked;
                values(i, j) = !seen ? hidden : boolean ? 0 : given(i, j);
            }
        }
        store(bias, h * T * (S + 1), std::span<const double>(values.data(), static_cast<std::size_t>(values.size())));
    }
    return bias;
}

template Tensor<float> with_row(const Tensor<float>&, const Tensor<float>&);
template Tensor<double> with_row(const Tensor<double>&, const Tensor<double>&);

} // namespace attn::model
