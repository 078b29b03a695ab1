/*
 * Normalizes the spellings of a place name. Case, accents, apostrophes, hyphens and abbreviations such as "St." make no
 * difference.
 */

// Replacements for letters that Unicode does not decompose into a base letter and a mark.
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

export function foldName(name: string): string {
  const lower = name.toLowerCase()
  // Skip `foldMarks` for names of plain words, because it is slow and all cities are indexed.
  const words = plainWords.test(lower) ? lower : foldMarks(name)
  return words.replace(abbreviation, (short) => inFull[short] ?? short)
}

function foldMarks(name: string): string {
  // Remove apostrophes before the decomposition, because it turns an acute accent into a space and a mark. Remove them
  // again afterwards, because letters such as ẚ and ŉ decompose into an apostrophe and another letter.
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
