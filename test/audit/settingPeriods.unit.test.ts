import { describe, expect, test } from 'vitest'
import { CheckpointKeys, type SignatureFigures } from '@tollbook/audit/checkpointKeys'
import { readCheckpoint, verifierKeyOf } from '@tollbook/audit/checkpointNote'
import { Checkpoints } from '@tollbook/audit/checkpoints'
import { RecordedWallets } from '@tollbook/audit/recordedWallets'
import { assertPresent } from '@tollbook/core/assert'
import { signCheckpoint } from '@tollbook/core/checkpoint'
import type { Json } from '@tollbook/core/canonicalJson'
import { isoTime } from '@tollbook/core/clock'
import { ed25519Signer } from '@tollbook/core/ed25519'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { sampleAddress } from '../store/samplePayment.ts'
import { blockTimeMs, price, ReplayedLedger, split } from './replayedLedger.ts'

/* Settings of the ledger by period: an announced change leaves no findings, a silent one does. */

const hourMs = 3_600_000
const origin = 'tollbook/periods'
const [one, two] = [ed25519Signer(makeReceiptKey()), ed25519Signer(makeReceiptKey())]

type Key = typeof one

// The last of 43 characters has two bits that no byte of the key uses.
const spelling = Buffer.from(one.publicKey).toString('base64url')
const respelled = spelling.slice(0, -1) + String.fromCharCode(spelling.charCodeAt(42) + 1)

/** The setting with this number, in force this many hours after the first event. */
function record(ledger: ReplayedLedger, name: string, given: { number: number; hours: number; value: Json }) {
  const { number, hours, value } = given
  const atMs = blockTimeMs + hours * hourMs
  return ledger.append(`${name}#${number}`, ['SettingChanged', { name, number, validFrom: isoTime(atMs), value }, atMs])
}

function keyValue(key: Key, overlap: { readonly previousUntil?: string } = {}) {
  return { crv: 'Ed25519', kty: 'OKP', x: Buffer.from(key.publicKey).toString('base64url'), ...overlap }
}

/** The second key is in force from the second hour on, and the first one is accepted for another hour. */
function rotated(): ReplayedLedger {
  const ledger = record(new ReplayedLedger(), 'receipt-key', { number: 1, hours: 0, value: keyValue(one) })
  const previousUntil = isoTime(blockTimeMs + 3 * hourMs)
  return record(ledger, 'receipt-key', { number: 2, hours: 2, value: keyValue(two, { previousUntil }) })
}

