import { Keypair } from '@solana/web3.js'
import { beforeEach, expect, test } from 'vitest'
import { type Address, readAddress } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { openCheckpoint, readVerifierKey } from '@tollbook/core/checkpoint'
import { sha256 } from '@tollbook/core/digest'
import { tokenAccountOf } from '../../src/chain/walletTerms.ts'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { silentLog } from '../../src/machine/log.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { publicReceiptKey } from '../../src/settings/receiptKeys.ts'
import { type ChangeableSetting, decideSettingChange } from '../../src/settings/settingChange.ts'
import { periodsOf } from '../../src/settings/settingPeriods.ts'
import type { PaymentTerms } from '../../src/payment/settlement.ts'
import { openReceiptKeys } from '../../src/start/ledger/openReceiptKeys.ts'
import { openSettings, type LedgerSettingsPart, type RecordedConfig } from '../../src/start/ledger/openSettings.ts'
import type { Ledger } from '../../src/store/openLedger.ts'
import { openSettingChanges } from '../../src/store/settingChanges.ts'
import type { Json } from '@tollbook/core/canonicalJson'
import { openInstance } from '../store/instance.ts'
import { afterFile } from '../support/afterFile.ts'
import { createTestDatabase } from '../support/database.ts'
import { makeMemberLogin } from '../support/memberLogin.ts'
import { type ShiftedClock, shiftedClock } from '../support/shiftedClock.ts'
import type { TestDatabase } from '../support/testDatabase.ts'

let database: TestDatabase
let ledger: Ledger
let clock: ShiftedClock

beforeEach(async () => {
  database = await createTestDatabase()
  ledger = await openInstance(database.serviceUrl)
  clock = shiftedClock()
})

const minuteMs = 60_000
const [key, nextKey] = [makeReceiptKey(), makeReceiptKey()]
const wallet = newAddress()

function newAddress(): Address {
  return assertPresent(readAddress(Keypair.generate().publicKey.toBase58()), 'a key is an address')
}

const program = assertPresent(readAddress('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'), 'a program is an address')
const baseTerms = { mint: newAddress(), decimals: 6, tokenProgram: program, network: 'solana:test' }

function termsOf(paymentWallet: Address, mint = baseTerms.mint): PaymentTerms {
  const terms = { ...baseTerms, mint, paymentWallet, paymentTokenAccount: paymentWallet }
  return { ...terms, paymentTokenAccount: tokenAccountOf(terms, paymentWallet) }
}

const dollarRules = { symbol: 'XUSD', minimumMicroUsd: 1n, burn: 'token', rails: ['x402'] } as const

// The settings close two minutes before their end: the longest wait, and a minute between the clocks.
const config: RecordedConfig = {
  receiptSigningKey: key,
  catalog: { split: defaultSplit },
  seal: { origin: undefined },
  tabs: { wallet: undefined },
  sale: { claimLeaseMs: minuteMs, quoteTtlMs: 0, quoteGraceMs: 0 },
}

/** One instance of the service, before it records anything. */
async function open(
  changed: Partial<RecordedConfig> = {},
  terms = termsOf(wallet),
  dollarTerms: readonly PaymentTerms[] = [],
): Promise<LedgerSettingsPart> {
  const { settings } = ledger
  const dollars = dollarTerms.map((each) => ({ ...dollarRules, terms: each }))
  const deps = { clock, log: silentLog, ledger: { settings }, terms, dollars }
  const part = await openSettings({ ...config, ...changed }, deps)
  afterFile(() => part.close())
  return part
}

/** The operator's change, with 5 minutes before it and 10 minutes of overlap. */
async function change(name: ChangeableSetting, value: Json): Promise<void> {
  const operator = await openSettingChanges({
    databaseUrl: await makeMemberLogin(database.adminUrl, 'tollbook_operator'),
    log: silentLog,
  })
  try {
    const nowMs = await operator.nowMs()
    const periods = periodsOf((await operator.versions([name])).get(name) ?? [])
    const validFromMs = nowMs + 5 * minuteMs
    const verdict = decideSettingChange(periods, { name, value, validFromMs, overlapMs: 10 * minuteMs, nowMs })
    if (verdict.verdict !== 'change') throw new Error(`${name} is ${verdict.verdict}`)
    await operator.change(verdict.decision)
  } finally {
    await operator.close()
  }
}

async function pass(minutes: number, ...parts: readonly LedgerSettingsPart[]): Promise<void> {
  clock.advance(minutes * minuteMs)
  for (const part of parts) await part.refresh()
}

