import { CompactSign, compactVerify, createLocalJWKSet, importJWK } from 'jose'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { canonicalJson } from '@tollbook/core/canonicalJson'
import { quoteBody, saleBody } from '@tollbook/core/wire'
import { ask, askForQuote, buy, qrOrder } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { forms } from '../support/payer.ts'
import { openTestService, type TestService } from '../support/testService.ts'

let service: TestService
let admin: pg.Client

beforeAll(async () => {
  service = await openTestService()
  admin = new pg.Client({ connectionString: service.database.adminUrl })
  await admin.connect()
})
afterAll(() => admin.end())

async function eventsOf(signature: string): Promise<readonly string[]> {
  const { rows } = await admin.query<{ kind: string }>(
    "select kind from ledger.events where convert_from(body, 'UTF8')::jsonb ->> 'stream' = $1 order by seq",
    [`solana:${signature}`],
  )
  return rows.map(({ kind }) => kind)
}

describe('a request without proof', () => {
  test('is answered with a 402 that has every field of the specification and adds up', async () => {
    const reply = await ask(service, qrOrder)
    expect(reply.status).toBe(402)
    expect(reply.headers.get('cache-control')).toBe('no-store')
    expect(reply.headers.get('x-request-id')).toMatch(/^request_/)
    const body = quoteBody.parse(reply.body)
    expect(body).toMatchObject({
      code: 'PAYMENT_REQUIRED',
      pricing: { endpoint: '/api/tools/qrcode', priceUSD: 0.005, tokenPrice: 0.001, requiredTokens: 5 },
      distribution: { burn: '30%', provider: '50%', holders: '15%', treasury: '5%' },
      burnInfo: { percentage: 30, tokensToBurn: 1.5 },
      quote: { requiredBaseUnits: '5000000', burnBaseUnits: '1500000', transferBaseUnits: '3500000', decimals: 6 },
    })
    expect(body.network).toBe(`solana:${service.chain.genesisHash.slice(0, 32)}`)
  })

  test('gets a new quote each time, and the ledger has the memo and not the secret', async () => {
    const [one, other] = [await askForQuote(service), await askForQuote(service)]
    expect(one.quote.id).not.toBe(other.quote.id)
    expect(one.quote.secret).not.toBe(other.quote.secret)
    const { rows } = await admin.query('select * from ledger.quotes where id = $1', [one.quote.id])
    expect(rows).toMatchObject([{ memo: one.quote.memo, wallet: service.payer.address }])
    expect(JSON.stringify(rows)).not.toContain(one.quote.secret)
  })
})

describe.each(forms)('a payment in the form %s', (form) => {
  test('I26 buys exactly one answer, for one RequestFulfilled', async () => {
    const quote = await askForQuote(service)
    const proof = await service.payer.pay(quote, form)
    const first = await ask(service, { ...qrOrder, proof })
    expect(first.status).toBe(200)
    expect(first.headers.get('cache-control')).toBe('private, no-store')
    const sale = saleBody.parse(first.body)
    expect(sale.data).toMatchObject({ originalData: 'hello', size: '256x256' })
    expect(sale.receipt).toMatchObject({
      wallet: service.payer.address,
      quoteId: quote.quote.id,
      requiredBaseUnits: '5000000',
      burned: '1500000',
    })
    expect(sale.receipt.distribution).toEqual({ provider: '2500000', holders: '750000', treasury: '250000' })

    // A bound payment gets its answer again for two minutes: only its payer has the secret.
    const isBound = form.startsWith('bound')
    const again = await ask(service, { ...qrOrder, proof })
    expect([again.status, again.headers.get('idempotent-replay')]).toEqual(isBound ? [200, 'true'] : [402, null])
    const second = await ask(service, { ...qrOrder, ...(isBound ? { body: { data: 'another order' } } : {}), proof })
    expect(second).toMatchObject({ status: 402, body: { code: 'INVALID_PAYMENT', reason: 'already_used' } })
    const submitted = form === 'transaction' || form === 'boundTransaction' ? ['PaymentSubmitted'] : []
    expect(await eventsOf(sale.receipt.signature)).toEqual([
      ...submitted,
      'PaymentVerified',
      'TokensBurned',
      'ProofClaimed',
      'RequestFulfilled',
      'DistributionAllocated',
    ])
  })
})

