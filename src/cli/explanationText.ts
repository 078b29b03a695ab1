import { formatDecimal } from '@tollbook/core/money'
import type { Explanation } from '../diagnosis/explanation.ts'

const usdDecimals = 6

export function explanationText(explanation: Explanation): string {
  const { subject, reference, diagnosis, decimals, asOf } = explanation
  const tokens = (baseUnits: string | null) =>
    baseUnits === null ? undefined : `${formatDecimal(BigInt(baseUnits), decimals)} tokens`
  const sections = [
    [
      `${subject}: ${diagnosis.code}`,
      ...(reference === null || reference === subject ? [] : [`  ${reference}`]),
      `  Diagnosis       ${diagnosis.staff}`,
      `  Caller          ${diagnosis.caller}`,
      ...(diagnosis.booking === null ? [] : [`  Finance         ${diagnosis.booking.words}`]),
    ],
    ['Chain', ...chainLines(explanation, tokens)],
    ['Ledger', ...ledgerLines(explanation, tokens)],
    ...quoteSection(explanation, tokens),
    ...section(
      'Rules',
      explanation.rules.map(
        ({ rule, asks, verdict, why }) => `${mark(verdict)} ${rule.padEnd(3)} ${asks}${why === '' ? '' : `: ${why}`}`,
      ),
    ),
    ...section('Attempts', explanation.attempts.map(attemptLine)),
    [`As of ${asOf}`],
  ]
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`
}

type Tokens = (baseUnits: string | null) => string | undefined

function section(title: string, lines: readonly string[]): readonly string[][] {
  return lines.length === 0 ? [] : [[title, ...lines.map((line) => `  ${line}`)]]
}

function facts(pairs: readonly (readonly [name: string, text: string | null | undefined])[]): readonly string[] {
  return pairs.flatMap(([name, text]) => (text === null || text === undefined ? [] : [`  ${name.padEnd(15)} ${text}`]))
}

function chainLines({ chain }: Explanation, tokens: Tokens): readonly string[] {
  return facts([
    ['Status', `${chain.status}. ${chain.words}`],
    ['Block time', chain.blockTime],
    ['Arrived', tokens(chain.arrivedBaseUnits)],
    ['Burned', tokens(chain.burnedBaseUnits)],
    ['Signed by', chain.signers.length === 0 ? null : chain.signers.join(', ')],
  ])
}

function ledgerLines({ ledger }: Explanation, tokens: Tokens): readonly string[] {
  if (ledger === null) return ['  The ledger has nothing under this reference.']
  return facts([
    ['State', ledger.state],
    ['Wallet', ledger.wallet],
    ['Endpoint', ledger.endpoint],
    ['Price', priceText(ledger.priceMicroUsd, tokens(ledger.requiredBaseUnits))],
    ['Received', tokens(ledger.receivedBaseUnits)],
    ['Burned', tokens(ledger.burnedBaseUnits)],
    ['Quote', ledger.quoteId],
    ['Receipt', ledger.receiptId],
    ['Receipt at', ledger.receiptPath],
    ['Events', ledger.events.map(({ position, kind }) => `${position} ${kind}`).join(', ')],
  ])
}

function priceText(priceMicroUsd: string | null, tokens: string | undefined): string | undefined {
  return priceMicroUsd === null
    ? undefined
    : `${formatDecimal(BigInt(priceMicroUsd), usdDecimals)} USD, ${tokens ?? ''}`
}

function quoteSection({ quote }: Explanation, tokens: Tokens): readonly string[][] {
  if (quote === null) return []
  const { id, wallet, endpoint, issuedAt, expiresAt } = quote
  const price = priceText(quote.priceMicroUsd, tokens(quote.requiredBaseUnits))
  return [
    [
      'Quote',
      ...facts([
        ['Id', id],
        ['Wallet', wallet],
        ['Endpoint', endpoint],
        ['Price', price],
        ['Open', `${issuedAt} to ${expiresAt}`],
      ]),
    ],
  ]
}

function mark(verdict: Explanation['rules'][number]['verdict']): string {
  return { passed: 'pass', failed: 'FAIL', not_checked: '  – ' }[verdict]
}

function attemptLine({ attempt, startedAt, endedAt, outcome, reason }: Explanation['attempts'][number]): string {
  return `${attempt}  ${outcome}${reason === null ? '' : `: ${reason}`}  ${startedAt} to ${endedAt ?? 'now'}`
}
