/*
 * Reduces the many spellings of a place to one. Case, accents, apostrophes, hyphens and "St." make no difference.
 */

// Letters that Unicode does not decompose into a base letter and a mark.
const letters: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
  ə: 'a',
}
const letter = new RegExp(`[${Object.keys(letters).join('')}]`, 'g')
const apostrophe = /['’‘ʻʼʿʾ`´′]/g
const plainWords = /^[a-z]+(?: [a-z]+)*$/
const abbreviation = /\b(?:st|ste|mt|ft)\b/g
const inFull: Readonly<Record<string, string>> = { st: 'saint', ste: 'sainte', mt: 'mount', ft: 'fort' }

/** Returns a name for comparison: in lower case, without accents, with common abbreviations spelled out. */
export function foldName(name: string): string {
  const lower = name.toLowerCase()
  // Skip the folding for plain words, four of five names. It costs ten times as much for each of 135,000 names.
  const words = plainWords.test(lower) ? lower : foldMarks(name)
  return words.replace(abbreviation, (short) => inFull[short] ?? short)
}

function foldMarks(name: string): string {
  // Remove apostrophes before the decomposition, which turns an acute accent into a space and a mark. Remove them again
  // after it, because letters such as ẚ and ŉ decompose into an apostrophe and another letter.
  return name
    .replace(apostrophe, '')
    .normalize('NFKD')
    .replace(apostrophe, '')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(letter, (found) => letters[found] ?? found)
    .replace(/[^\p{L}\p{Nd}]+/gu, ' ')
    .trim()
}
