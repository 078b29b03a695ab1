import { mintKinds } from '../chainFixture.ts'
import { allCases } from './allCases.ts'
import { bindingCases } from './bindingCases.ts'
import { mintCases } from './mintCases.ts'
import { nodeCases } from './nodeCases.ts'
import { ageCases, priceCases } from './priceCases.ts'
import { sendingCases, sendingKinds } from './sendingCases.ts'
import type { Verdict } from './verificationCase.ts'

/*
 * The tables of docs/verification.md, made of the very lists that the tests run.
 */

interface Row {
  readonly rule: string
  readonly says: string
  readonly cells: readonly string[]
}

const railCases = [...ageCases, ...priceCases, ...bindingCases]

/** Each table by the name that its place in the document has. */
export function caseTables(): ReadonlyMap<string, string> {
  return new Map([
    ...['1', '2', '3', '4', '5'].map((rule): [string, string] => [rule, table(['case', 'verdict'], kindRows(rule))]),
    ['1d', table(['case', 'verdict'], railRows('1d'))],
    ['1e', nodeCases.map(({ says }) => `- ${says}`).join('\n')],
    ['6', table(['TOKEN_MINT is', 'at start'], mintRows())],
    ...['7', '8', '9'].map((rule): [string, string] => [rule, table(['case', 'verdict'], railRows(rule))]),
    ['11', table(['case', 'verdict'], sendingRows())],
  ])
}

function kindRows(rule: string): readonly Row[] {
  return allCases
    .filter((each) => each.rule.startsWith(rule))
    .map(({ rule, says, kinds, verdict }) => ({ rule, says, cells: [verdictOf(mintKinds, { kinds, verdict })] }))
}

function sendingRows(): readonly Row[] {
  return sendingCases.map(({ rule, says, kinds, verdict }) => ({
    rule,
    says,
    cells: [verdictOf(sendingKinds, { kinds, verdict })],
  }))
}

/** Names the kinds of mint that can have the case, unless all can. */
function verdictOf(
  all: readonly string[],
  { kinds, verdict }: { readonly kinds: readonly string[]; readonly verdict: Verdict },
): string {
  const possible = all.filter((kind) => kinds.includes(kind))
  return possible.length === all.length ? verdictText(verdict) : `${verdictText(verdict)} (${possible.join(', ')})`
}

function railRows(rule: string): readonly Row[] {
  return railCases
    .filter((each) => each.rule.startsWith(rule))
    .map((each) => ({ rule: each.rule, says: each.says, cells: [verdictText(each.verdict)] }))
}

function mintRows(): readonly Row[] {
  return mintCases.map(({ rule, says, refusedBecause }) => ({
    rule,
    says,
    cells: [refusedBecause === undefined ? 'taken' : 'refused'],
  }))
}

function verdictText(verdict: Verdict): string {
  return verdict === 'accepted' ? 'accepted' : `\`${verdict}\``
}

function table(columns: readonly string[], rows: readonly Row[]): string {
  const lines = [['', ...columns], ['', ...columns].map(() => '---'), ...rows.map(cellsOfRow)]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function cellsOfRow({ rule, says, cells }: Row): readonly string[] {
  return [rule, says.replaceAll('|', String.raw`\|`), ...cells]
}
