/*
 * A regular expression of the file runs on text of strangers, and the engine of JavaScript backtracks. Patterns whose
 * cost can grow exponentially are refused, and the others get the longest text for which they cost
 * less than a tenth of a second.
 */

const stepsMax = 1e8
const lengths = [65_536, 16_384, 4_096, 1_024, 256, 128, 64]

/** Returns the longest text for which the pattern is quick, or the reason why there is none. */
export function patternLengthMax(pattern: string): number | { readonly problem: string } {
  try {
    void new RegExp(pattern, 'u')
  } catch {
    return { problem: 'is not a regular expression' }
  }
  if (/\(\?<?[=!]|\\[1-9]|\\k</.test(pattern)) return { problem: 'must not use lookaround or backreferences' }
  const length = lengths.find((max) => costOf(pattern, max) <= stepsMax)
  return (
    length ?? {
      problem: 'has too many or nested repetitions; bound them, such as {1,20}, and repeat no group that varies',
    }
  )
}

interface Level {
  /** Number of ways in which the current alternative can match, up to now. */
  cost: number
  /** Sum over the finished alternatives. */
  before: number
  hasAlternatives: boolean
}

const tokenPattern =
  /\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\[^]|\[(?:\\[^]|[^\]\\])*\]|\((?:\?:|\?<\w+>)?|\)|\||[*+?]\??|\{\d+(?:,\d*)?\}\??|[^]/gu

/** Upper bound of the steps for a text of this length. Infinity if the number of ways can grow exponentially. */
function costOf(pattern: string, length: number): number {
  const levels: Level[] = [newLevel()]
  let last: { readonly isGroup: boolean; readonly varies: boolean } = { isGroup: false, varies: false }
  for (const [token] of pattern.matchAll(tokenPattern)) {
    const level = levels.at(-1)
    if (level === undefined) return Infinity
    const repeated = repetitionOf(token, length)
    if (token.startsWith('(')) levels.push(newLevel())
    else if (token === ')') {
      levels.pop()
      const outer = levels.at(-1)
      if (outer === undefined) return Infinity
      const inner = level.before + level.cost
      outer.cost *= inner
      last = { isGroup: true, varies: inner > 1 || level.hasAlternatives }
    } else if (token === '|') {
      level.before += level.cost
      level.cost = 1
      level.hasAlternatives = true
    } else if (repeated !== undefined) {
      if (last.isGroup && last.varies && repeated.most > 1) return Infinity
      level.cost *= repeated.choices
      last = { isGroup: last.isGroup, varies: true }
    } else last = { isGroup: false, varies: false }
  }
  const [whole = newLevel()] = levels
  // A search that is not anchored begins at each character.
  return (whole.before + whole.cost) * (pattern.startsWith('^') && !whole.hasAlternatives ? 1 : length)
}

const newLevel = (): Level => ({ cost: 1, before: 0, hasAlternatives: false })

interface Repetition {
  readonly most: number
  /** Number of counts to choose from. */
  readonly choices: number
}

/** Reads a quantifier. Undefined for other tokens. */
function repetitionOf(token: string, length: number): Repetition | undefined {
  if (/^[*+]\??$/.test(token)) return { most: length, choices: length }
  if (/^\?\??$/.test(token)) return { most: 1, choices: 2 }
  const [, least, comma, most] = /^\{(\d+)(,?)(\d*)\}\??$/.exec(token) ?? []
  if (least === undefined) return undefined
  const bound = comma === '' ? Number(least) : most === '' || most === undefined ? length : Number(most)
  return { most: bound, choices: Math.max(1, Math.min(length, bound - Number(least) + 1)) }
}
