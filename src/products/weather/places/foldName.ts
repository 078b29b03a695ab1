/*
 * One spelling for the many in which people and gazetteers write a place. Case, accents, apostrophes, hyphens and "St."
 * make no difference.
 */

// Letters that Unicode does not decompose into a base and a mark.
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

/** A name for comparison: lower case, without accents, common abbreviations written out. */
export function foldName(name: string): string {
  const lower = name.toLowerCase()
  // Four of five names are plain words. The rest of this function costs ten times as much for each of 135,000 names.
  const words = plainWords.test(lower) ? lower : foldMarks(name)
  return words.replace(abbreviation, (short) => inFull[short] ?? short)
}

function foldMarks(name: string): string {
  // Apostrophes before: compatibility decomposition makes a space and a mark of the acute accent. And after: it makes an
  // apostrophe of a part of some letters, such as ẚ and ŉ.
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
