import { expect, test } from 'vitest'
import { isoTime } from '@tollbook/core/clock'
import type { Json } from '@tollbook/core/canonicalJson'
import {
  configuredSettings,
  differenceFrom,
  differencesText,
  standingProblem,
} from '../../src/settings/configuredSettings.ts'
import { jwkSetOf, receiptKeyId } from '../../src/settings/receiptKeys.ts'
import { decideSettingChange, type SettingChangeQuestion } from '../../src/settings/settingChange.ts'
import {
  periodInForce,
  periodsOf,
  settingStanding,
  type RecordedSetting,
  walletsOf,
} from '../../src/settings/settingPeriods.ts'
import { mint, otherWallet, wallet } from '../payment/paymentStory.ts'

const minuteMs = 60_000
const startMs = Date.parse('2026-11-22T06:00:00.000Z')
const at = (minutes: number) => startMs + minutes * minuteMs
const isoAt = (minutes: number) => isoTime(at(minutes))

function version(number: number, value: Json, minutes: number): RecordedSetting {
  const event = { kind: 'SettingChanged', name: 'payment-wallet', number, validFrom: isoAt(minutes), value } as const
  return { position: number * 10, event }
}

/** A from the start, B from minute 10 on with A accepted until minute 30. */
const changed = [version(1, 'A', 0), version(2, { wallet: 'B', previousUntil: isoAt(30) }, 10)]

test('a value is accepted from its time until the overlap of the next one ends, and the first one also before its time', () => {
  const periods = periodsOf(changed)
  expect(periods.map(({ value, fromMs, untilMs }) => [value, fromMs, untilMs])).toEqual([
    ['A', -Infinity, at(30)],
    ['B', at(10), Infinity],
  ])
  const inForce = [-5, 0, 10, 31].map((minutes) => periodInForce(periods, at(minutes))?.value)
  expect(inForce).toEqual(['A', 'A', 'B', 'B'])
  expect(periodInForce([], at(0))).toBeUndefined()
})

test('a version without an overlap ends the one before it at its own time, and an overlap is never negative', () => {
  expect(periodsOf([version(1, 'A', 0), version(2, 'B', 10)])[0]?.untilMs).toBe(at(10))
  const early = version(2, { wallet: 'B', previousUntil: isoAt(5) }, 10)
  expect(periodsOf([version(1, 'A', 0), early])[0]?.untilMs).toBe(at(10))
})

test.each([
  ['A', 9, { standing: 'accepted', untilMs: at(30) }],
  ['A', 29.999, { standing: 'accepted', untilMs: at(30) }],
  ['A', 30, { standing: 'differs' }],
  ['B', 9.999, { standing: 'not_yet', fromMs: at(10) }],
  ['B', 10, { standing: 'accepted', untilMs: Infinity }],
  ['C', 10, { standing: 'differs' }],
] as const)('an instance with %s at minute %d stands as %o', (value, minutes, standing) => {
  expect(settingStanding(periodsOf(changed), value, at(minutes))).toMatchObject(standing)
})

test('a value that returns has two periods', () => {
  const returned = [...changed, version(3, { wallet: 'A', previousUntil: isoAt(60) }, 50)]
  const standings = [29, 40, 50].map((minutes) => settingStanding(periodsOf(returned), 'A', at(minutes)).standing)
  expect(standings).toEqual(['accepted', 'not_yet', 'accepted'])
})

test('a value that returns during its own overlap is accepted until the later end', () => {
  const returned = [...changed, version(3, { wallet: 'A', previousUntil: isoAt(60) }, 20)]
  expect(settingStanding(periodsOf(returned), 'A', at(25))).toEqual({ standing: 'accepted', untilMs: Infinity })
  const left = [...returned, version(4, { wallet: 'C', previousUntil: isoAt(90) }, 24)]
  expect(settingStanding(periodsOf(left), 'A', at(25))).toEqual({ standing: 'accepted', untilMs: at(90) })
})

test('an outgoing instance closes before its value ends, an incoming one opens when its value takes effect', () => {
  const setting = { name: 'payment-wallet', value: 'A', variable: 'PAYMENT_WALLET' }
  const problemAt = (value: string, minutes: number) =>
    standingProblem(setting, settingStanding(periodsOf(changed), value, at(minutes)), {
      nowMs: at(minutes),
      closingMs: 7 * minuteMs,
    })
  expect(problemAt('A', 22.9)).toBeUndefined()
  expect(problemAt('A', 23)).toMatch(/accepted only until .*06:30:00.*restart/)
  expect(problemAt('A', 30)).toMatch(/is not the payment-wallet of the ledger/)
  expect(problemAt('B', 9)).toMatch(/takes effect at .*06:10:00/)
  expect(problemAt('B', 10)).toBeUndefined()
})

