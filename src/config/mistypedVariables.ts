import { closestMatch } from 'leven'

export interface MistypedVariable {
  readonly name: string
  readonly meant: string
}

// Minimum length of checked names. A short name such as PORT is only two letters away from many other names.
const checkedLengthMin = 8
const maxDistance = 2
const prefix = 'TOLLBOOK_'

/** A name without the prefix `TOLLBOOK_` is not reported if the correct name also has a value. */
export function findMistyped(
  env: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): readonly MistypedVariable[] {
  const unset = known.filter((name) => (env[name] ?? '') === '')
  return Object.keys(env).flatMap((name) => {
    if (known.includes(name) || (env[name] ?? '') === '') return []
    const isOurs = name.startsWith(prefix)
    if (!isOurs && name.length < checkedLengthMin) return []
    const spelt = name.toUpperCase()
    const meant = isOurs ? withoutPrefix(spelt, known) : closestMatch(spelt, unset, { maxDistance })
    return meant === undefined ? [] : [{ name, meant }]
  })
}

/** Prefers the name without the prefix: by letters, OPERATOR_DATABASE_URL is nearest to TOLLBOOK_DATABASE_URL. */
function withoutPrefix(spelt: string, known: readonly string[]): string | undefined {
  const bare = spelt.slice(prefix.length)
  return known.includes(bare) ? bare : closestMatch(spelt, known)
}