test('of two instances that start together with different settings one is refused, and neither changes what is on record', async () => {
  const parts = await Promise.all([open(), open({}, termsOf(newAddress()))])
  const outcomes = await Promise.allSettled(parts.map((part) => part.record()))
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect((await ledger.settings.versions(['payment-wallet'])).get('payment-wallet')).toHaveLength(1)
})

test('while a key is rotated, the incoming instance waits for its time and the outgoing one closes before its end', async () => {
  const outgoing = await open()
  await outgoing.record()
  await change('receipt-key', publicReceiptKey.parse(nextKey))
  const incoming = await open({ receiptSigningKey: nextKey })
  await pass(0, outgoing)
  const problems = () => [outgoing, incoming].map(({ check }) => check.problem())
  expect(problems()).toEqual([undefined, expect.stringContaining('takes effect at')])
  await pass(6, outgoing, incoming)
  expect(problems()).toEqual([undefined, undefined])
  await expect(open({ receiptSigningKey: makeReceiptKey() })).rejects.toThrow('npx tollbook key rotate')
  await open()
  await pass(7.5, outgoing, incoming)
  expect(problems()).toEqual([expect.stringMatching(/accepted only until/), undefined])
  await pass(2, outgoing, incoming)
  expect(problems()).toEqual([expect.stringMatching(/is not the receipt-key of the ledger/), undefined])
  await expect(open()).rejects.toThrow(/recorded: .*\(receipt-key#2, event 8\)/)
})

test('a key signs checkpoints of its period only, and the keys of all periods are published', async () => {
  const outgoing = await open()
  await outgoing.record()
  await change('receipt-key', publicReceiptKey.parse(nextKey))
  const incoming = await open({ receiptSigningKey: nextKey })
  await outgoing.refresh()
  const { priceLists } = ledger
  const keys = openReceiptKeys(key, { clock, settings: outgoing, priceLists })
  const next = openReceiptKeys(nextKey, { clock, settings: incoming, priceLists })
  const tree = { size: 1, root: sha256('root') }
  const note = keys.signCheckpoint(tree)
  expect(() => next.signCheckpoint(tree)).toThrow('signs no checkpoint')
  await pass(6, outgoing, incoming)
  const nextNote = next.signCheckpoint(tree)
  const verifiers = next.verifierKeys().map((text) => assertPresent(readVerifierKey(text), 'a key is listed'))
  const opened = [nextNote, note].map((text, index) =>
    openCheckpoint(text, assertPresent(verifiers[index], 'two keys')),
  )
  expect(opened).toEqual([
    { origin: `tollbook/${wallet}`, ...tree },
    { origin: `tollbook/${wallet}`, ...tree },
  ])
  expect(keys.published()).toEqual(next.published())
  expect(next.published()).toMatchObject({
    keys: [
      { x: nextKey.x, nbf: expect.any(Number) },
      { x: key.x, exp: expect.any(Number) },
    ],
  })
  await pass(9, outgoing, incoming)
  expect(() => keys.signCheckpoint(tree), 'a minute early: the clocks differ').toThrow('signs no checkpoint')
})

test('while a wallet changes, payments to both are accepted, by the time of their block', async () => {
  const outgoing = await open()
  await outgoing.record()
  const newWallet = newAddress()
  await change('payment-wallet', newWallet)
  const incoming = await open({}, termsOf(newWallet))
  await outgoing.refresh()
  const nowMs = clock.nowMs()
  const accepted = (part: LedgerSettingsPart, minutes: number) =>
    part.acceptedTerms(nowMs + minutes * minuteMs).map(({ paymentWallet }) => paymentWallet)
  expect(accepted(outgoing, -1)).toEqual([wallet])
  expect(accepted(outgoing, 6)).toEqual([wallet, newWallet])
  expect(accepted(incoming, 6), 'its own first').toEqual([newWallet, wallet])
  expect(accepted(incoming, 16)).toEqual([newWallet])
  expect(incoming.allTerms()).toEqual([termsOf(newWallet), { ...termsOf(wallet) }])
  expect(incoming.origin, 'the log keeps its name').toBe(outgoing.origin)
})

test('the wallet of a dollar is on record from the first start, also where it is the payment wallet', async () => {
  const [one, other, ownWallet] = [newAddress(), newAddress(), newAddress()]
  const dollars = [termsOf(wallet, one), termsOf(ownWallet, other)]
  const part = await open({}, termsOf(wallet), dollars)
  await part.record()
  const names = [`payment-wallet/${one}`, `payment-wallet/${other}`]
  const versions = await ledger.settings.versions(names)
  expect(names.map((name) => versions.get(name)?.map(({ event }) => event.value))).toEqual([[wallet], [ownWallet]])
  const mistaken = open({}, termsOf(wallet), [termsOf(ownWallet, one)])
  await expect(mistaken).rejects.toThrow(`npx tollbook wallet change --mint ${one} ${ownWallet}`)
  await expect(mistaken).rejects.toThrow(`wallet= of CURRENCIES (setting payment-wallet/${one})`)
  // Another dollar may come later. Its first value is recorded then.
  await (await open({}, termsOf(wallet), [...dollars, termsOf(ownWallet, newAddress())])).record()
})

test('each mint is accepted in the wallet of its time, and every wallet is searched for every mint', async () => {
  const [dollar, dollarWallet, newWallet] = [newAddress(), newAddress(), newAddress()]
  const outgoing = await open({}, termsOf(wallet), [termsOf(dollarWallet, dollar)])
  await outgoing.record()
  await change(`payment-wallet/${dollar}`, newWallet)
  const incoming = await open({}, termsOf(wallet), [termsOf(newWallet, dollar)])
  await outgoing.refresh()
  const nowMs = clock.nowMs()
  const accepted = (part: LedgerSettingsPart, minutes: number) =>
    [baseTerms.mint, dollar].map((mint) =>
      part.acceptedTerms(nowMs + minutes * minuteMs, mint).map(({ paymentWallet }) => paymentWallet),
    )
  expect(accepted(outgoing, -1)).toEqual([[wallet], [dollarWallet]])
  expect(accepted(outgoing, 6)).toEqual([[wallet], [dollarWallet, newWallet]])
  expect(accepted(incoming, 6), 'its own first').toEqual([[wallet], [newWallet, dollarWallet]])
  expect(accepted(incoming, 16)).toEqual([[wallet], [newWallet]])
  expect(incoming.check.problem()).toContain('wallet= of CURRENCIES takes effect at')
  const every = [baseTerms.mint, dollar].flatMap((mint) =>
    [wallet, dollarWallet, newWallet].map((own) => termsOf(own, mint)),
  )
  expect(new Set(incoming.allTerms().map(textOf))).toEqual(new Set(every.map(textOf)))
  expect(incoming.allTerms()).toHaveLength(6)
})

test('a dollar that CURRENCIES no longer has is still followed, with the terms and the wallets on record', async () => {
  const [dollar, dollarWallet] = [newAddress(), newAddress()]
  const before = await open({}, termsOf(wallet), [termsOf(dollarWallet, dollar)])
  await before.record()
  expect(before.formerTerms(dollar)).toBeUndefined()
  const part = await open()
  expect(part.formerTerms(dollar)).toEqual(termsOf(dollarWallet, dollar))
  expect(part.formerTerms(newAddress())).toBeUndefined()
  expect(part.acceptedTerms(clock.nowMs(), dollar)).toEqual([termsOf(dollarWallet, dollar)])
  const wallets = [wallet, dollarWallet]
  expect(part.allTerms()).toEqual(wallets.map((own) => termsOf(own)))
  const every = [...part.allTerms(), ...wallets.map((own) => termsOf(own, dollar))]
  expect(new Set(part.followedTerms().map(textOf))).toEqual(new Set(every.map(textOf)))
})

const textOf = ({ mint, paymentWallet, paymentTokenAccount }: PaymentTerms) =>
  `${mint} ${paymentWallet} ${paymentTokenAccount}`

test('the name of the log is the first event on record, so every checkpoint is signed with it, and another name is refused', async () => {
  const origin = 'example.com/ledger'
  const part = await open({ seal: { origin } })
  await part.record()
  const recorded = (await ledger.settings.versions(['origin'])).get('origin')
  expect(recorded).toMatchObject([{ position: 1, event: { value: origin } }])
  expect((await open()).origin).toBe(origin)
  await expect(open({ seal: { origin: 'example.com/other' } })).rejects.toThrow(
    /LEDGER_ORIGIN[^]*keeps its first value/,
  )
  await expect(open({}, termsOf(wallet, newAddress()))).rejects.toThrow(/TOKEN_MINT[^]*keeps its first value/)
})

test('an instance that cannot read the settings closes before a change could take effect', async () => {
  const part = await open()
  await part.record()
  clock.advance(46_000)
  expect(part.check.problem()).toContain('have not been read')
  await part.refresh()
  expect(part.check.problem()).toBeUndefined()
})
