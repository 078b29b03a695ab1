import { invalidPaymentReasons } from '@tollbook/core/refusal'
import { defaultSplit, distributionOf } from '../pricing/splitSetting.ts'
import type { Verdict } from './verdicts.ts'

/** The text before the operations: how to pay, and which no comes first. Markdown. */
export function introductionOf(verdicts: readonly Verdict[]): string {
  return [paying, ...proofs, ...orderOf(verdicts), '## Reasons of INVALID_PAYMENT', reasonsTable()].join('\n\n')
}

const { burn, ...others } = distributionOf(defaultSplit)
const rest = Object.entries(others)
  .map(([account, share]) => `${share} ${account}`)
  .join(', ')

const paying = `No keys, no accounts: your wallet address says who you are, a Solana transaction says that you have paid.

1. Send the request with \`x-wallet-address\`. The answer is a 402 with a quote: what to burn, what to transfer, where to, in base units.
2. Make one transaction, signed by your wallet, that burns ${burn} and transfers the rest (${rest}).
3. Repeat the request with \`x-payment-proof\`. The answer is a 200 with the data and a signed receipt.

A proof buys one answer, for ever. If no answer was delivered, the same proof is still good for the same wallet and endpoint.
A 503 means that we do not know yet: repeat with the *same* proof, and never pay again because of it.`

const proofs = [
  '## The proof',
  `\`x-payment-proof\` is standard base64, with padding, of one of these:

- the signature of a transaction that you have sent: its base58 text, or its 64 bytes;
- the fully signed transaction, not sent (we send it);
- JSON \`{"signature": …, "secret": …}\` or \`{"transaction": base64, "secret": …}\` for a transaction with the quote's memo: proof against theft.`,
]

function orderOf(verdicts: readonly Verdict[]): readonly string[] {
  const rows = verdicts.map(({ code, status, advice }) => `| ${status} | \`${code}\` | ${advice} |`)
  const intro =
    'Every error is `{"error": text, "code": CODE}`. The verdicts come in this order (the parameters of a request after its media type and size), and the first that applies is the one you get:'
  return ['## Errors', intro, ['| status | code | what to do |', '|---|---|---|', ...rows].join('\n')]
}

/** What each `reason` means, as a table in Markdown; scripts/refusalTable.ts writes it into docs/api.md too. */
export function reasonsTable(): string {
  const rows = Object.entries(invalidPaymentReasons).map(
    ([reason, meaning]) => `| \`${reason}\` | ${meaning.replaceAll('|', String.raw`\|`)} |`,
  )
  return ['| reason | meaning |', '|---|---|', ...rows].join('\n')
}
