import { expect, test } from 'vitest'
import type { PayableRequest } from '@tollbook/client/payableRequest'
import { InsufficientFunds } from '@tollbook/client/insufficientFunds'
import type { Payer } from '@tollbook/client/payer'
import { quoteProblem, QuoteRefused } from '@tollbook/client/quoteProblem'
import { buyDeposit } from '@tollbook/client/tab/buyDeposit'

const [token, usdc, usdt] = ['token', 'usdc', 'usdt']

/** The ways in which a payer of the token and of two dollars tries a deposit that no service takes. */
async function triedFor(
  openedMint: string | undefined,
  protocols = ['x402', 'mpp'],
  refuse: (way: number) => unknown = () => undefined,
) {
  const tried: unknown[] = []
  const pay = (buyer: Payer, { content: { url } }: PayableRequest) => {
    expect(buyer).toMatchObject({ form: 'bound', paysDeposit: true, tab: undefined })
    const refused = refuse(tried.length)
    tried.push([new URL(url).pathname, buyer.pins.expectedMint, buyer.dollarMints, buyer.protocols])
    return refused === undefined ? Promise.resolve(new Response('', { status: 404 })) : Promise.reject(refused)
  }
  const opened = openedMint && { tab: 't', deposit: 'd', mint: openedMint, origin: 'o', endsAtMs: 1 }
  const record = { service: 'https://api.example', depositUsd: 1, idempotencyKey: 'k', isClosed: false, opened }
  // The whole payer is more than what is asked here.
  const payer = { form: 'signature', pins: { expectedMint: token }, dollarMints: [usdc, usdt], protocols, open: {} }
  const question = { service: record.service, option: { depositUsd: 1 }, signal: new AbortController().signal, pay }
  await buyDeposit(...([payer, question, { record, order: {} }] as unknown as Parameters<typeof buyDeposit>))
  return tried
}

test('a top-up is tried in the mint of its tab only, and a first deposit in each mint of the payer', async () => {
  const inDollars = (mints: readonly string[]) => [
    ['/x402/api/tabs', undefined, mints, ['x402']],
    ['/api/tabs', undefined, mints, ['mpp']],
  ]
  const inToken = ['/api/tabs', token, [], []]
  expect(await triedFor(undefined)).toEqual([inToken, ...inDollars([usdc, usdt])])
  expect(await triedFor(usdt)).toEqual(inDollars([usdt]))
  expect((await triedFor(token))[0]).toEqual(inToken)
})

test('a tab in dollars of a payer without another protocol has no way for a top-up, and says so', async () => {
  await expect(triedFor(usdt, [])).rejects.toMatchObject({ name: 'QuoteRefused', problem: 'other_mint' })
})

test('a shortage is reported in preference to a mint that is not offered, and stops no other way', async () => {
  const otherMint = () => new QuoteRefused(quoteProblem('other_mint', 'not this one'), undefined)
  const shortage = Object.create(InsufficientFunds.prototype)
  for (const errors of [
    [otherMint(), shortage, otherMint()],
    [shortage, otherMint(), otherMint()],
  ])
    await expect(triedFor(undefined, ['x402', 'mpp'], (way) => errors[way])).rejects.toBe(shortage)
})

test('a deposit is on record before the caller learns of it, so that an error of the caller loses no deposit', async () => {
  const written: unknown[] = []
  const payer = {
    pins: { expectedMint: token },
    dollarMints: [],
    protocols: [],
    open: {},
    clock: { nowMs: () => 7 },
    tabs: { write: (record: unknown) => Promise.resolve(written.push(record)) },
    onEvent: () => Promise.reject(new Error('the disk is full')),
  }
  const pay = async (buyer: Payer) => {
    await buyer.onEvent({ kind: 'signed', payment: Object.assign(Object.create(null), { signature: 'signed' }) })
  }
  const record = { service: 'https://api.example', depositUsd: 1, idempotencyKey: 'k', isClosed: false }
  const question = { service: record.service, option: {}, signal: new AbortController().signal, pay }
  const given = [payer, question, { record, order: {} }] as unknown as Parameters<typeof buyDeposit>
  await expect(buyDeposit(...given)).rejects.toThrow('the disk is full')
  expect(written).toEqual([{ ...record, deposit: { signature: 'signed', signedAtMs: 7 } }])
})
