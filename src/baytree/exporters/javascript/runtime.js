// Runtime of exported JavaScript: arithmetic and trees. An export copies only the functions that it needs; each must begin at
// the left margin.
// Missing is NaN for a number, -1 for the code of a level, null for the words of a document.

function bin(x, cuts, nCuts, missing) {
  return x !== x ? missing : cutsBelow(x, cuts, 0, nCuts, false);
}

function cutsBelow(x, cuts, first, n, isStrict) {
  let low = 0;
  let high = n;
  while (low < high) {
    const middle = (low + high) >> 1;
    const cut = cuts[first + middle];
    if (isStrict ? cut <= x : cut < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

function level(code, missing) {
  return code < 0 ? missing : code;
}

function total(values, n) {
  let sum = 0;
  for (let c = 0; c < n; c++) sum += values[c];
  return sum;
}

function highest(values, n) {
  return values[firstHighest(values, n)];
}

function firstHighest(values, n) {
  let best = 0;
  for (let c = 1; c < n; c++) if (values[c] > values[best]) best = c;
  return best;
}

function softmax(scores, n, out) {
  const top = highest(scores, n);
  for (let c = 0; c < n; c++) out[c] = Math.exp(scores[c] - top);
  const sum = total(out, n);
  for (let c = 0; c < n; c++) out[c] /= sum;
}

function roundEven(value) {
  if (Math.abs(value) >= 4503599627370496) return value;
  const below = Math.floor(value);
  const rest = value - below;
  if (rest !== 0.5) return rest < 0.5 ? below : below + 1;
  return below % 2 === 0 ? below : below + 1;
}

function erfc(x) {
  // 2/sqrt(pi) * sum (-1)^n x^(2n+1) / (n! (2n+1)), all terms positive after factoring out exp(-x^2); a continued fraction beyond
  const size = Math.abs(x);
  if (size < 2.5) {
    let term = x;
    let sum = x;
    for (let n = 1; Math.abs(term) > 1e-18 * Math.abs(sum); n++) {
      term *= (2 * x * x) / (2 * n + 1);
      sum += term;
    }
    return 1 - (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
  }
  if (size > 27) return x > 0 ? 0 : 2;
  let fraction = 0;
  for (let n = 120; n >= 1; n--) fraction = n / 2 / (size + fraction);
  const tail = Math.exp(-size * size) / Math.sqrt(Math.PI) / (size + fraction);
  return x > 0 ? tail : 2 - tail;
}

function logDensity(x, mean, scale, degrees, constant) {
  const gap = x - mean;
  const z = Math.abs(gap) === Infinity ? (x / 2 - mean / 2) / (scale / 2) : gap / scale;
  if (!(Math.abs(z) > Math.pow(2, 500))) {
    if (degrees === Infinity) return constant - 0.5 * z * z;
    return constant - 0.5 * (degrees + 1) * Math.log1p((z / degrees) * z);
  }
  const distance = Math.log(Math.abs(x / 2 - mean / 2)) + Math.log(2) - Math.log(scale);
  if (degrees === Infinity) return -Math.pow(2, 990) * (1 + distance / 2048);
  return constant - (degrees + 1) * (distance - 0.5 * Math.log(degrees));
}

function logRising(a, x) {
  if (x === 0) return 0;
  if (a === 0) return -Infinity;
  if (x <= 16 && x === Math.floor(x)) {
    let sum = 0;
    for (let step = 0; step < x; step++) sum += Math.log(a + step);
    return sum;
  }
  let shift = 0;
  for (; a < 15; a++) shift += Math.log1p(x / a);
  const rest = stirling(a + x) - stirling(a) - shift;
  return x * Math.log(a + x) + (a - 0.5) * Math.log1p(x / a) - x + rest;
}

function stirling(x) {
  const r = 1 / (x * x);
  return (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * (1 / 1680 - r / 1188)))) / x;
}

function kernels(x, centre, weight, widths, starts, n, out) {
  for (let c = 0; c < n; c++) {
    const width = widths[c];
    const distance = (v) => 2 * Math.abs(x / (2 * width) - v / (2 * width));
    let least = Infinity;
    let whole = 0;
    for (let v = starts[c]; v < starts[c + 1]; v++) {
      least = Math.min(least, distance(centre[v]));
      whole += weight[v];
    }
    if (!(least < Math.pow(2, 500))) {
      out[c] = -Math.pow(2, 990) * (1 + Math.log(Math.min(least, 1.797693e308)) / 2048);
      continue;
    }
    let sum = 0;
    for (let v = starts[c]; v < starts[c + 1]; v++) {
      const z = distance(centre[v]);
      sum += weight[v] * Math.exp(-Math.min(0.5 * (z - least) * (z + least), 745));
    }
    const size = Math.log(whole) + Math.log(width) + 0.5 * Math.log(2 * Math.PI);
    out[c] = Math.log(sum) - size - 0.5 * least * least;
  }
}

function intervalKernels(x, centre, weight, widths, starts, n, out, precision) {
  for (let c = 0; c < n; c++) {
    const [first, end] = [starts[c], starts[c + 1]];
    let whole = 0;
    for (let v = first; v < end; v++) whole += weight[v];
    const above = first + cutsBelow(x, centre, first, end - first, false);
    let sum = 0;
    let visited = 0;
    for (const side of [1, -1]) {
      for (let v = side > 0 ? above : above - 1; v >= first && v < end; v += side) {
        const upper = (centre[v] - x + precision / 2) / widths[c];
        const lower = (centre[v] - x - precision / 2) / widths[c];
        const term = 0.5 * erfc(-upper * Math.SQRT1_2) - 0.5 * erfc(-lower * Math.SQRT1_2);
        sum += weight[v] * term;
        visited += weight[v];
        if (term * (whole - visited) < sum * 0.01) break;
      }
    }
    out[c] = Math.log(Math.max(sum / whole, 1e-75));
  }
}

function matching(x, columns, nLevels, codes, classes, weight, nColumns, nCombinations, nClasses, added, out) {
  let free = 1;
  for (let j = 0; j < nColumns; j++) if (x[columns[j]] < 0) free *= nLevels[j];
  out.fill(added * free);
  for (let i = 0; i < nCombinations; i++) {
    let agrees = true;
    for (let j = 0; agrees && j < nColumns; j++) agrees = x[columns[j]] < 0 || x[columns[j]] === codes[i * nColumns + j];
    if (agrees) out[classes[i]] += weight[i];
  }
}

function branch(at, nodes, tests, branches, cuts, x) {
  for (let t = nodes[5 * at]; t < nodes[5 * at + 1]; t++) {
    const value = x[tests[5 * t]];
    const how = tests[5 * t + 1];
    if (how === 0 ? value < 0 : value !== value) continue;
    const place = how === 0 ? value : cutsBelow(value, cuts, tests[5 * t + 2], tests[5 * t + 3], how === 2);
    const taken = branches[tests[5 * t + 4] + place];
    if (taken >= 0) return taken;
  }
  return nodes[5 * at + 3];
}

function route(nodes, tests, branches, cuts, x) {
  for (let at = 0; ; ) {
    const taken = branch(at, nodes, tests, branches, cuts, x);
    if (taken < 0) return at;
    at = nodes[5 * at + 2] + taken;
  }
}

function spread(nodes, tests, branches, cuts, shares, depth, x, table, n, out) {
  const places = new Int32Array(depth);
  const weights = new Float64Array(depth);
  out.fill(0);
  weights[0] = 1;
  for (let waiting = 1; waiting > 0; ) {
    const at = places[--waiting];
    const weight = weights[waiting];
    const taken = branch(at, nodes, tests, branches, cuts, x);
    const [child, first, end] = [nodes[5 * at + 2], nodes[5 * at + 4], nodes[5 * at + 9]];
    if (taken >= 0) {
      places[waiting++] = child + taken;
    } else if (taken === -1) {
      for (let c = 0; c < n; c++) out[c] += weight * table[at * n + c];
    } else {
      for (let b = end - first - 1; b >= 0; b--) {
        if (shares[first + b] > 0) {
          places[waiting] = child + b;
          weights[waiting++] = weight * shares[first + b];
        }
      }
    }
  }
}
