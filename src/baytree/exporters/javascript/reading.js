// Runtime of exported JavaScript: reading of rows. Functions are copied like those of runtime.js.

function valueOf(row, name) {
  const value = Object.prototype.hasOwnProperty.call(row, name) ? row[name] : null;
  return value === undefined || value !== value ? null : value;
}

function readNumber(row, name, domain) {
  const value = valueOf(row, name);
  if (value === null) return NaN;
  const number = typeof value === "string" && value.trim() === "" ? NaN : Number(value);
  if (number !== number) throw new TypeError(`column ${JSON.stringify(name)}: ${JSON.stringify(value)} is no number`);
  if (domain !== "any" && !isFinite(number)) {
    throw new RangeError(`column ${JSON.stringify(name)}: ${number} is infinite; give a finite number, or null if it is missing`);
  }
  if (domain === "count" && number < 0) throw new RangeError(`column ${JSON.stringify(name)}: ${number} is negative; counts must not be negative`);
  return number;
}

function readDate(row, name, domain, unit) {
  const value = valueOf(row, name);
  if (typeof value !== "string" && !(value instanceof Date)) return readNumber(row, name, domain);
  if (typeof value === "string" && value.trim() === "") return NaN;
  const units = { W: 604800000000, D: 86400000000, h: 3600000000, m: 60000000, s: 1000000, ms: 1000, us: 1 };
  if (!(unit in units)) throw new TypeError(`column ${JSON.stringify(name)}: give the number of units ${unit} since 1970`);
  const time = value instanceof Date ? value.getTime() * 1000 : isoTime(value.trim());
  if (time !== time) {
    throw new TypeError(`column ${JSON.stringify(name)}: ${JSON.stringify(value)} is not an ISO date such as 2024-02-13 or 2024-02-13T10:30:00`);
  }
  return time / units[unit];
}

function isoTime(text) {
  const time = "(\\d\\d):(\\d\\d)(?::(\\d\\d)(?:[.](\\d{1,9}))?)?(?:[Zz]|([+-])(\\d\\d):?(\\d\\d)?)?";
  const found = text.match(new RegExp(`^(\\d{4})-(\\d\\d)-(\\d\\d)(?:[T ]${time})?$`));
  if (found === null) return NaN;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map((digits) => Number(digits || 0));
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (year === 0 || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return NaN;
  const zone = (60 * Number(found[9] || 0) + Number(found[10] || 0)) * (found[8] === "-" ? -1 : 1);
  const fraction = Number((found[7] || "").padEnd(6, "0").slice(0, 6));
  return (hour * 3600 + (minute - zone) * 60 + second) * 1e6 + fraction + date.getTime() * 1000;
}

function readDatePart(row, name, unit, part) {
  const perDay = { D: 1, h: 24, m: 1440, s: 86400, ms: 86400000, us: 86400000000 };
  const day = Math.floor(readDate(row, name, "finite", unit) / perDay[unit]);
  if (part === "weekday") return day === day ? (((day + 3) % 7) + 7) % 7 : -1;
  // years start in March, so that the leap day is the last day of a year
  const century = Math.floor((4 * (day + 719468) + 3) / 146097);
  const rest = day + 719468 - Math.floor((146097 * century) / 4);
  const year = Math.floor((4 * rest + 3) / 1461);
  const month = Math.floor((5 * (rest - Math.floor((1461 * year) / 4)) + 2) / 153);
  if (part === "month") return month < 10 ? month + 3 : month - 9;
  return 100 * century + year + (month >= 10 ? 1 : 0);
}

function readLevel(row, name, levels, unseen) {
  const value = valueOf(row, name);
  if (value === null) return -1;
  const code = levels.has(value) ? levels.get(value) : levels.get(String(value));
  if (code === undefined && unseen === "error") {
    throw new RangeError(`column ${JSON.stringify(name)}: level ${JSON.stringify(value)} was not seen in training`);
  }
  return code === undefined ? -1 : code;
}

function readTruth(row, name, spellings, unseen) {
  const value = valueOf(row, name);
  if (value === null) return -1;
  const code = spellings.get(String(value).trim().split(/\s+/).join(" ").toLowerCase());
  if (code === undefined && unseen === "error") {
    throw new RangeError(`column ${JSON.stringify(name)}: level ${JSON.stringify(value)} was not seen in training`);
  }
  return code === undefined ? -1 : code;
}

function readWords(row, name, lowercase, shortest, longest, stopWords, buckets) {
  const value = valueOf(row, name);
  if (value === null) return null;
  if (typeof value !== "string") throw new TypeError(`column ${JSON.stringify(name)} is text, but ${JSON.stringify(value)} is not`);
  const found = (lowercase ? value.toLowerCase() : value).match(/[\p{L}\p{N}_]{2,}/gu) || [];
  const words = found.filter((word) => !stopWords.has(word));
  const counts = new Map();
  for (let n = shortest; n <= longest; n++) {
    for (let first = 0; first + n <= words.length; first++) {
      const run = words.slice(first, first + n).join(" ");
      const token = buckets === null ? run : bucket(run, buckets);
      counts.set(token, (counts.get(token) || 0) + 1);
    }
  }
  return counts;
}

function bucket(token, buckets) {
  const content = utf8(token);
  let code = 0;
  for (let first = 0; first < content.length; first += 4) {
    let part = 0;
    for (let b = 0; b < 4 && first + b < content.length; b++) part |= content[first + b] << (8 * b);
    part = Math.imul(part, 0xcc9e2d51);
    code ^= Math.imul((part << 15) | (part >>> 17), 0x1b873593);
    if (first + 4 <= content.length) code = (Math.imul((code << 13) | (code >>> 19), 5) + 0xe6546b64) | 0;
  }
  code ^= content.length;
  code = Math.imul(code ^ (code >>> 16), 0x85ebca6b);
  code = Math.imul(code ^ (code >>> 13), 0xc2b2ae35);
  code ^= code >>> 16;
  return "#" + (Math.abs(code | 0) % buckets);
}

function utf8(text) {
  const content = [];
  for (const letter of text) {
    const c = letter.codePointAt(0);
    if (c < 0x80) content.push(c);
    else if (c < 0x800) content.push(0xc0 | (c >> 6), 0x80 | (c & 63));
    else if (c < 0x10000) content.push(0xe0 | (c >> 12), 0x80 | ((c >> 6) & 63), 0x80 | (c & 63));
    else content.push(0xf0 | (c >> 18), 0x80 | ((c >> 12) & 63), 0x80 | ((c >> 6) & 63), 0x80 | (c & 63));
  }
  return content;
}

function bag(counts, words, scale, isUnit, out) {
  out.fill(0);
  if (counts === null) return;
  for (const [word, count] of counts) {
    const place = words.get(word);
    if (place !== undefined) out[place] = count * scale[place];
  }
  if (!isUnit) return;
  let squares = 0;
  for (const amount of out) squares += amount * amount;
  const length = Math.sqrt(squares) || 1;
  for (let w = 0; w < out.length; w++) out[w] /= length;
}

function overWords(amounts, nWords, rule, table, n, out) {
  out.fill(0);
  for (let w = 0; w < nWords; w++) {
    if (amounts[w] === 0) continue;
    for (let c = 0; c < n; c++) {
      const number = table[w * n + c];
      out[c] += rule === 0 ? amounts[w] * number : rule === 1 ? number : logRising(number, amounts[w]);
    }
  }
}
