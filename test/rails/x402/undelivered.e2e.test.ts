import { x402HTTPClient } from '@x402/fetch'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { Keypair } from '@solana/web3.js'
import { memoOfSecret } from '@tollbook/core/binding'
import { assert, assertPresent } from '@tollbook/core/assert'
import type { Outcome } from '../../../src/product/product.ts'
import { withAdminSession } from '../../support/adminSession.ts'
import { awaitThat } from '../../support/awaitThat.ts'
import { scriptedEndpoint, withEndpoint } from '../../support/scriptedEndpoint.ts'
import { openX402Service, stockClient, type X402Service } from '../../support/x402Service.ts'
import { ledgerFindings } from '../../support/ledgerFindings.ts'

/* A payment of the whole price whose attempts fail: real HTTP, real Postgres, real SVM, the stock client. */

const scripted = scriptedEndpoint()
const attemptsMax = 2
const fails = () => Promise.resolve<Outcome>({ kind: 'failed', code: 'NO_DATA', message: 'nothing yet' })
// A block is final after 32 others.
const finalSlots = 40

let x402: X402Service
beforeAll(async () => {
  x402 = await openX402Service({ seams: { endpoints: withEndpoint(scripted) }, sale: { attemptsMax } })
})

interface Forged {
  readonly payTo: string
  readonly feePayer: string
  readonly secret: string
}

/**
 * A payment by the stock client, presented as often as it is asked: of our offer, or of another seller's in the words
 * of ours.
 */
async function pay(
  forged?: Forged,
): Promise<{ readonly priceBaseUnits: bigint; readonly present: () => Promise<Response> }> {
  const url = `${x402.service.baseUrl}/x402${scripted.order.path}`
  const offered = await fetch(url)
  const http = new x402HTTPClient(await stockClient(x402.service.demoWallet, x402.service.chain.rpcUrl, x402.tokenMint))
  const required = http.getPaymentRequiredResponse((name) => offered.headers.get(name), await offered.json())
  const [accepted] = required.accepts
  assert(accepted !== undefined, 'one way to pay is offered')
  const ours = { ...accepted, extra: { ...accepted.extra, ...(forged === undefined ? {} : { secret: forged.secret }) } }
  const theirs = forged === undefined ? ours : offerOf(ours, forged)
  const signed = await http.createPaymentPayload({ ...required, accepts: [theirs] })
  const payload = { ...signed, accepted: ours }
  const header = assertPresent(http.encodePaymentSignatureHeader(payload)['PAYMENT-SIGNATURE'], 'a payment is signed')
  const { amount } = z.object({ amount: z.string() }).parse(required.accepts[0])
  return { priceBaseUnits: BigInt(amount), present: () => fetch(url, { headers: { 'payment-signature': header } }) }
}

/** The offer of a seller who knows the secret behind its memo. */
function offerOf<T extends { readonly extra: object }>(offer: T, { payTo, feePayer, secret }: Forged) {
  return { ...offer, payTo, extra: { ...offer.extra, feePayer, memo: memoOfSecret(secret), secret } }
}

/** Amounts that are owed on each account, and the number of `BurnOwed` events. */
async function readOwed() {
  return withAdminSession(x402.service.database.adminUrl, async (session) => {
    const { rows } = await session.query<{ name: string; owed: string }>(
      "select name, (-balance)::text as owed from ledger.accounts where name like 'Liabilities:%'",
    )
    const owed = new Map(rows.map((row) => [row.name, BigInt(row.owed)]))
    const events = await session.query("select from ledger.events where kind = 'BurnOwed'")
    return { of: (account: string) => owed.get(`Liabilities:${account}`) ?? 0n, burns: events.rowCount ?? 0 }
  })
}

async function newestState(): Promise<string | undefined> {
  return withAdminSession(x402.service.database.adminUrl, async (session) => {
    const { rows } = await session.query<{ state: string }>(
      "select state from ledger.streams where kind = 'payment' order by stream desc limit 1",
    )
    return rows[0]?.state
  })
}

async function expectCleanAudit(): Promise<void> {
  const findings = await ledgerFindings(x402.service.database.adminUrl)
  expect(findings).toEqual([])
}

test('a payment of the whole price that bought nothing is owed back whole, and no burn is owed for it', async () => {
  const before = await readOwed()
  const { priceBaseUnits, present } = await pay()
  scripted.script(fails, fails)
  for (let attempt = 1; attempt <= attemptsMax; attempt++) expect((await present()).status).toBe(404)
  x402.service.chain.advanceSlots(finalSlots)
  await awaitThat('the payment is owed back', async () => (await newestState()) === 'refund_due')

  const after = await readOwed()
  expect(after.of(`RefundsDue:${x402.service.payer.address}`)).toBe(priceBaseUnits)
  expect([after.of('BurnOwed'), after.burns]).toEqual([before.of('BurnOwed'), before.burns])
  expect(after.of('Unearned')).toBe(0n)
  await expectCleanAudit()
})

test('a payment that is delivered by its second attempt owes its burn once, from the delivery on', async () => {
  const before = await readOwed()
  const { priceBaseUnits, present } = await pay()
  scripted.script(fails)
  expect((await present()).status).toBe(404)
  const undelivered = await readOwed()
  expect([undelivered.of('Unearned'), undelivered.burns]).toEqual([priceBaseUnits, before.burns])

  const answer = await present()
  const { receipt } = z
    .object({ receipt: z.object({ burned: z.string(), burnOwed: z.string() }) })
    .parse(await answer.json())
  expect([answer.status, receipt.burned]).toEqual([200, '0'])
  const delivered = await readOwed()
  expect(delivered.of('BurnOwed') - before.of('BurnOwed')).toBe(BigInt(receipt.burnOwed))
  expect([delivered.of('Unearned'), delivered.burns]).toEqual([0n, before.burns + 1])
  await expectCleanAudit()
})

test('a payment to another seller, who knows its secret, does not get what its payer has bought here', async () => {
  const { present } = await pay()
  scripted.script(fails)
  expect((await present()).status).toBe(404)
  const [payTo, feePayer] = [Keypair.generate(), Keypair.generate()].map(({ publicKey }) => publicKey.toBase58())
  const seller = { payTo: payTo ?? '', feePayer: feePayer ?? '', secret: 'A'.repeat(22) }
  const stranger = await (await pay(seller)).present()
  expect([stranger.status, await stranger.json()]).toMatchObject([402, { reason: 'not_sponsored' }])

  const next = await pay()
  expect((await next.present()).status).toBe(200)
  await expectCleanAudit()
})
