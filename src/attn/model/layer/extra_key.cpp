#include "attn/model/layer/extra_key.hpp"

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

template Tensor<float> with_row(const Tensor<float>&, const Tensor<float>&);
template Tensor<double> with_row(const Tensor<double>&, const Tensor<double>&);

} // namespace attn::model
