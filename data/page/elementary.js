// exp and tanh as the program computes them (math/elementary.hpp), operation for operation: the last bits of Math.exp and Math.tanh
// are the browser's own.

const toInteger = 1.5 * 2 ** 52 + 2048; // added to a small number and taken off again, leaves its nearest integer
const log2e = 0x171547652b82fe / 2 ** 52;
const ln2High = 0x162e42fee00000 / 2 ** 53;
const ln2Low = 0x1a39ef35793c76 / 2 ** 85;

/// e^r − 1 − r for |r| ≤ ½·ln 2.
function expBeyondLinear(r) {
  const r2 = r * r;
  const r4 = r2 * r2;
  const first = 1 / 2 + r * (1 / 6) + r2 * (1 / 24 + r * (1 / 120));
  const second = 1 / 720 + r * (1 / 5040) + r2 * (1 / 40320 + r * (1 / 362880));
  const third = 1 / 3628800 + r * (1 / 39916800) + r2 * (1 / 479001600 + r * (1 / 6227020800));
  return (first + r4 * (second + r4 * third)) * r2;
}

/// e^x = 2^k · (1 + rest + small).
function reduced(x) {
  const k = x * log2e + toInteger - toInteger;
  const high = x - k * ln2High;
  const low = k * ln2Low;
  const rest = high - low;
  return { k, rest, small: high - rest - low + expBeyondLinear(rest) };
}

const powersOfTwo = Float64Array.from({ length: 1081 }, (_, i) => 2 ** (i - 540));

/// e^x; 2^k in two factors, since 2^k itself may be out of range.
function exp(x) {
  const { k, rest, small } = reduced(x > 746 ? 746 : x < -746 ? -746 : x);
  const sum = 1 + rest;
  const half = Math.floor(k / 2);
  return (sum + (1 - sum + rest + small)) * powersOfTwo[half + 540] * powersOfTwo[k - half + 540];
}

/// e^x − 1 for ½ < x ≤ 44.
function expMinusOne(x) {
  const { k, rest, small } = reduced(x);
  const scale = 2 ** k;
  const [a, b] = [scale - 1, scale * rest];
  const sum = a + b;
  const part = sum - a;
  return sum + (a - (sum - part) + (b - part) + scale * small);
}

/// tanh x for 0 ≤ x ≤ 0.35.
function tanhNearZero(x) {
  const z = x * x;
  const numerator = (27 * z + 2772) * z + 45045;
  const denominator = ((28 * z + 3150) * z + 62370) * z + 135135;
  return x - x * ((z * numerator) / denominator);
}

function tanh(x) {
  const size = Math.abs(x) > 22 ? 22 : Math.abs(x);
  const e = size <= 0.35 ? 0 : expMinusOne(2 * size);
  return Math.sign(x) * (size <= 0.35 ? tanhNearZero(size) : e / (e + 2));
}