describe('a receipt', () => {
  test('verifies offline with the published key and with no other', async () => {
    const { receipt } = await buy(service)
    const keys = z
      .object({ keys: z.array(z.record(z.string(), z.string())) })
      .parse((await ask(service, { path: '/.well-known/jwks.json' })).body)
    const { jws, ...claims } = receipt
    const { payload, protectedHeader } = await compactVerify(jws, createLocalJWKSet(keys))
    expect(Buffer.from(payload).toString('utf8')).toBe(canonicalJson(claims))
    expect(protectedHeader).toMatchObject({ alg: 'EdDSA', typ: 'tollbook-receipt' })

    const forged = await new CompactSign(payload)
      .setProtectedHeader({ alg: 'EdDSA', kid: String(protectedHeader.kid) })
      .sign(
        await importJWK({
          kty: 'OKP',
          crv: 'Ed25519',
          alg: 'EdDSA',
          x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
          d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A',
        }),
      )
    await expect(compactVerify(forged, createLocalJWKSet(keys))).rejects.toThrow('signature verification failed')
  })

  test('names the place in the ledger where the fulfilment stands', async () => {
    const { receipt } = await buy(service)
    const { rows } = await admin.query(
      "select kind, convert_from(body, 'UTF8')::jsonb ->> 'stream' as stream, encode(leaf_hash, 'hex') as leaf from ledger.events where seq = $1",
      [receipt.ledger.position],
    )
    const stream = `solana:${receipt.signature}`
    expect(rows).toEqual([{ kind: 'RequestFulfilled', stream, leaf: receipt.ledger.leafHash }])
  })
})

test('I18 the burn statistics, the balances and the chain move together, to the base unit', async () => {
  const stats = z.object({
    data: z.object({
      total: z.object({ baseUnits: z.string(), payments: z.int() }),
      ledger: z.object({ position: z.int() }),
    }),
  })
  const read = async () => stats.parse((await ask(service, { path: '/api/token/burn-stats' })).body).data
  const before = await read()
  const { receipt } = await buy(service)
  // The statistics may be a second old.
  await awaitThat('the sale is counted', async () => (await read()).total.payments > before.total.payments)
  const after = await read()
  expect(BigInt(after.total.baseUnits) - BigInt(before.total.baseUnits)).toBe(1_500_000n)
  expect(after.total.payments - before.total.payments).toBe(1)
  // The figures are of now; the position is the one that the newest checkpoint vouches for.
  await awaitThat('the sale is sealed', async () => (await read()).ledger.position >= receipt.ledger.position)

  const { rows } = await admin.query('select name as account, balance from ledger.accounts order by name')
  const balances = new Map(rows.map((row) => [row.account, BigInt(row.balance)]))
  expect(rows.reduce((sum, row) => sum + BigInt(row.balance), 0n)).toBe(0n)
  expect(-(balances.get('Income:BurnedByCallers') ?? 0n)).toBe(BigInt(after.total.baseUnits))
  expect(balances.get('Liabilities:Unearned')).toBe(0n)
})

test('more than was asked is owed back to the wallet and not silently ours', async () => {
  const dear = await askForQuote(service, { path: '/api/tools/qrcode', body: { data: 'dear' } })
  const generous = { ...dear, quote: { ...dear.quote, transferBaseUnits: '4000000' } }
  const proof = await service.payer.pay(generous)
  const reply = await ask(service, { ...qrOrder, proof })
  expect(reply.status).toBe(200)
  const { rows } = await admin.query('select balance from ledger.accounts where name = $1', [
    `Liabilities:Overpaid:${service.payer.address}`,
  ])
  expect(rows).toEqual([{ balance: '-500000' }])
})