const base: SettingChangeQuestion = {
  name: 'payment-wallet',
  value: 'C',
  validFromMs: undefined,
  overlapMs: 10 * minuteMs,
  nowMs: at(20) + 1,
}

test('a change has the next number, a lead that running instances notice, whole seconds, and the end of the value before', () => {
  const verdict = decideSettingChange(periodsOf(changed), base)
  expect(verdict).toMatchObject({
    verdict: 'change',
    decision: {
      step: 'setting.change',
      number: 3,
      events: [
        { validFrom: '2026-11-22T06:25:01.000Z', value: { wallet: 'C', previousUntil: '2026-11-22T06:35:01.000Z' } },
      ],
    },
  })
})

test.each([
  ['the newest value again', { value: 'B' }, { verdict: 'recorded' }],
  ['a lead of less than a minute', { validFromMs: at(20) + 59_000 }, { verdict: 'refused' }],
  ['a lead of a minute', { validFromMs: at(20) + 61_000 }, { verdict: 'change' }],
  ['a time 365 days from now', { validFromMs: at(20 + 365 * 24 * 60) }, { verdict: 'change' }],
  ['a time a second later', { validFromMs: at(20 + 365 * 24 * 60) + 1_000 }, { verdict: 'refused' }],
  ['an overlap of 90 days', { overlapMs: 90 * 24 * 60 * minuteMs }, { verdict: 'change' }],
  ['an overlap of a millisecond more', { overlapMs: 90 * 24 * 60 * minuteMs + 1 }, { verdict: 'refused' }],
  ['a wallet that returns', { value: 'A' }, { verdict: 'change' }],
] as const)('%s: %s', (_what, question, outcome) => {
  expect(decideSettingChange(periodsOf(changed), { ...base, ...question })).toMatchObject(outcome)
})

test('a change is refused before the first value, before a change that is scheduled, and to a key of the past', () => {
  expect(decideSettingChange([], base)).toMatchObject({
    verdict: 'refused',
    why: expect.stringContaining('no payment-wallet'),
  })
  const scheduled = periodsOf([version(1, 'A', 0), version(2, { wallet: 'B', previousUntil: isoAt(600) }, 500)])
  expect(decideSettingChange(scheduled, base)).toMatchObject({ verdict: 'refused', why: expect.stringContaining('#2') })
  const [one, two] = ['A', 'B'].map((letter) => ({ kty: 'OKP', crv: 'Ed25519', x: letter.repeat(43) }) as const)
  const keys = [version(1, one ?? '', 0), version(2, { ...two, previousUntil: isoAt(5) }, 5)]
  const periods = periodsOf(keys.map(({ position, event }) => ({ position, event: { ...event, name: 'receipt-key' } })))
  const again = { ...base, name: 'receipt-key', value: one ?? '' } as const
  expect(decideSettingChange(periods, again)).toMatchObject({ verdict: 'refused', why: expect.stringContaining('#1') })
  expect(jwkSetOf(periods)).toEqual({
    keys: [
      { ...two, kid: expect.any(String), alg: 'EdDSA', use: 'sig', nbf: at(5) / 1000 },
      { ...one, kid: expect.any(String), alg: 'EdDSA', use: 'sig', exp: at(5) / 1000 },
    ],
  })
})

test('a split takes effect at once', () => {
  const periods = periodsOf(
    [version(1, [], 0)].map(({ position, event }) => ({ position, event: { ...event, name: 'split' } })),
  )
  const verdict = decideSettingChange(periods, {
    ...base,
    name: 'split',
    value: [{ account: 'burn', perMille: 1_000 }],
  })
  expect(verdict).toMatchObject({ decision: { events: [{ validFrom: isoTime(base.nowMs) }] } })
})

test('the name of a key is its RFC 7638 thumbprint, unless the operator gave it one', () => {
  // The example of RFC 8037, appendix A.3.
  const key = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' } as const
  expect(receiptKeyId(key)).toBe('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k')
  expect(receiptKeyId({ ...key, kid: 'mine' })).toBe('mine')
})

