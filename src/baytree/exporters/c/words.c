/* Runtime of exported C: splitting documents into words. Functions are copied like those of runtime.c, after the tables of
   characters (`literals.tables`). A document is UTF-8; an invalid byte separates words. */

static int model_decode(const unsigned char *at, uint32_t *c) {
  const int width = at[0] < 0x80 ? 1 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
  *c = width == 1 ? at[0] : at[0] & (0x7fu >> width);
  for (int i = 1; i < width; i++) {
    if ((at[i] & 0xc0) != 0x80 || at[0] < 0xc2) {
      *c = 0;
      return 1;
    }
    *c = *c << 6 | (at[i] & 0x3fu);
  }
  return width;
}

static int model_encode(uint32_t c, char *to) {
  if (c < 0x80) {
    to[0] = (char)c;
    return 1;
  }
  const int width = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  for (int i = width - 1; i > 0; i--, c >>= 6) to[i] = (char)(0x80 | (c & 0x3f));
  to[0] = (char)((0xf00 >> width) | c);
  return width;
}

static int model_is_in(uint32_t c, const uint32_t *ends, size_t n) {
  size_t low = 0, high = n;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (ends[middle] <= c) low = middle + 1;
    else high = middle;
  }
  return low & 1;
}

static uint32_t model_lower(uint32_t c) {
  size_t low = 0, high = sizeof model_lowered / sizeof *model_lowered;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (model_lowered[middle][1] < (int32_t)c) low = middle + 1;
    else high = middle;
  }
  if (low == sizeof model_lowered / sizeof *model_lowered) return c;
  const int32_t *const run = model_lowered[low], gap = (int32_t)c - run[0];
  return gap >= 0 && gap % run[2] == 0 ? c + (uint32_t)run[3] : c;
}

static int model_is_ignored(uint32_t c) {
  return model_is_in(c, model_ignored, sizeof model_ignored / sizeof *model_ignored);
}

static int model_is_cased(uint32_t c) {
  return model_is_in(c, model_cased, sizeof model_cased / sizeof *model_cased);
}

static int model_is_final(const unsigned char *text, const unsigned char *sigma) {
  uint32_t c = 0;
  const unsigned char *at = sigma;
  do {
    if (at == text) return 0;
    do at--; while (at > text && (*at & 0xc0) == 0x80);
    model_decode(at, &c);
  } while (model_is_ignored(c));
  if (!model_is_cased(c)) return 0;
  for (at = sigma + 2; *at;) {
    at += model_decode(at, &c);
    if (!model_is_ignored(c)) return !model_is_cased(c);
  }
  return 1;
}

static int model_letter(const unsigned char *text, const unsigned char *at, int lowercase, uint32_t *c) {
  const int width = model_decode(at, c);
  if (lowercase && *c == 0x130) { /* lower case is i and a combining dot, which separates words, as does the second byte, which is read next */
    *c = 'i';
    return 1;
  }
  if (lowercase) *c = *c != 0x3a3 ? model_lower(*c) : model_is_final(text, at) ? 0x3c2 : 0x3c3;
  if (!model_is_in(*c, model_letters, sizeof model_letters / sizeof *model_letters)) *c = 0;
  return width;
}

static const unsigned char *model_word(const unsigned char *text, const unsigned char *at, int lowercase, const unsigned char **first, char *word, int most, int *length) {
  while (*at) {
    int n = 0;
    uint32_t c = 1;
    *first = at;
    *length = 0;
    while (*at) {
      char bytes[4];
      at += model_letter(text, at, lowercase, &c);
      if (!c) break;
      const int width = model_encode(c, bytes);
      n++;
      if (*length < 0 || *length + width > most) {
        *length = -1;
      } else {
        memcpy(word + *length, bytes, (size_t)width);
        *length += width;
      }
    }
    if (*length >= 0) word[*length] = 0;
    if (n >= 2) return at;
  }
  return NULL;
}

