import { z } from 'zod'
import { askFree } from '@tollbook/client/freeRoute'
import type { PendingPayment } from '@tollbook/client/pendingPayment'
import { verifyReceipt } from '@tollbook/client/verifyReceipt'
import { qrcode } from '../../products/qrcode/qrcode.ts'
import { Fault } from '@tollbook/core/fault'
import { buy, type DemoSale } from './buy.ts'
import { decodeQr } from './decodeQr.ts'
import { type DemoDeps, expectThat, type DemoSpending, tokens, walletOf } from './demoDeps.ts'

const { path } = qrcode
const text = 'Paid for with a burn and a transfer on Solana.'

const quoteJson = z.object({
  pricing: z.object({ priceUSD: z.number(), requiredTokens: z.number() }),
  paymentTokenAccount: z.string(),
  quote: z.object({
    id: z.string(),
    burnBaseUnits: z.string().transform(BigInt),
    transferBaseUnits: z.string().transform(BigInt),
  }),
})
type AskedPrice = z.infer<typeof quoteJson>

export async function askPrice(deps: DemoDeps): Promise<AskedPrice> {
  deps.say(`1. Ask without paying: POST ${path}`)
  const { status, body } = await askFree(request(deps))
  expectThat(status === 402, `a request without proof is answered with 402, not ${status}`)
  const offer = quoteJson.parse(body)
  const { pricing, quote } = offer
  deps.say(
    `   402 PAYMENT_REQUIRED: $${pricing.priceUSD}, ${pricing.requiredTokens} tokens: burn ${tokens(quote.burnBaseUnits)}, transfer ${tokens(quote.transferBaseUnits)}; ${quote.id}`,
  )
  return offer
}

/** One paid request from the payment to the receipt, with every step checked. */
export async function showPaidRequest(deps: DemoDeps): Promise<DemoSpending> {
  const bought = await buy(deps, { target: path, body: { data: text } }, ({ signature }) =>
    deps.say(`2. Pay: one transaction of ${walletOf(deps).address}, bound to the quote by its memo\n   ${signature}`),
  )
  if (bought.kind !== 'bought') throw new Fault(`no QR code: ${bought.kind}, ${bought.why}`, { retryable: false })
  showDelivery(deps, bought.sale)
  await tryAgain(deps, bought.payment)
  await checkReceipt(deps, bought.sale)
  return bought.spent
}

const qrJson = z.object({ qrCode: z.string(), originalData: z.string(), size: z.string() })

function showDelivery(deps: DemoDeps, { data, receipt }: DemoSale): void {
  const { qrCode, size } = qrJson.parse(data)
  const decoded = decodeQr(qrCode)
  expectThat(decoded === text, `the QR code reads ${JSON.stringify(text)}, not ${JSON.stringify(decoded)}`)
  deps.say(`3. 200: a QR code of ${size} pixels, which reads "${decoded}"`)
  deps.say(`   executed in slot ${receipt.slot}, delivered at position ${receipt.ledger.position} of the ledger`)
}

async function tryAgain(deps: DemoDeps, { proof }: PendingPayment): Promise<void> {
  const { headers, ...order } = request(deps)
  // The same order would get its answer again for two minutes.
  const other = { ...order, body: JSON.stringify({ data: `${text}/` }) }
  const { status, body } = await askFree({ ...other, headers: { ...headers, 'x-payment-proof': proof } })
  const refusal = z.object({ code: z.string(), reason: z.string() }).parse(body)
  expectThat(
    status === 402 && refusal.reason === 'already_used',
    `a used proof is refused, not answered with ${status}`,
  )
  deps.say(`4. The same proof for another order: ${status} ${refusal.code}, ${refusal.reason}`)
}

async function checkReceipt(deps: DemoDeps, { receipt }: DemoSale): Promise<void> {
  const verdict = await verifyReceipt({ receipt, keys: deps.local.receiptKey })
  expectThat(verdict.valid, `the receipt is valid: ${verdict.valid ? '' : verdict.message}`)
  deps.say('5. The receipt, checked offline with the public key of the service: valid')
}

function request(deps: DemoDeps) {
  const headers = { 'x-wallet-address': walletOf(deps).address }
  return { baseUrl: deps.local.baseUrl, path, body: JSON.stringify({ data: text }), headers }
}
