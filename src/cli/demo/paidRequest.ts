import { z } from 'zod'
import { PaymentRefused } from '@tollbook/client/paymentError'
import type { PaymentProgress } from '@tollbook/client/paymentProgress'
import type { PendingPayment } from '@tollbook/client/pendingPayment'
import { assert, assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import { formatDecimal } from '@tollbook/core/money'
import { buy, type DemoSale, payOrderOf, send } from './buy.ts'
import { decodeQr } from './demoCaller.ts'
import { type DemoDeps, type DemoSpending, expectThat, tokens } from './demoDeps.ts'

const target = '/api/tools/qrcode'
const text = 'Paid for with a burn and a transfer on Solana.'

export async function showPaidRequest(deps: DemoDeps): Promise<DemoSpending> {
  const { say } = deps
  say(`1. Ask without paying: POST ${target}`)
  let payment: PendingPayment | undefined
  const order = await payOrderOf(deps, { target, body: { data: text } })
  const onEvent = (event: PaymentProgress) => {
    if (event.kind === 'signed') payment = event.payment
    const line = describeStep(event)
    if (line !== undefined) say(line)
  }
  const bought = await buy({ order, onEvent }, target)
  if (bought.kind !== 'bought') throw new Fault(`no QR code: ${bought.kind}, ${bought.why}`, { retryable: false })
  showDelivery(deps, bought.sale)
  await tryAgain(deps, assertPresent(payment, 'a payment was signed'))
  say('5. The receipt, checked offline with the public key of the service: valid')
  return bought.spent
}

const attoUsdDecimals = 18

function describeStep(event: PaymentProgress): string | undefined {
  if (event.kind === 'quoted') {
    const { id, priceAttoUsd, requiredBaseUnits, burnBaseUnits, transferBaseUnits } = event.plan.quote
    const price = `$${formatDecimal(priceAttoUsd, attoUsdDecimals)}, ${tokens(requiredBaseUnits)} tokens`
    return `   402 PAYMENT_REQUIRED: ${price}: burn ${tokens(burnBaseUnits)}, transfer ${tokens(transferBaseUnits)}; ${id}`
  }
  if (event.kind !== 'signed') return undefined
  const { wallet, signature } = event.payment
  return `2. Pay: one transaction of ${wallet}, bound to the quote by its memo\n   ${signature}`
}

const qrJson = z.object({ qrCode: z.string(), originalData: z.string(), size: z.string() })

function showDelivery({ say }: DemoDeps, { data, receipt }: DemoSale): void {
  const { qrCode, size } = qrJson.parse(data)
  const decoded = decodeQr(qrCode)
  expectThat(decoded === text, `the QR code reads ${JSON.stringify(text)}, not ${JSON.stringify(decoded)}`)
  say(`3. 200: a QR code of ${size} pixels, which reads "${decoded}"`)
  say(`   executed in slot ${receipt.slot}, delivered at position ${receipt.ledger.position} of the ledger`)
}

async function tryAgain(deps: DemoDeps, payment: PendingPayment): Promise<void> {
  // Use another order, because the service would answer the same order from its store for two minutes.
  const other = await payOrderOf(deps, { target, body: { data: `${text}/` } })
  assert(other.task.kind === 'buy', 'it is a new order')
  const { request: instead } = other.task
  const refused = await send({ order: { ...other, task: { kind: 'resume', payment, instead } } }).catch(
    (error: unknown) => error,
  )
  expectThat(
    refused instanceof PaymentRefused && refused.reason === 'already_used',
    `a used proof is refused, and not: ${String(refused)}`,
  )
  deps.say('4. The same proof for another order: 402 INVALID_PAYMENT, already_used')
}