static void model_words(const char *document, int lowercase, int shortest, int longest, const char *const *stops, const int *stop_codes, int n_stops, const char *const *words, const int *places, int n_words, int most, double *out) {
  const unsigned char *const text = (const unsigned char *)document, *at = text, *first;
  char runs[longest][most + 1], word[most + 1];
  int lengths[longest], n_runs = 0, length;
  for (int w = 0; w < n_words; w++) out[w] = 0;
  while (at && (at = model_word(text, at, lowercase, &first, word, most, &length))) {
    if (length >= 0 && model_read_level(word, stops, stop_codes, n_stops) >= 0) continue;
    if (n_runs < longest) n_runs++;
    for (int r = n_runs - 1; r >= 0; r--) {
      const int before = r == 0 ? 0 : lengths[r - 1] < 0 ? most : lengths[r - 1] + 1;
      lengths[r] = length < 0 || before + length > most ? -1 : before + length;
      if (lengths[r] < 0) continue;
      if (r > 0) {
        memcpy(runs[r], runs[r - 1], (size_t)before - 1);
        runs[r][before - 1] = ' ';
      }
      memcpy(runs[r] + before, word, (size_t)length + 1);
      const double place = r + 1 < shortest ? -1 : model_read_level(runs[r], words, places, n_words);
      if (place >= 0) out[(int)place] += 1;
    }
  }
}

static void model_hash(uint32_t *state, uint32_t byte) {
  state[1] |= byte << 8 * (state[2] % 4);
  if (++state[2] % 4) return;
  state[1] *= 0xcc9e2d51u;
  state[0] ^= (state[1] << 15 | state[1] >> 17) * 0x1b873593u;
  state[0] = (state[0] << 13 | state[0] >> 19) * 5 + 0xe6546b64u;
  state[1] = 0;
}

static uint32_t model_bucket(const uint32_t *state, uint32_t n_buckets) {
  const uint32_t rest = state[1] * 0xcc9e2d51u;
  uint32_t code = state[0] ^ (rest << 15 | rest >> 17) * 0x1b873593u ^ state[2];
  code = (code ^ code >> 16) * 0x85ebca6bu;
  code = (code ^ code >> 13) * 0xc2b2ae35u;
  code ^= code >> 16;
  return (code >> 31 ? 0u - code : code) % n_buckets;
}

static void model_hashed_words(const char *document, int lowercase, int shortest, int longest, const char *const *stops, const int *stop_codes, int n_stops, uint32_t n_buckets, const uint32_t *buckets, int n_words, int most, double *out) {
  const unsigned char *const text = (const unsigned char *)document, *at = text, *first;
  uint32_t states[longest][3];
  char word[most + 1];
  int n_runs = 0, length;
  for (int w = 0; w < n_words; w++) out[w] = 0;
  while (at && (at = model_word(text, at, lowercase, &first, word, most, &length))) {
    if (length >= 0 && model_read_level(word, stops, stop_codes, n_stops) >= 0) continue;
    if (n_runs < longest) n_runs++;
    for (int r = n_runs - 1; r > 0; r--) {
      memcpy(states[r], states[r - 1], sizeof states[r]);
      model_hash(states[r], ' ');
    }
    memset(states[0], 0, sizeof states[0]);
    for (uint32_t c = 1; *first;) {
      char bytes[4];
      first += model_letter(text, first, lowercase, &c);
      if (!c) break;
      const int width = model_encode(c, bytes);
      for (int r = 0; r < n_runs; r++) for (int i = 0; i < width; i++) model_hash(states[r], (unsigned char)bytes[i]);
    }
    for (int r = shortest - 1; r < n_runs; r++) {
      const uint32_t bucket = model_bucket(states[r], n_buckets);
      int low = 0, high = n_words;
      while (low < high) {
        const int middle = low + (high - low) / 2;
        if (buckets[middle] < bucket) low = middle + 1;
        else high = middle;
      }
      if (low < n_words && buckets[low] == bucket) out[low] += 1;
    }
  }
}

static void model_weigh(double *amounts, const double *scale, int n, int is_unit) {
  double squares = 0;
  for (int w = 0; w < n; w++) {
    amounts[w] *= scale[w];
    squares += amounts[w] * amounts[w];
  }
  if (!is_unit || squares == 0) return;
  const double length = sqrt(squares);
  for (int w = 0; w < n; w++) amounts[w] /= length;
}

static void model_over_words(const double *amounts, int n_words, int rule, const double *table, int n, double *out) {
  for (int c = 0; c < n; c++) out[c] = 0;
  for (int w = 0; w < n_words; w++) {
    if (amounts[w] == 0) continue;
    for (int c = 0; c < n; c++) {
      const double number = table[(long)w * n + c];
      out[c] += rule == 0 ? amounts[w] * number : rule == 1 ? number : model_log_rising(number, amounts[w]);
    }
  }
}
