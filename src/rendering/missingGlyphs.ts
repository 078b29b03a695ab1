import type { PageWorld } from './pageWorld.ts'

// Enough to show that a font is missing.
const charactersMax = 600
const textNodesMax = 20_000

/** Counts the characters without a glyph, which are drawn as empty boxes or not at all. */
export async function countMissingGlyphs(world: PageWorld): Promise<number> {
  const count = await world.run(countMissing, charactersMax, textNodesMax)
  return typeof count === 'number' ? count : 0
}

/*
 * Compares each non-ASCII character with one that Unicode does not assign, and that no font contains. Skips spaces,
 * marks and invisible characters, which draw nothing by themselves.
 */
const countMissing = `(charactersMax, textNodesMax) => {
  const families = new Map()
  let characters = 0
  const walker = document.createTreeWalker(document.body ?? document, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(), nodes = 0; node && nodes < textNodesMax && characters < charactersMax; node = walker.nextNode(), nodes++) {
    const special = node.data.match(/[^\\x00-\\x7f]/gu)
    const parent = node.parentElement
    if (special === null || parent === null || parent.closest('script, style, noscript, template') !== null) continue
    const family = getComputedStyle(parent).fontFamily
    const known = families.get(family) ?? new Set()
    families.set(family, known)
    for (const character of special) {
      if (known.has(character) || !/[\\p{L}\\p{N}\\p{S}\\p{P}]/u.test(character) || characters >= charactersMax) continue
      known.add(character)
      characters++
    }
  }
  if (characters === 0) return 0
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = 24
  const context = canvas.getContext('2d', { willReadFrequently: true })
  const drawn = (family, character) => {
    context.clearRect(0, 0, 24, 24)
    context.font = '16px ' + family
    context.fillText(character, 2, 18)
    return context.measureText(character).width + ' ' + context.getImageData(0, 0, 24, 24).data.join()
  }
  const missing = new Set()
  for (const [family, known] of families) {
    const unassigned = drawn(family, '\\u0378')
    for (const character of known) if (drawn(family, character) === unassigned) missing.add(character)
  }
  return missing.size
}`
