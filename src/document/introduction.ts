import { invalidPaymentReasons } from '@tollbook/core/refusal'
import { distributionOf, type SplitShare } from '../pricing/splitSetting.ts'
import type { Endpoint } from '../product/endpoint.ts'
import { type AcceptedDollar, dollarsIntro } from './acceptedDollars.ts'
import { tabsIntro } from './tabsIntro.ts'
import type { ErrorAdvice } from './verdicts.ts'

interface IntroducedFacts {
  readonly split: readonly SplitShare[]
  readonly dollars: readonly AcceptedDollar[]
  readonly endpoints: readonly Endpoint[]
}

export function introductionOf(
  verdicts: readonly ErrorAdvice[],
  { split, dollars, endpoints }: IntroducedFacts,
): string {
  const reasons = ['## Reasons of INVALID_PAYMENT', reasonsTable()]
  const tabs = tabsIntro(endpoints).map((text) => `## Tabs\n\n${text}`)
  return [payingWith(split), ...payingDollars(dollars), ...tabs, ...proofs, ...orderOf(verdicts), ...reasons].join(
    '\n\n',
  )
}

function payingDollars(dollars: readonly AcceptedDollar[]): readonly string[] {
  if (dollars.length === 0) return []
  return ['## Dollars', dollarsIntro, dollars.map(({ description }) => `- ${description}`).join('\n')]
}

/** Describes the steps of a payment, which `/llms.txt` and the API reference show. */
export function payingSteps(split: readonly SplitShare[]): string {
  const { burn = '', ...shares } = distributionOf(split)
  const owed = Object.entries(shares).map(([account, percent]) => `${percent} ${account}`)
  return `1. Send the request with \`x-wallet-address\`. The answer is a 402 with a quote: the amounts to burn and to transfer in base units, and the destination.
2. Make one transaction, signed by your wallet, that burns ${burn} and transfers the rest (${owed.join(', ')}).
3. Repeat the request with \`x-payment-proof\`. The answer is a 200 with the data and a signed receipt.`
}

function payingWith(split: readonly SplitShare[]): string {
  return `There are no keys and no accounts: your wallet address identifies you, and a Solana transaction proves your payment.

${payingSteps(split)}

A proof buys one answer and never a second one. If no answer was delivered, the same proof stays valid for the same wallet and endpoint.
A 503 means that the outcome is not known yet: repeat with the *same* proof, and never pay again because of it.`
}

const proofs = [
  '## The proof',
  `\`x-payment-proof\` is standard base64, with padding, of one of these:

- the signature of a transaction that you have sent: its base58 text, or its 64 bytes;
- the fully signed transaction, not sent (we send it);
- JSON \`{"signature": …, "secret": …}\` or \`{"transaction": base64, "secret": …}\` for a transaction with the quote's memo: proof against theft.`,
]

function orderOf(verdicts: readonly ErrorAdvice[]): readonly string[] {
  const rows = verdicts.map(({ code, status, advice }) => `| ${status} | \`${code}\` | ${advice} |`)
  const intro =
    'Every error is `{"error": text, "code": CODE}`. Checks run in this order (the parameters of a request after its media type and size), and the first error that applies is returned:'
  return ['## Errors', intro, ['| status | code | what to do |', '|---|---|---|', ...rows].join('\n')]
}

/**
 * Writes a Markdown table with the meaning of each `reason`. scripts/refusalTable.ts writes the same table into
 * docs/api.md.
 */
export function reasonsTable(): string {
  const rows = Object.entries(invalidPaymentReasons).map(
    ([reason, meaning]) => `| \`${reason}\` | ${meaning.replaceAll('|', String.raw`\|`)} |`,
  )
  return ['| reason | meaning |', '|---|---|', ...rows].join('\n')
}
