import { closestMatch } from 'leven'

/** A variable of the environment that nothing reads, and the one that was probably meant. */
export interface MistypedVariable {
  readonly name: string
  readonly meant: string
}

// Short names such as PORT are two letters away from many others.
const checkedLengthMin = 8
const maxDistance = 2
const prefix = 'TOLLBOOK_'

/** A mistyped variable would be ignored in silence. One that is given under its right name, too, was not mistyped. */
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
    const meant = isOurs ? closestMatch(spelt, known) : closestMatch(spelt, unset, { maxDistance })
    return meant === undefined ? [] : [{ name, meant }]
  })
}
