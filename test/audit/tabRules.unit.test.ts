import { describe, expect, test } from 'vitest'
import { tabsOf } from '../../packages/audit/src/kinds/tabs.ts'
import { assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import { isoTime } from '@tollbook/core/clock'
import { ed25519Signer } from '@tollbook/core/ed25519'
import { debitMessage, tabTermsHash } from '@tollbook/core/tab'
import { readAddress } from '@tollbook/core/address'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { sampleAddress } from '../store/samplePayment.ts'
import {
  blockTimeMs,
  burn,
  dollarPrice,
  type Fields,
  fulfilled,
  listed,
  price,
  required,
  type ReplayedLedger,
  signed,
  wallet,
} from './replayedLedger.ts'
import {
  hourMs,
  endpoint,
  deposit,
  tabOf,
  tab,
  stream,
  depositOf,
  terms,
  buyDeposit,
  openTab,
  captured,
  failed,
  returned,
  debit,
  capture,
  release,
  replaceKeys,
  close,
} from './replayedTab.ts'

/* The rules of the auditor for tabs, on bodies written by hand. */

const { mint, shares } = price

test('a tab that is used as its terms say leaves no finding', () => {
  const ledger = capture()
  expect(ledger.findings()).toEqual([])
  expect(ledger.balances()[`Liabilities:Prepaid:${tab}`]).toBe(-4 * required)
  const again = debit({ attempt: 2, attemptId: 'attempt_2' }, release())
  expect(capture({ attempt: 2 }, again).findings()).toEqual([])
  expect(close().findings()).toEqual([])
})

test('a debit states how often keys of its tab were replaced', () => {
  const twice = replaceKeys(replaceKeys(openTab()))
  expect(debit({ lifecycle: 2, bearerHash: 'cd' }, twice).findings()).toEqual([])
  expect(tabsOf(twice.replay.state).get(tab)?.lifecycle).toBe(2)
})

test.each<readonly [name: string, ledger: () => ReplayedLedger, code: string]>([
  ['in the stream of another number', () => debit({ number: '2' }), 'owner_differs'],
  ['of the second attempt first', () => debit({ attempt: 2 }), 'attempt_wrong'],
  ['of another order than before', () => debit({ attempt: 2, orderDigest: 'cd' }, release()), 'owner_differs'],
  ['of another wallet', () => debit({ wallet: sampleAddress() }), 'owner_differs'],
  ['on another deposit', () => debit({ deposit: `solana:${signed(4)}` }), 'owner_differs'],
  ['on a deposit of another slot', () => debit({ slot: 101 }), 'owner_differs'],
  ['on a deposit of another time', () => debit({ blockTimeMs: blockTimeMs + 1 }), 'owner_differs'],
  ['of a tab that nothing opened', () => debit({}, listed()), 'lifecycle_impossible'],
  ['of a closed tab', () => debit({ lifecycle: 1 }, close()), 'lifecycle_impossible'],
  ['after the end of the tab', () => debit({}, openTab(), blockTimeMs + hourMs + 60_001), 'lifecycle_impossible'],
  [
    'with an older number of its lifecycle',
    () => debit({ bearerHash: 'cd' }, replaceKeys(openTab())),
    'lifecycle_impossible',
  ],
  ['by a bearer key that was replaced', () => debit({ lifecycle: 1 }, replaceKeys(openTab())), 'owner_differs'],
  ['without any key', () => debit({ bearerHash: null }, openTab({ terms: { bearerHash: null } })), 'owner_differs'],
  [
    'of more than a request may cost',
    () => debit({}, openTab({ terms: { maxPerRequestBaseUnits: '9999999' } })),
    'payment_short',
  ],
  ['at a price that its list does not have', () => debit({ priceList: 2 }), 'price_not_published'],
])('a debit %s is found', (_, ledgerOf, code) => {
  expect(ledgerOf().codes()).toContain(code)
})

test('a debit may be recorded a minute after the end of its tab', () => {
  expect(capture({}, debit({}, openTab(), blockTimeMs + hourMs + 60_000)).findings()).toEqual([])
})

const [largest, ...others] = shares
test.each<readonly [name: string, ledger: () => ReplayedLedger, code: string]>([
  ['of another attempt', () => capture({ attempt: 2 }), 'attempt_wrong'],
  ['in another mint', () => capture({ mint: dollarPrice.mint }), 'distribution_differs'],
  ['in other shares', () => capture({ shares: [...others, largest ?? {}] }), 'distribution_differs'],
  ['of less, whose rest stays held', () => capture({ shares: others }), 'refund_differs'],
  ['that returns what it charges', () => capture({ returned: { tab, baseUnits: '1' } }), 'refund_differs'],
  ['whose rest is another tab’s', () => capture({ returned: { tab: tabOf(4), baseUnits: '0' } }), 'owner_differs'],
  [
    'by use of a fixed price',
    () => capture({ usage: { input: 1, output: 1, isEstimated: false } }),
    'distribution_differs',
  ],
  ['of a request that returned its hold', () => capture({}, release()), 'lifecycle_impossible'],
])('a charge %s is found', (_, ledgerOf, code) => {
  expect(ledgerOf().codes()).toContain(code)
})

test('the lease of a debit begins when the debit is recorded', () => {
  const expire = (waitMs: number) => {
    const late = debit({}, openTab().wait(30_000)).wait(waitMs)
    return late.append(
      `${stream}:1`,
      ['RequestFailed', { ...failed, reason: 'lease_expired' }],
      ['TabReturned', returned],
    )
  }
  expect(expire(59_000).findings()).toEqual([])
  expect(expire(58_999).codes()).toContain('lifecycle_impossible')
})

test.each<readonly [name: string, given: Fields, code: string]>([
  ['less than its hold', { baseUnits: '1' }, 'refund_differs'],
  ['to another tab', { tab: tabOf(4) }, 'owner_differs'],
  ['in another mint', { mint: dollarPrice.mint }, 'owner_differs'],
])('a failed request that returns %s is found', (_, given, code) => {
  expect(release(given).codes()).toContain(code)
})

test.each<readonly [name: string, ledger: () => ReplayedLedger, code: string]>([
  ['with another amount than was paid', () => openTab({ opened: { depositBaseUnits: '1' } }), 'distribution_differs'],
  ['of another wallet', () => openTab({ opened: { wallet: sampleAddress() } }), 'owner_differs'],
  ['that opens the tab of another deposit', () => openTab({ opened: { tab: tabOf(4) } }), 'owner_differs'],
])('a deposit %s is found', (_, ledgerOf, code) => {
  expect(ledgerOf().codes()).toContain(code)
})

describe('a second deposit', () => {
  const reference = `solana:${signed(5)}`
  const topUp = (given: Fields, ledger = openTab()) => {
    const fields = { tab, mint, wallet, depositBaseUnits: depositOf(price).requiredBaseUnits, ...given }
    return buyDeposit(ledger, price, reference).append(
      reference,
      ['RequestFulfilled', fulfilled],
      ['TabToppedUp', fields],
    )
  }

  test('raises what is prepaid on the tab', () => {
    const ledger = topUp({})
    expect(ledger.findings()).toEqual([])
    expect(ledger.balances()[`Liabilities:Prepaid:${tab}`]).toBe(-10 * required)
  })

  test('on a tab of another wallet, or on none, is found', () => {
    expect(topUp({ wallet: sampleAddress() }).codes()).toContain('owner_differs')
    expect(topUp({ tab: tabOf(4) }).codes()).toContain('lifecycle_impossible')
  })

  const reversal = (taken: number, spent: number) => {
    const amounts = { unearnedBaseUnits: '0', overpaidBaseUnits: '0', burnOwedBaseUnits: '0' }
    const whole = depositOf(price).requiredBaseUnits
    const reversed = {
      reason: 'absent',
      finalizedSlot: 500,
      wallet,
      endpoint,
      mint,
      exposedBaseUnits: whole,
      ...amounts,
    }
    const takenBack = { tab, mint, takenBackBaseUnits: String(taken), spentBaseUnits: String(spent) }
    return [
      ['PaymentReversed', { ...reversed, lostBaseUnits: whole }],
      ['DepositReversed', takenBack],
    ] as const
  }

  test('that the chain drops is taken back from a closed tab, and what it had bought is a loss of the tab', () => {
    const rest = String(4 * required)
    const ledger = close({ restBaseUnits: rest, by: 'reversal' }, capture()).append(
      deposit,
      ...reversal(0, 5 * required),
    )
    expect(ledger.findings()).toEqual([])
    const owed = (restBaseUnits: string) =>
      topUp({}, ledger).append(stream, ['TabRestOwed', { tab, mint, wallet, restBaseUnits }])
    expect(owed('1').codes()).toContain('refund_differs')
  })

  test('that the chain drops is found on an open tab, and with other amounts than the deposit', () => {
    expect(
      openTab()
        .append(deposit, ...reversal(5 * required, 0))
        .codes(),
    ).toContain('lifecycle_impossible')
    const closed = close({ restBaseUnits: '0', by: 'reversal' })
    expect(closed.append(deposit, ...reversal(5 * required, 1)).codes()).toContain('reversal_differs')
  })

  test('that the chain drops takes nothing back from another tab', () => {
    const prepaid = { mint, wallet, depositBaseUnits: String(5 * required), terms }
    const two = buyDeposit(openTab(), price, reference)
      .append(reference, ['RequestFulfilled', fulfilled], ['TabOpened', { ...prepaid, tab: tabOf(5) }])
      .append(`tab:${tabOf(5)}`, ['TabClosed', { tab: tabOf(5), mint, wallet, restBaseUnits: '0', by: 'wallet' }])
    const [payment, [kind, takenBack]] = reversal(5 * required, 0)
    const ledger = close({ restBaseUnits: '0', by: 'reversal' }, two)
    expect(ledger.append(deposit, payment, [kind, { ...takenBack, tab: tabOf(5) }]).codes()).toEqual(['owner_differs'])
  })

  test('makes up for a loss of its tab, and for no more', () => {
    const lost = close({ restBaseUnits: '0', by: 'reversal' }, capture()).append(
      deposit,
      ...reversal(4 * required, required),
    )
    topUp({}, lost)
    const takeBack = (takenBackBaseUnits: string) =>
      lost.append(stream, ['TabTakenBack', { tab, mint, takenBackBaseUnits }])
    expect(takeBack('1').findings()).toEqual([])
    expect(tabsOf(lost.replay.state).get(tab)?.lostBaseUnits).toBe(BigInt(required - 1))
    expect(takeBack(String(required)).codes()).toContain('reversal_differs')
  })
})

test.each<readonly [name: string, ledger: () => ReplayedLedger, code: string]>([
  [
    'in the stream of another tab',
    () => openTab().append(`tab:${tabOf(4)}`, ['TabKeyReplaced', { tab, sessionKey: null, bearerHash: 'cd' }]),
    'owner_differs',
  ],
  ['of a tab that nothing opened', () => close({}, listed()), 'lifecycle_impossible'],
  ['that ends it before its end', () => close({ by: 'end' }), 'lifecycle_impossible'],
  ['that owes its rest to another wallet', () => close({ wallet: sampleAddress() }), 'owner_differs'],
])('a change of a tab %s is found', (_, ledgerOf, code) => {
  expect(ledgerOf().codes()).toContain(code)
})

test('a tab may be ended at its end', () => {
  expect(close({ by: 'end' }, openTab(), blockTimeMs + hourMs).findings()).toEqual([])
})

describe('a debit that the session key signs', () => {
  const signer = ed25519Signer(makeReceiptKey())
  const sessionKey = encodeBase58(signer.publicKey)
  const origin = 'tollbook/tabs'
  const requestDigest = 'ab'.repeat(32)
  const address = (text: string) => assertPresent(readAddress(text), 'it is an address')

  function signedDebit(given: { origin?: string; max?: number; validUntilMs?: number; number?: bigint } = {}) {
    const { max = required, validUntilMs = blockTimeMs + 1_000, number = 1n } = given
    const binding = { origin: given.origin ?? origin, mint: address(mint), sessionKey: address(sessionKey) }
    const unsigned = { tab, number, maxBaseUnits: BigInt(max), validUntilMs }
    const message = debitMessage(unsigned, tabTermsHash(binding), Buffer.from(requestDigest, 'hex'))
    const signature = Buffer.from(signer.sign(message)).toString('base64url')
    const proof = { sessionKey, maxBaseUnits: String(max), validUntilMs, requestDigest, signature }
    const ledger = openTab({ terms: { sessionKey } })
    const name = { name: 'origin', number: 1, validFrom: isoTime(blockTimeMs), value: origin }
    return (atMs = blockTimeMs, replaced: Fields = {}) =>
      debit(
        { bearerHash: null, signed: { ...proof, ...replaced } },
        ledger.append('origin#1', ['SettingChanged', name]),
        atMs,
      )
  }

  test('is held up to its maximum, and recorded until a minute after its time', () => {
    expect(signedDebit()().findings()).toEqual([])
    expect(signedDebit()(blockTimeMs + 61_000).findings()).toEqual([])
  })

  test.each([
    ['another origin', () => signedDebit({ origin: 'tollbook/other' })(), 'owner_differs'],
    ['another number', () => signedDebit({ number: 2n })(), 'owner_differs'],
    ['another request', () => signedDebit()(blockTimeMs, { requestDigest: 'cd'.repeat(32) }), 'owner_differs'],
    [
      'a session key of another tab',
      () => signedDebit()(blockTimeMs, { sessionKey: sampleAddress() }),
      'owner_differs',
    ],
    ['less than is held', () => signedDebit({ max: required - 1 })(), 'payment_short'],
    ['a time that is over', () => signedDebit()(blockTimeMs + 61_001), 'lifecycle_impossible'],
  ] as const)('for %s is found', (_, ledgerOf, code) => {
    expect(ledgerOf().codes()).toContain(code)
  })
})

describe('a charge by use in dollars', () => {
  const byUse = { endpoint: price.endpoint, inputPerMillionMicroUsd: '1000000', outputPerMillionMicroUsd: '2000000' }
  const half = {
    mint: dollarPrice.mint,
    burnBaseUnits: '0',
    usage: { input: 1_000, output: 2_000, isEstimated: false },
    returned: { tab, baseUnits: '5000' },
    shares: [
      { account: 'provider', baseUnits: '2500' },
      { account: 'holders', baseUnits: '750' },
      { account: 'treasury', baseUnits: '1750' },
    ],
  }
  const owed = (owedBaseUnits: number, given: Fields = {}) => {
    const opening = { of: dollarPrice, metered: [{ ...byUse, minimumMicroUsd: '1' }] }
    const burnOwed = { mint, endpoint: price.endpoint, owedBaseUnits: String(owedBaseUnits), source: 'treasury' }
    return debit({ price: dollarPrice }, openTab(opening)).append(
      `${stream}:1`,
      ['TabCaptured', { ...captured, ...half, ...given }],
      ['BurnOwed', burnOwed],
    )
  }

  test('owes the part of its burn that was used', () => {
    expect(owed(burn / 2).findings()).toEqual([])
    expect(owed(burn).codes()).toContain('burn_owed_mismatch')
  })

  test('of another amount than was used is found', () => {
    const usage = { input: 1_001, output: 2_000, isEstimated: false }
    expect(owed(burn / 2, { usage }).codes()).toContain('distribution_differs')
  })
})
