import { z } from 'zod'
import { askFree } from '../client/freeRoute.ts'
import { readKeypairFile } from '../client/payerWallet.ts'
import { createPayingFetch } from '../client/payingFetch.ts'
import type { PendingPayment } from '../client/pendingPayment.ts'
import { readTokenFigures, type TokenFigures } from '../client/tokenFigures.ts'
import { verifyReceipt } from '../client/verifyReceipt.ts'
import { assertPresent } from '../primitives/assert.ts'
import { Fault } from '../primitives/fault.ts'
import { formatDecimal } from '../primitives/money.ts'
import { trialBalance } from '../reports/trialBalance.ts'
import type { Database } from '../store/database.ts'
import { decodeQr } from './decodeQr.ts'
import type { LocalJson } from './localJson.ts'

export interface DemoDeps {
  readonly local: LocalJson
  readonly database: Database
  readonly say: (text: string) => void
}

const path = '/api/tools/qrcode'
const text = 'Paid for with a burn and a transfer on Solana.'
const decimals = 6

/** One paid request from the 402 to the books, every step checked. Throws a fault at the first that is not as it should be. */
export async function tellDemo(deps: DemoDeps): Promise<void> {
  const offer = await askPrice(deps)
  const before = await readBooks(deps, offer.paymentTokenAccount)
  const { payment, answer } = await buy(deps)
  await tryAgain(deps, payment)
  await checkReceipt(deps, answer.receipt)
  await compareBooks(deps, { before, offer })
}

const offerJson = z.object({
  pricing: z.object({ priceUSD: z.number(), requiredTokens: z.number() }),
  paymentTokenAccount: z.string(),
  quote: z.object({
    id: z.string(),
    requiredBaseUnits: z.string(),
    burnBaseUnits: z.string(),
    transferBaseUnits: z.string(),
    expiresAt: z.string(),
  }),
})
type Offer = z.infer<typeof offerJson>

async function askPrice(deps: DemoDeps): Promise<Offer> {
  deps.say(`1. Ask without paying: POST ${path}`)
  const { status, body } = await askFree(request(deps))
  expectThat(status === 402, `a request without proof is answered with 402, not ${status}`)
  const offer = offerJson.parse(body)
  const { pricing, quote } = offer
  deps.say(
    `   402 PAYMENT_REQUIRED: $${pricing.priceUSD}, ${pricing.requiredTokens} tokens: burn ${tokens(quote.burnBaseUnits)}, transfer ${tokens(quote.transferBaseUnits)}; ${quote.id}`,
  )
  return offer
}

const saleJson = z.object({
  data: z.object({ qrCode: z.string(), originalData: z.string(), size: z.string() }),
  receipt: z.object({ signature: z.string(), slot: z.int(), ledger: z.object({ position: z.int() }).loose() }).loose(),
})
type Sale = z.infer<typeof saleJson>

async function buy(deps: DemoDeps): Promise<{ payment: PendingPayment; answer: Sale }> {
  const demoWallet = assertPresent(deps.local.demoWallet, 'local mode has a demo wallet')
  const wallet = await readKeypairFile(demoWallet.keypairPath)
  let signed: PendingPayment | undefined
  const payingFetch = createPayingFetch({
    wallet,
    rpcUrl: rpcUrlOf(deps),
    spendingLimit: { perRequest: { usd: '0.01' } },
    onEvent(event) {
      if (event.kind !== 'signed') return
      signed = event.payment
      deps.say(
        `2. Pay: one transaction of ${demoWallet.address}, bound to the quote by its memo\n   ${event.payment.signature}`,
      )
    },
  })
  const response = await payingFetch(new URL(path, deps.local.baseUrl), {
    method: 'POST',
    body: JSON.stringify({ data: text }),
    headers: { 'content-type': 'application/json' },
  })
  expectThat(response.status === 200, `a paid request is answered with 200, not ${response.status}`)
  const answer = saleJson.parse(await response.json())
  const decoded = decodeQr(answer.data.qrCode)
  expectThat(decoded === text, `the QR code reads ${JSON.stringify(text)}, not ${JSON.stringify(decoded)}`)
  deps.say(`3. 200: a QR code of ${answer.data.size} pixels, which reads "${decoded}"`)
  deps.say(
    `   executed in slot ${answer.receipt.slot}, delivered at position ${answer.receipt.ledger.position} of the ledger`,
  )
  return { payment: assertPresent(signed, 'a payment was signed'), answer }
}