test('another wallet for tabs is refused with the way to stop the sale of tabs', () => {
  const [period] = periodsOf([{ position: 4, event: { ...version(1, 'one', 0).event, name: 'tab-wallet' } }])
  if (period === undefined) throw new Error('one version has one period')
  const text = differencesText([differenceFrom({ name: 'tab-wallet', value: 'two', variable: 'TAB_WALLET' }, period)])
  expect(text).toContain('Set TAB_WALLET back. To change the setting: npx tollbook wallet tabs change two')
  expect(text).not.toContain('another database')
})

test('a setting that keeps its first value is not offered a command', () => {
  const [period] = periodsOf([{ position: 4, event: { ...version(1, 'solana:a', 0).event, name: 'network' } }])
  if (period === undefined) throw new Error('one version has one period')
  const text = differencesText([
    differenceFrom({ name: 'network', value: 'solana:b', variable: 'SOLANA_RPC_URLS' }, period),
  ])
  expect(text).toContain('recorded:   solana:a since 2026-11-22T06:00:00.000Z (network#1, event 4)')
  expect(text).toContain('configured: solana:b')
  expect(text).toContain('keeps its first value')
  expect(text).not.toContain('npx')
})

test('of the wallets on record each is one, the newest first, and the configured one only before the first record', () => {
  const versions = [
    version(1, wallet, 0),
    version(2, otherWallet, 10),
    version(3, mint, 20),
    version(4, otherWallet, 30),
  ]
  expect(walletsOf(periodsOf(versions), wallet)).toEqual([otherWallet, mint, wallet])
  expect(walletsOf([], wallet)).toEqual([wallet])
  expect(walletsOf([], undefined)).toEqual([])
})

test('each dollar has a wallet and decimals on record, and a start names every setting that differs', () => {
  const terms = {
    mint,
    decimals: 6,
    tokenProgram: otherWallet,
    paymentWallet: wallet,
    paymentTokenAccount: wallet,
    network: 'solana:local',
  }
  const [one, other] = [otherWallet, wallet].map((own, nth) => ({ ...terms, mint: own, decimals: nth }))
  const sources = { receiptKey: { kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(43) }, tabWallet: undefined } as const
  const split = [{ account: 'burn', perMille: 1_000 }]
  const dollars = [one, other].flatMap((dollar) => dollar ?? [])
  const settings = configuredSettings({ ...sources, terms, dollars, split, origin: 'o' })
  expect(settings.map(({ name }) => name).filter((name) => /^mint|^payment/.test(name))).toEqual([
    'payment-wallet',
    `mint/${mint}`,
    `mint/${otherWallet}`,
    `payment-wallet/${otherWallet}`,
    `mint/${wallet}`,
    `payment-wallet/${wallet}`,
  ])
  const differences = settings.slice(0, 3).map((setting, nth) => {
    const event = { ...version(1, 'recorded', nth).event, name: setting.name }
    const [period] = periodsOf([{ position: nth + 1, event }])
    if (period === undefined) throw new Error('one version has one period')
    return differenceFrom(setting, period)
  })
  const text = differencesText(differences)
  for (const { variable } of settings.slice(0, 3)) expect(text).toContain(`  ${variable} (setting `)
  expect(text).toContain('3 settings of the ledger differ from')
})

test.each([
  ['receipt-key', { kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(43) }, `key rotate ${'A'.repeat(43)}`],
  ['payment-wallet', wallet, `wallet change ${wallet}`],
  [`payment-wallet/${mint}`, wallet, `wallet change --mint ${mint} ${wallet}`],
  ['tab-wallet', wallet, `wallet tabs change ${wallet}`],
  [
    'split',
    [
      { account: 'burn', perMille: 995 },
      { account: 'provider', perMille: 5 },
    ],
    'split change burn:99.5,provider:0.5',
  ],
] as const)('a difference of %s names the command that changes it', (name, value, command) => {
  const [period] = periodsOf([{ position: 4, event: { ...version(1, 'recorded', 0).event, name } }])
  if (period === undefined) throw new Error('one version has one period')
  const text = differencesText([differenceFrom({ name, value, variable: 'THE_VARIABLE' }, period)])
  expect(text).toContain(`Set THE_VARIABLE back. To change the setting: npx tollbook ${command}`)
})