describe('checkpoints of a ledger that changes its receipt key', () => {
  interface Signing {
    readonly by: Key
    readonly size: number
    readonly hours: number
    readonly origin?: string
  }

  function judge(ledger: ReplayedLedger, signings: readonly Signing[], given: readonly Key[] = [one]) {
    const { findings, periods, state } = ledger.replay
    const keys = given.map(({ publicKey }) => verifierKeyOf(origin, publicKey))
    const checkpoints = new CheckpointKeys({ findings, periods, state, given: keys })
    for (const { by, size, hours, origin: log = origin } of signings) {
      const note = readCheckpoint(signCheckpoint({ origin: log, size, root: Buffer.alloc(32) }, by))
      const recordedAtMs = blockTimeMs + hours * hourMs
      checkpoints.note({ note: assertPresent(note, 'it is one'), size, recordedAtMs, source: 'it' })
    }
    const figures: SignatureFigures = checkpoints.finish()
    return { ...figures, codes: ledger.codes() }
  }

  const handover: readonly Signing[] = [
    { by: one, size: 1, hours: 0 },
    { by: one, size: 2, hours: 1 },
    { by: two, size: 9, hours: 5 },
  ]

  test('an announced key signs in its time, vouched for by the key before it', () => {
    expect(judge(rotated(), handover)).toEqual({ verified: 3, unverified: 0, codes: [] })
  })

  test('the newest key of the auditor vouches for the keys before it', () => {
    expect(judge(rotated(), handover, [two])).toEqual({ verified: 3, unverified: 0, codes: [] })
  })

  test('both keys sign while they overlap, and the new one may sign what was recorded before it', () => {
    const signings = [...handover, { by: one, size: 8, hours: 2.9 }, { by: two, size: 1, hours: 0 }]
    expect(judge(rotated(), signings)).toEqual({ verified: 5, unverified: 0, codes: [] })
  })

  test.each<[string, ReplayedLedger, readonly Signing[], readonly Key[]]>([
    [
      'a silent change',
      record(new ReplayedLedger(), 'receipt-key', { number: 1, hours: 0, value: keyValue(one) }),
      handover,
      [one],
    ],
    [
      'a silent change, even without a key of the auditor',
      record(new ReplayedLedger(), 'receipt-key', { number: 1, hours: 0, value: keyValue(one) }),
      handover,
      [],
    ],
    ['a key that signs after its time', rotated(), [...handover, { by: one, size: 10, hours: 3 }], [one]],
    ['a new key that the old one never vouched for', rotated(), handover.toSpliced(1, 1), [one]],
    [
      'another log',
      record(rotated(), 'origin', { number: 1, hours: 2, value: origin }),
      handover.map((signing) => ({ ...signing, origin: 'tollbook/other' })),
      [],
    ],
  ])('%s is found', (_, ledger, signings, given) => {
    expect(judge(ledger, signings, given).codes).toContain('checkpoint_signature_wrong')
  })

  test('without a key of the auditor the signatures hold and are not trusted', () => {
    expect(judge(rotated(), handover, [])).toEqual({ verified: 0, unverified: 3, codes: [] })
  })

  test('a key that was vouched for before the end of a resume file is trusted after it', () => {
    const ledger = rotated()
    expect(judge(ledger, handover.slice(0, 2))).toEqual({ verified: 2, unverified: 0, codes: [] })
    expect(judge(ledger, handover.slice(2))).toEqual({ verified: 1, unverified: 0, codes: [] })
  })

  test('a recorded key with the key id of the auditor, but not the key, is not trusted', () => {
    const ledger = record(new ReplayedLedger(), 'receipt-key', { number: 1, hours: 0, value: keyValue(two) })
    const { findings, periods, state } = ledger.replay
    const given = { ...verifierKeyOf(origin, one.publicKey), keyId: verifierKeyOf(origin, two.publicKey).keyId }
    const checkpoints = new CheckpointKeys({ findings, periods, state, given: [given] })
    const note = readCheckpoint(signCheckpoint({ origin, size: 1, root: Buffer.alloc(32) }, two))
    const recordedAtMs = blockTimeMs
    checkpoints.note({ note: assertPresent(note, 'it is one'), size: 1, recordedAtMs, source: 'it' })
    expect(checkpoints.finish().verified).toBe(0)
    expect(ledger.codes()).toEqual(['checkpoint_signature_wrong'])
  })

  test('without any key no checkpoint is accused, however many there are', () => {
    const { findings, periods, state } = new ReplayedLedger().replay
    const checkpoints = new CheckpointKeys({ findings, periods, state, given: [] })
    const note = readCheckpoint(signCheckpoint({ origin, size: 1, root: Buffer.alloc(32) }, one))
    const checkpoint = { note: assertPresent(note, 'it is one'), size: 1, recordedAtMs: blockTimeMs, source: 'it' }
    for (let count = 0; count < 100_001; count++) checkpoints.note(checkpoint)
    expect(checkpoints.finish()).toEqual({ verified: 0, unverified: 100_001 })
    expect(findings.all()).toEqual([])
  })

  test('a key that no event names counts when the auditor gave it', () => {
    expect(judge(new ReplayedLedger(), handover, [one, two])).toEqual({ verified: 3, unverified: 0, codes: [] })
  })
})

