import { assertPresent } from '@tollbook/core/assert'
import type { Item } from '@tollbook/ledger/item'
import * as sample from './sampleItems.ts'
import { closeTab, creditTab, debitTab, newTab, openTab } from './tab.ts'

/** Numbers from 0 to 1 that a seed repeats (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const known = 12

/** Items of few streams, so that most of them meet; about half of them are not allowed. */
export function arbitraryItems(random: () => number): () => Item {
  const pick = <T>(values: readonly T[]): T =>
    assertPresent(values[Math.floor(random() * values.length)], 'there is something to pick from')
  const number = (below: number) => Math.floor(random() * below)
  let payments: Uint8Array[] = []
  let tabs: Uint8Array[] = []
  // New streams replace old ones, so that each state of a lifecycle keeps being visited.
  const payment = () => {
    if (payments.length < known || random() < 0.1) payments = [...payments.slice(-known), sample.newSignature()]
    return pick(payments)
  }
  const tab = () => {
    if (tabs.length < 4 || random() < 0.02) tabs = [...tabs.slice(-3), newTab()]
    return pick(tabs)
  }
  const sum = () => ({ price: BigInt(10 + number(3) * 1000), of: pick([sample.mint, sample.otherMint]) })
  const key = (stream: Uint8Array) => ({
    space: 10,
    key: Uint8Array.of(number(40)),
    digest: stream.subarray(1, 2 + number(2)),
    lifetimeSeconds: 60,
  })
  const makers: readonly (() => Item)[] = [
    () => sample.claim(payment(), sum()),
    () => sample.claim(sample.newSignature(), sum()),
    () => sample.claimWhole(payment(), sum()),
    () => sample.fulfilWhole(payment(), 2 + number(2), sum()),
    () => sample.fulfil(payment(), 3 + number(3), sum()),
    () => sample.fulfil(payment(), 3, sum()),
    () => sample.release(payment(), 3 + number(3), sum()),
    () => sample.finalize(payment(), 4 + number(2)),
    () => sample.refund(payment(), 5 + number(2), sum()),
    () => sample.reverse(payment(), 4 + number(3), sum()),
    () => {
      const stream = payment()
      return { ...sample.claim(stream, sum()), keys: [key(stream)] }
    },
    () => openTab(tab(), { deposit: BigInt(1000 * (1 + number(5))), of: sample.mint }),
    () => debitTab(tab(), { number: number(400), price: BigInt(1 + number(900)), tabVersion: 1 + number(1.2) }),
    () => debitTab(tab(), { number: number(400), price: BigInt(1 + number(900)) }),
    () => creditTab(tab(), { number: number(400), price: BigInt(1 + number(500)) }),
    () =>
      random() < 0.1
        ? closeTab(tab(), { deposit: BigInt(number(300)) })
        : debitTab(tab(), { number: number(400), price: 1n }),
    () => sample.priceList(1 + number(8), number(3)),
    // Wrong on purpose.
    () => ({ ...sample.claim(payment(), sum()), step: 'payment.fulfil' }),
    () => ({ ...sample.claim(payment(), sum()), step: 'no.such.step' }),
    () => ({ ...sample.claim(sample.newSignature().subarray(0, 60), sum()) }),
    () => ({ ...sample.claim(Uint8Array.of(2, ...sample.newSignature().subarray(1)), sum()) }),
    () => withoutLease(sample.claim(sample.newSignature(), sum())),
    () => ({ ...sample.finalize(payment(), 4), leaseMs: 5 }),
    () => ({ ...sample.claim(payment(), sum()), expectedVersion: number(6) }),
    () => moving(sample.move('Assets:PaymentWallet', 'Liabilities:Share:provider', 5n)),
    () => moving(sample.move('Assets:PaymentWallet', 'Liabilities:Unearned', 0n)),
    () => moving(sample.move('Assets:PaymentWallet', 'Liabilities:Unearned', -5n)),
    () => moving(sample.move('Assets:PaymentWallet', 'No:Such:Account', 5n)),
    () => ({ ...sample.priceList(1), step: 'setting.change' }),
    () => ({ ...sample.priceList(1), stream: sample.settingId('prices#x') }),
    () => ({ ...sample.priceList(2), stream: sample.settingId('prices#999'), guards: [] }),
    () => ({
      stream: sample.newSignature(),
      step: 'payout.record',
      expectedVersion: 0,
      events: [sample.event('DistributionPaid')],
    }),
  ]
  return () => pick(makers)()
}

function withoutLease({ stream, step, expectedVersion, events }: Item): Item {
  return { stream, step, expectedVersion, events }
}

function moving(posting: ReturnType<typeof sample.move>): Item {
  const item = sample.claim(sample.newSignature())
  const [, ...rest] = item.events
  return { ...item, events: [sample.event('PaymentVerified', posting), ...rest] }
}