async function tryAgain(deps: DemoDeps, { proof }: PendingPayment): Promise<void> {
  const { status, body } = await askFree({
    ...request(deps),
    headers: { ...request(deps).headers, 'x-payment-proof': proof },
  })
  const refusal = z.object({ code: z.string(), reason: z.string() }).parse(body)
  expectThat(
    status === 402 && refusal.reason === 'already_used',
    `a used proof is refused, not answered with ${status}`,
  )
  deps.say(`4. The same proof again: ${status} ${refusal.code}, ${refusal.reason}`)
}

async function checkReceipt(deps: DemoDeps, receipt: Sale['receipt']): Promise<void> {
  const verdict = await verifyReceipt({ receipt, keys: deps.local.receiptKey })
  expectThat(verdict.valid, `the receipt is valid: ${verdict.valid ? '' : verdict.message}`)
  deps.say('5. The receipt, checked offline with the public key of the service: valid')
}

interface Books {
  readonly burnedInStats: bigint
  readonly payments: number
  readonly accounts: ReadonlyMap<string, bigint>
  readonly chain: TokenFigures
}

const statsJson = z.object({
  data: z.object({ total: z.object({ baseUnits: z.string().transform(BigInt), payments: z.int() }) }),
})

async function readBooks(deps: DemoDeps, tokenAccount: string): Promise<Books> {
  const { body } = await askFree({ baseUrl: deps.local.baseUrl, path: '/api/token/burn-stats' })
  const { total } = statsJson.parse(body).data
  const accounts = new Map((await trialBalance(deps.database)).map(({ account, baseUnits }) => [account, baseUnits]))
  const chain = await readTokenFigures({ rpcUrl: rpcUrlOf(deps), mint: deps.local.tokenMint, tokenAccount })
  return { burnedInStats: total.baseUnits, payments: total.payments, accounts, chain }
}

/** The book, the statistics and the chain tell the same story, to the base unit. */
async function compareBooks(
  deps: DemoDeps,
  { before, offer }: { readonly before: Books; readonly offer: Offer },
): Promise<void> {
  const after = await readBooks(deps, offer.paymentTokenAccount)
  const burned = BigInt(offer.quote.burnBaseUnits)
  deps.say(
    `6. Burn statistics: ${tokens(before.burnedInStats)} tokens in ${before.payments} payments before, ${tokens(after.burnedInStats)} in ${after.payments} after`,
  )
  expectThat(
    after.burnedInStats - before.burnedInStats === burned,
    'the burn statistics grew by exactly what was burned',
  )

  const held = after.accounts.get('Assets:PaymentWallet') ?? 0n
  const expensed = after.accounts.get('Expenses:Burned') ?? 0n
  const sum = [...after.accounts.values()].reduce((total, amount) => total + amount, 0n)
  const burnedOnChain = before.chain.supplyBaseUnits - after.chain.supplyBaseUnits
  deps.say(
    `7. On chain: the payment wallet holds ${tokens(after.chain.heldBaseUnits)}; the supply of the mint fell by ${tokens(burnedOnChain)} to ${tokens(after.chain.supplyBaseUnits)}`,
  )
  deps.say(
    `   In the ledger: Assets:PaymentWallet ${tokens(held)}; Expenses:Burned ${tokens(expensed)}; trial balance ${sum}`,
  )
  expectThat(held === after.chain.heldBaseUnits, 'ledger and chain agree on the payment wallet to the base unit')
  expectThat(burnedOnChain === burned, 'the supply of the mint fell by exactly what was burned')
  expectThat(expensed === after.burnedInStats, 'ledger and burn statistics agree')
  expectThat(sum === 0n, 'the trial balance is zero')
  deps.say(`   They agree to the base unit.`)
}

function request({ local }: DemoDeps) {
  const wallet = assertPresent(local.demoWallet, 'local mode has a demo wallet').address
  return { baseUrl: local.baseUrl, path, body: JSON.stringify({ data: text }), headers: { 'x-wallet-address': wallet } }
}

function rpcUrlOf({ local }: DemoDeps): string {
  return assertPresent(local.rpcUrl, 'local mode has a chain')
}

function tokens(baseUnits: bigint | string): string {
  return formatDecimal(BigInt(baseUnits), decimals)
}

function expectThat(holds: boolean, expectation: string): void {
  if (!holds) throw new Fault(`the demo expected that ${expectation}`, { retryable: false })
}
