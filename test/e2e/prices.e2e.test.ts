import { beforeAll, describe, expect, test } from 'vitest'
import { isoTime, systemClock } from '@tollbook/core/clock'
import { ask, askForQuote, buy } from '../support/ask.ts'
import { type Answering, deadUrl, json, startLoopbackProvider, text } from '../support/loopbackProvider.ts'
import { readLedgerState } from '../support/readLedgerState.ts'
import { openTestService, type TestService } from '../support/testService.ts'
import { sampleAnswer, withField } from '../support/upstreamSample.ts'

const coinGecko = await startLoopbackProvider()
const coinPaprika = await startLoopbackProvider()
const bitcoin = '/api/data/crypto?symbol=BTC'
const nothing = '/api/data/crypto?symbol=ZZZQQ'
let service: TestService

/** Bitcoin and nothing else, as of now. */
const ofNow: Answering = (response, asked) =>
  (asked.url.searchParams.get('symbols') === 'btc'
    ? sampleAnswer('coingecko/markets-btc', withField([0, 'last_updated'], isoTime(systemClock.nowMs())))
    : json([]))(response, asked)
// Confirms the first price, because no exchange answers here.
const alsoOfNow = sampleAnswer('coinpaprika/ticker-btc', withField(['last_updated'], isoTime(systemClock.nowMs())))
const unpaid = json({ error: 'payment required: account 7, key CG-secret-key' }, { status: 402 })

beforeAll(async () => {
  const dead = await deadUrl()
  service = await openTestService({
    env: {
      COINGECKO_URL: coinGecko.url,
      COINGECKO_API_KEY: 'CG-secret-key',
      COINPAPRIKA_URL: coinPaprika.url,
      KRAKEN_URL: dead,
    },
  })
})

test('a price is bought with its receipt, and names its source; a quote alone queries no provider', async () => {
  coinGecko.answer(ofNow)
  coinPaprika.answer(alsoOfNow)
  await askForQuote(service, { path: bitcoin })
  expect(coinGecko.asked).toHaveLength(0)
  const sale = await buy(service, { path: bitcoin })
  expect(sale.data).toEqual({
    symbol: 'BTC',
    price: 77671,
    change24h: '-0.95%',
    volume24h: 33235034316,
    marketCap: 1555886872303,
  })
  expect(sale).toMatchObject({ success: true, meta: { source: 'coingecko', cached: false, id: 'bitcoin' } })
})

test('I4 an unknown symbol is 404 with the proof kept, then 404 before any quote, and the proof buys another', async () => {
  coinGecko.answer(ofNow)
  const proof = await service.payer.pay(await askForQuote(service, { path: nothing }))
  expect(await ask(service, { path: nothing, proof })).toMatchObject({ status: 404, body: { code: 'NO_DATA' } })
  const asked = coinGecko.asked.length
  expect(await ask(service, { path: nothing })).toMatchObject({ status: 404, body: { code: 'NO_DATA' } })
  expect(coinGecko.asked).toHaveLength(asked)
  expect(await ask(service, { path: bitcoin, proof })).toMatchObject({ status: 200, body: { data: { symbol: 'BTC' } } })
})

test('a 402 of a provider is never ours: 502 without its words or our key, and the proof kept', async () => {
  const path = '/api/data/crypto?symbol=ETH'
  coinGecko.answer(unpaid)
  coinPaprika.answer(unpaid)
  const proof = await service.payer.pay(await askForQuote(service, { path }))
  const failure = await ask(service, { path, proof })
  expect(failure).toMatchObject({ status: 502, body: { code: 'UPSTREAM_FAILED' } })
  expect(JSON.stringify(failure.body)).not.toMatch(/account|CG-secret-key|127\.0\.0\.1/)
  coinGecko.answer(ofNow)
  expect((await ask(service, { path: bitcoin, proof })).status).toBe(200)
})

describe('I4 every way in which providers fail keeps the proof, which then buys the answer', () => {
  const hang: Answering = () => undefined
  const ways: readonly (readonly [what: string, symbol: string, status: number, code: string, answering: Answering])[] =
    [
      ['no connection', 'SOL', 502, 'UPSTREAM_FAILED', (response) => response.destroy()],
      ['a page for people', 'DOGE', 502, 'UPSTREAM_FAILED', text('<html>maintenance</html>')],
      ['nothing at all', 'XRP', 504, 'UPSTREAM_TIMEOUT', hang],
      [
        'a price of zero',
        'ADA',
        502,
        'UPSTREAM_FAILED',
        sampleAnswer('coingecko/markets-btc', withField([0, 'current_price'], 0)),
      ],
    ]
  test.each(ways)('%s', async (_what, symbol, status, code, answering) => {
    const path = `/api/data/crypto?symbol=${symbol}`
    coinGecko.answer(answering)
    coinPaprika.answer(answering)
    const proof = await service.payer.pay(await askForQuote(service, { path }))
    expect(await ask(service, { path, proof })).toMatchObject({ status, body: { code } })
    coinGecko.answer(ofNow)
    expect((await ask(service, { path: bitcoin, proof })).status).toBe(200)
    expect((await ask(service, { path: bitcoin, proof })).body).toMatchObject({ reason: 'already_used' })
  })

  test('I17 and the ledger balances, with nothing owed', async () => {
    const ledger = await readLedgerState(service)
    expect(ledger.failures.filter((reason) => reason === 'upstream_timeout')).toHaveLength(1)
    expect(ledger.failures.filter((reason) => reason === 'upstream_failed')).toHaveLength(4)
    expect(ledger).toMatchObject({ entriesSum: '0', unearned: '0' })
  })
})