test('a checkpoint in the database that covers more events than there are is found, on any page', async () => {
  const { findings, periods, state, tree } = new ReplayedLedger().replay
  const stated = (size: number) => ({ size, root: Buffer.alloc(32), note: 'none', source: 'it' })
  const pages = [[stated(5)], [stated(9)], []]
  const afters: number[] = []
  const stored = (after: number) => {
    afters.push(after)
    return Promise.resolve(pages[afters.length - 1] ?? [])
  }
  await new Checkpoints({ findings, periods, state, given: [], roots: [stated(7)], stored }).finish(tree, 0)
  expect(findings.all().map(({ code, subject }) => [code, subject])).toEqual(
    [5, 7, 9].map((size) => ['tree_too_small', `checkpoint ${size}`]),
  )
  expect(afters).toEqual([0, 5, 9])
})

describe('the wallets of a payment', () => {
  const [first, second] = [sampleAddress(), sampleAddress()]
  const previousUntil = isoTime(blockTimeMs + 3 * hourMs)

  function wallets(given?: string) {
    const ledger = record(new ReplayedLedger(), 'payment-wallet', { number: 1, hours: 1, value: first })
    record(ledger, 'payment-wallet', { number: 2, hours: 2, value: { previousUntil, wallet: second } })
    return { ledger, wallets: new RecordedWallets(ledger.replay.periods, given) }
  }

  test.each([
    [0, [first], [first]],
    [1.5, [first], [first]],
    // Block times may differ from the clock of the service by five minutes.
    [1.95, [second, first], [second, first]],
    [2.5, [second, first], [second, first]],
    [3, [second], [second, first]],
  ] as const)('in hour %d', (hours, accepted, paying) => {
    const atMs = blockTimeMs + hours * hourMs
    expect(wallets().wallets.acceptedAt(price.mint, atMs)).toEqual(accepted)
    expect(wallets().wallets.payingAt(atMs)).toEqual(paying)
  })

  test('a dollar is paid to its own wallet, and paid out of every wallet', () => {
    const { ledger, wallets: known } = wallets()
    const [dollar, third] = [sampleAddress(), sampleAddress()]
    record(ledger, `payment-wallet/${dollar}`, { number: 1, hours: 1, value: third })
    const atMs = blockTimeMs + 4 * hourMs
    expect([dollar, price.mint].map((mint) => known.acceptedAt(mint, atMs))).toEqual([[third], [second]])
    expect([known.payingAt(atMs), known.all()]).toEqual([
      [third, second, first],
      [third, second, first],
    ])
    const value = { previousUntil, wallet: first }
    record(ledger, `payment-wallet/${dollar}`, { number: 2, hours: 2, value })
    expect(known.acceptedAt(dollar, blockTimeMs + 2.5 * hourMs)).toEqual([first, third])
    expect(ledger.codes()).toEqual([])
  })

  test('a deposit is paid to any wallet for tabs', () => {
    const { ledger, wallets: known } = wallets()
    const [third, fourth] = [sampleAddress(), sampleAddress()]
    record(ledger, 'tab-wallet', { number: 1, hours: 1, value: third })
    record(ledger, 'tab-wallet', { number: 2, hours: 2, value: { previousUntil, wallet: fourth } })
    expect(known.acceptedAt(price.mint, blockTimeMs + 4 * hourMs)).toEqual([second, third, fourth])
  })

  test('the wallet that the auditor names has to be on record', () => {
    for (const given of [first, second, sampleAddress()]) {
      const { ledger, wallets: known } = wallets(given)
      known.judgeGiven(ledger.replay.findings)
      expect(ledger.codes()).toEqual([first, second].includes(given) ? [] : ['setting_wrong'])
    }
  })

  test('without an event they are the one that the auditor names', () => {
    const { periods } = new ReplayedLedger().replay
    expect(new RecordedWallets(periods, second).acceptedAt(price.mint, 0)).toEqual([second])
    expect(() => new RecordedWallets(periods, undefined).all()).toThrow('--payment-wallet')
  })
})

