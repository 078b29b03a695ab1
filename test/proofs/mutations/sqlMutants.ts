import { type Mutant, mutantOf } from './mutant.ts'

/* Mutants of SQL: of its comparisons, conditions, refusals and constants, line by line; comments are left alone. */

interface Operator {
  readonly name: string
  readonly pattern: RegExp
  readonly after: (found: string) => string
}

const swap = (one: string, other: string) => (found: string) => (found === one ? other : one)

const operators: readonly Operator[] = [
  { name: 'flip operator', pattern: /(?<=\s)(?:<>|=)(?=\s)(?!.*:=)/g, after: swap('<>', '=') },
  { name: 'flip operator', pattern: /(?<=\s)(?:<=|<)(?=\s)/g, after: swap('<=', '<') },
  { name: 'flip operator', pattern: /(?<=\s)(?:>=|>)(?=\s)/g, after: swap('>=', '>') },
  { name: 'swap and/or', pattern: /\b(?:and|or)\b(?! replace)/g, after: swap('and', 'or') },
  { name: 'flip null', pattern: /\bis (?:not )?null\b/g, after: swap('is null', 'is not null') },
  {
    name: 'flip distinct',
    pattern: /\bis (?:not )?distinct from\b/g,
    after: swap('is distinct from', 'is not distinct from'),
  },
  { name: 'drop refusal', pattern: /raise exception (?:'[^']*'[^;]*);/g, after: () => 'null;' },
  {
    name: 'drop refusal',
    pattern: /then '(?:conflict|not_this_step|not_this_id|overreaching)'/g,
    after: () => 'then null',
  },
  { name: 'add one', pattern: /(?<=[ (])\d+(?=[ ,);])/g, after: (found) => String(Number(found) + 1) },
  { name: 'flip boolean', pattern: /\b(?:true|false)\b/g, after: swap('true', 'false') },
  { name: 'swap bound', pattern: /\b(?:greatest|least)\b/g, after: swap('greatest', 'least') },
]

export function mutateSql(file: string, source: string): readonly Mutant[] {
  // Settings of a function, and its parameters, decide about speed and names.
  const blanked = source
    .replace(/--.*$/gm, (comment) => ' '.repeat(comment.length))
    .replace(/^(?:set |grant |language |out ).*$/gm, (line) => ' '.repeat(line.length))
  return operators.flatMap(({ name, pattern, after }) =>
    [...blanked.matchAll(pattern)].flatMap((match) => {
      const from = match.index
      const [found] = match
      return mutantOf(file, source, { from, to: from + found.length, after: after(found), operator: name }) ?? []
    }),
  )
}
