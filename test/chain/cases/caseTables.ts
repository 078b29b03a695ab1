import { mintKinds } from '../chainFixture.ts'
import { allCases } from './allCases.ts'
import { bindingCases } from './bindingCases.ts'
import { mintCases } from './mintCases.ts'
import { nodeCases } from './nodeCases.ts'
import { ageCases, priceCases } from './priceCases.ts'
import { sendingCases, sendingKinds } from './sendingCases.ts'
import type { Verdict } from './verificationCase.ts'

/*
 * The lists of docs/verification.md, made of the very lists that the tests run.
 */

interface Row {
  readonly rule: string
  readonly says: string
  readonly verdict: string
}

const railCases = [...ageCases, ...priceCases, ...bindingCases]

/** Each list by the name that its place in the document has. */
export function caseTables(): ReadonlyMap<string, string> {
  return new Map([
    ...['1', '2', '3', '4', '5'].map((rule): [string, string] => [rule, list(kindRows(rule))]),
    ['1d', list(railRows('1d'))],
    ['1e', nodeCases.map(({ says }) => says).join(';\n')],
    ['6', list(mintRows())],
    ...['7', '8', '9'].map((rule): [string, string] => [rule, list(railRows(rule))]),
    ['11', list(sendingRows())],
  ])
}

function kindRows(rule: string): readonly Row[] {
  return allCases
    .filter((each) => each.rule.startsWith(rule))
    .map(({ rule, says, kinds, verdict }) => ({ rule, says, verdict: verdictOf(mintKinds, { kinds, verdict }) }))
}

function sendingRows(): readonly Row[] {
  return sendingCases.map(({ rule, says, kinds, verdict }) => ({
    rule,
    says,
    verdict: verdictOf(sendingKinds, { kinds, verdict }),
  }))
}

/** Names the kinds of mint that can have the case, unless all can. */
function verdictOf(
  all: readonly string[],
  { kinds, verdict }: { readonly kinds: readonly string[]; readonly verdict: Verdict },
): string {
  const possible = all.filter((kind) => kinds.includes(kind))
  const names = possible.map((kind) => kind.replace('Token-2022 with a transfer fee', 'fee'))
  return possible.length === all.length ? verdictText(verdict) : `${verdictText(verdict)} (${names.join(', ')})`
}

function railRows(rule: string): readonly Row[] {
  return railCases
    .filter((each) => each.rule.startsWith(rule))
    .map((each) => ({ rule: each.rule, says: each.says, verdict: verdictText(each.verdict) }))
}

function mintRows(): readonly Row[] {
  return mintCases.map(({ rule, says, refusedBecause }) => ({
    rule,
    says,
    verdict: refusedBecause === undefined ? 'taken' : 'refused',
  }))
}

function verdictText(verdict: Verdict): string {
  return verdict === 'accepted' ? 'accepted' : `\`${verdict}\``
}

const shortBy = ', one base unit short'

/**
 * A line for each row, so that a difference shows one case. Rows of one rule and verdict share an item of the list. A
 * case and the same case one base unit short share a line.
 */
function list(rows: readonly Row[]): string {
  const rowOf = new Map(rows.map((row) => [`${row.rule} ${row.says}`, row]))
  const shown = rows.filter(
    ({ rule, says }) => !says.endsWith(shortBy) || !rowOf.has(`${rule} ${says.slice(0, -shortBy.length)}`),
  )
  const headOf = (row: Row | undefined) => row && `- ${row.rule} ${row.verdict}:`
  return shown
    .map((row, at) => {
      const short = rowOf.get(`${row.rule} ${row.says}${shortBy}`)
      const text = `${row.says}${short === undefined ? '' : ` (short: ${short.verdict})`}`
      const isFirst = headOf(row) !== headOf(shown[at - 1])
      const isLast = headOf(row) !== headOf(shown[at + 1])
      return `${isFirst ? headOf(row) : ' '} ${text}${isLast ? '' : ';'}`
    })
    .join('\n')
}