describe('the split of a price list', () => {
  const other = split.map((entry) => ({
    ...entry,
    perMille: { provider: 400, holders: 250 }[entry.account] ?? entry.perMille,
  }))
  const otherPrice = {
    ...price,
    shares: price.shares.map((share) => {
      return { ...share, baseUnits: { provider: '4000000', holders: '2500000' }[share.account] ?? share.baseUnits }
    }),
  }

  function publish(ledger: ReplayedLedger, number: number, shares: typeof split): ReplayedLedger {
    const prices = [shares === split ? price : otherPrice]
    return ledger.append(`prices#${number}`, ['PriceListPublished', { source: 'fixed', split: shares, prices }])
  }

  function changed(announced: boolean): ReplayedLedger {
    // A list may come before the first setting.
    const ledger = record(publish(new ReplayedLedger(), 1, split), 'split', { number: 1, hours: 0, value: split })
    publish(ledger, 2, split).wait(2 * hourMs)
    const value = { previousUntil: isoTime(blockTimeMs + 3 * hourMs), shares: other }
    if (announced) record(ledger, 'split', { number: 2, hours: 2, value })
    return publish(publish(ledger, 3, other).wait(hourMs), 4, other)
  }

  test('is the one on record for its time', () => {
    expect(changed(true).findings()).toEqual([])
  })

  test('is found when a list continues with the split before after its time', () => {
    const ledger = record(publish(new ReplayedLedger(), 1, split), 'split', { number: 1, hours: 0, value: split })
    const value = { previousUntil: isoTime(blockTimeMs + 3 * hourMs), shares: other }
    record(ledger, 'split', { number: 2, hours: 2, value })
    expect(publish(ledger.wait(4 * hourMs), 2, split).findings()).toEqual([['split_wrong', 4]])
  })

  test('may be the one before for five minutes after its time, because clocks differ', () => {
    const list = (waitMs: number) => {
      const ledger = record(publish(new ReplayedLedger(), 1, split), 'split', { number: 1, hours: 0, value: split })
      const value = { previousUntil: isoTime(blockTimeMs + 3 * hourMs), shares: other }
      record(ledger, 'split', { number: 2, hours: 2, value })
      // Four events were recorded, a second after one another.
      return publish(ledger.wait(3 * hourMs - 4_000 + waitMs), 2, split).codes()
    }
    expect(list(299_999)).toEqual([])
    expect(list(300_000)).toEqual(['split_wrong'])
  })

  test('is found when it was changed in silence, and when the split before is used after its time', () => {
    expect(changed(false).findings()).toEqual([['split_wrong', 4]])
    expect(publish(changed(true).wait(hourMs), 5, split).codes()).toEqual(['split_wrong'])
  })
})

test.each([
  ['a mint', 'mint/So11111111111111111111111111111111111111112', { decimals: 6, tokenProgram: sampleAddress() }],
  ['the network', 'network', 'solana:devnet'],
  ['the origin', 'origin', origin],
  ['the token', 'token-mint', sampleAddress()],
])('%s never changes', (_, name, value) => {
  const ledger = record(new ReplayedLedger(), name, { number: 1, hours: 0, value })
  expect(ledger.codes()).toEqual([])
  expect(record(ledger, name, { number: 2, hours: 1, value }).codes()).toEqual(['setting_wrong'])
})

test.each([
  ['a wallet that is not an address', 'payment-wallet', { number: 1, hours: 1, value: 'wallet' }],
  ['a wallet of a dollar that is not an address', 'payment-wallet/mint', { number: 1, hours: 1, value: 'wallet' }],
  ['a key that is not one', 'receipt-key', { number: 1, hours: 1, value: { x: 'abc' } }],
  ['another spelling of a key', 'receipt-key', { number: 3, hours: 4, value: { ...keyValue(one), x: respelled } }],
  ['a key that is used again', 'receipt-key', { number: 3, hours: 4, value: keyValue(one) }],
  [
    'a key that is in force before the key in front of it',
    'receipt-key',
    { number: 3, hours: 1, value: keyValue(two) },
  ],
  [
    'an overlap that ends before it begins',
    'receipt-key',
    { number: 3, hours: 4, value: keyValue(two, { previousUntil: isoTime(blockTimeMs) }) },
  ],
] as const)('%s is found', (_, name, given) => {
  expect(record(given.number === 1 ? new ReplayedLedger() : rotated(), name, given).codes()).toContain('setting_wrong')
})
