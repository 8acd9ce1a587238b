/* Runtime of exported C: reading of levels and dates, arithmetic and trees. An export copies only the functions that it
   needs; each must begin at the left margin. Missing is NAN for a number, -1 for the code of a level. */

static double model_read_level(const char *text, const char *const *levels, const int *codes, int n) {
  int low = 0, high = n;
  if (!text) return -1;
  while (low < high) {
    const int middle = low + (high - low) / 2, order = strcmp(levels[middle], text);
    if (order == 0) return codes[middle];
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return -1;
}

/* Code of a boolean level: lower case, without surrounding blanks; a text longer than any spelling has none. */
static double model_read_truth(const char *text, const char *const *levels, const int *codes, int n) {
  char small[64];
  size_t length = 0;
  if (!text) return -1;
  while (*text && strchr(" \t\n\r\f\v", *text)) text++;
  for (; text[length] && length + 1 < sizeof small; length++) {
    small[length] = text[length] >= 'A' && text[length] <= 'Z' ? (char)(text[length] + 32) : text[length];
  }
  if (text[length]) return -1;
  while (length && strchr(" \t\n\r\f\v", small[length - 1])) length--;
  small[length] = 0;
  return model_read_level(small, levels, codes, n);
}

/* Part 'y', 'm' or 'w' of a date: year, month, or weekday (0 is Monday). Years start in March internally, so that the leap
   day is the last day of a year. */
static double model_date_part(double number, double per_day, char part) {
  const double date = floor(number / per_day), day = date + 719468;
  const double century = floor((4 * day + 3) / 146097), rest = day - floor(146097 * century / 4);
  const double year = floor((4 * rest + 3) / 1461), month = floor((5 * (rest - floor(1461 * year / 4)) + 2) / 153);
  if (part == 'w') return date != date ? -1 : date + 3 - 7 * floor((date + 3) / 7);
  if (part == 'm') return month < 10 ? month + 3 : month - 9;
  return 100 * century + year + (month >= 10);
}

static long model_cuts_below(double x, const double *cuts, long n, int is_strict) {
  long low = 0, high = n;
  while (low < high) {
    const long middle = low + (high - low) / 2;
    if (is_strict ? cuts[middle] <= x : cuts[middle] < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

static long model_bin(double x, const double *cuts, long n, long missing) {
  return x != x ? missing : model_cuts_below(x, cuts, n, 0);
}

static long model_level(double code, long missing) {
  return code < 0 ? missing : (long)code;
}

static double model_total(const double *values, long n) {
  double sum = 0;
  for (long c = 0; c < n; c++) sum += values[c];
  return sum;
}

static long model_first_highest(const double *values, long n) {
  long best = 0;
  for (long c = 1; c < n; c++) if (values[c] > values[best]) best = c;
  return best;
}

static double model_highest(const double *values, long n) {
  return values[model_first_highest(values, n)];
}

static void model_softmax(const double *scores, long n, double *out) {
  const double top = model_highest(scores, n);
  for (long c = 0; c < n; c++) out[c] = exp(scores[c] - top);
  const double sum = model_total(out, n);
  for (long c = 0; c < n; c++) out[c] /= sum;
}

static double model_log_density(double x, double mean, double scale, double degrees, double constant) {
  const double gap = x - mean, z = isinf(gap) ? (x / 2 - mean / 2) / (scale / 2) : gap / scale;
  if (!(fabs(z) > ldexp(1.0, 500))) {
    if (isinf(degrees)) return constant - 0.5 * z * z;
    return constant - 0.5 * (degrees + 1) * log1p(z / degrees * z);
  }
  const double distance = log(fabs(x / 2 - mean / 2)) + log(2.0) - log(scale);
  if (isinf(degrees)) return -ldexp(1.0, 990) * (1 + distance / 2048);
  return constant - (degrees + 1) * (distance - 0.5 * log(degrees));
}

static double model_stirling(double x) {
  const double r = 1 / (x * x);
  return (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r * (1.0 / 1680 - r / 1188)))) / x;
}

static double model_log_rising(double a, double x) {
  if (x == 0) return 0;
  if (a == 0) return -INFINITY;
  if (x <= 16 && x == floor(x)) {
    double sum = 0;
    for (int step = 0; step < (int)x; step++) sum += log(a + step);
    return sum;
  }
  double shift = 0;
  for (; a < 15; a++) shift += log1p(x / a);
  const double rest = model_stirling(a + x) - model_stirling(a) - shift;
  return x * log(a + x) + (a - 0.5) * log1p(x / a) - x + rest;
}

static double model_distance(double x, double centre, double width) {
  return 2 * fabs(x / (2 * width) - centre / (2 * width));
}

static void model_kernels(double x, const double *centre, const double *weight, const double *widths, const int *starts, int n, double *out) {
  for (int c = 0; c < n; c++) {
    double least = INFINITY, whole = 0, sum = 0;
    for (int v = starts[c]; v < starts[c + 1]; v++) {
      least = fmin(least, model_distance(x, centre[v], widths[c]));
      whole += weight[v];
    }
    if (!(least < ldexp(1.0, 500))) {
      out[c] = -ldexp(1.0, 990) * (1 + log(fmin(least, 1.797693e308)) / 2048);
      continue;
    }
    for (int v = starts[c]; v < starts[c + 1]; v++) {
      const double z = model_distance(x, centre[v], widths[c]);
      sum += weight[v] * exp(-fmin(0.5 * (z - least) * (z + least), 745.0));
    }
    out[c] = log(sum) - (log(whole) + log(widths[c]) + 0.5 * log(8 * atan(1.0))) - 0.5 * least * least;
  }
}

static void model_interval_kernels(double x, const double *centre, const double *weight, const double *widths, const int *starts, int n, double *out, double precision) {
  for (int c = 0; c < n; c++) {
    const int first = starts[c], end = starts[c + 1];
    const int above = first + (int)model_cuts_below(x, centre + first, end - first, 0);
    double whole = 0, sum = 0, visited = 0;
    for (int v = first; v < end; v++) whole += weight[v];
    for (int side = 1; side >= -1; side -= 2) {
      for (int v = side > 0 ? above : above - 1; v >= first && v < end; v += side) {
        const double upper = (centre[v] - x + precision / 2) / widths[c], lower = (centre[v] - x - precision / 2) / widths[c];
        const double term = 0.5 * erfc(-upper * sqrt(0.5)) - 0.5 * erfc(-lower * sqrt(0.5));
        sum += weight[v] * term;
        visited += weight[v];
        if (term * (whole - visited) < sum * 0.01) break;
      }
    }
    out[c] = log(fmax(sum / whole, 1e-75));
  }
}

static void model_matching(const double *x, const int *columns, const int *n_levels, const int *codes, const int *classes, const double *weight, int n_columns, int n_combinations, int n_classes, double added, double *out) {
  double unknown = 1;
  for (int j = 0; j < n_columns; j++) if (x[columns[j]] < 0) unknown *= n_levels[j];
  for (int c = 0; c < n_classes; c++) out[c] = added * unknown;
  for (int i = 0; i < n_combinations; i++) {
    int agrees = 1;
    for (int j = 0; agrees && j < n_columns; j++) agrees = x[columns[j]] < 0 || x[columns[j]] == codes[(long)i * n_columns + j];
    if (agrees) out[classes[i]] += weight[i];
  }
}

static int model_branch(const int *node, const int *tests, const int *branches, const double *cuts, const double *x) {
  for (const int *test = tests + 5L * node[0], *end = tests + 5L * node[1]; test < end; test += 5) {
    const double value = x[test[0]];
    long place;
    if (test[1] == 0) {
      if (value < 0) continue;
      place = (long)value;
    } else {
      if (value != value) continue;
      place = model_cuts_below(value, cuts + test[2], test[3], test[1] == 2);
    }
    if (branches[test[4] + place] >= 0) return branches[test[4] + place];
  }
  return node[3];
}

static long model_route(const int *nodes, const int *tests, const int *branches, const double *cuts, const double *x) {
  for (long at = 0;;) {
    const int taken = model_branch(nodes + 5 * at, tests, branches, cuts, x);
    if (taken < 0) return at;
    at = nodes[5 * at + 2] + taken;
  }
}

static void model_spread(const int *nodes, const int *tests, const int *branches, const double *cuts, const double *shares, int depth, const double *x, const double *table, int n, double *out) {
  long places[depth];
  double weights[depth];
  int waiting = 1;
  places[0] = 0;
  weights[0] = 1;
  for (int c = 0; c < n; c++) out[c] = 0;
  while (waiting > 0) {
    const long at = places[--waiting];
    const double weight = weights[waiting];
    const int *node = nodes + 5 * at, taken = model_branch(node, tests, branches, cuts, x);
    if (taken >= 0) {
      places[waiting++] = node[2] + taken;
    } else if (taken == -1) {
      for (int c = 0; c < n; c++) out[c] += weight * table[at * n + c];
    } else {
      for (int b = node[9] - node[4] - 1; b >= 0; b--) {
        if (shares[node[4] + b] > 0) {
          places[waiting] = node[2] + b;
          weights[waiting++] = weight * shares[node[4] + b];
        }
      }
    }
  }
}
