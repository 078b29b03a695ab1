import { expect, test } from 'vitest'
import { ChainAudit } from '../../packages/audit/src/chainAudit.ts'
import { signaturesPerPage } from '../../packages/audit/src/chainNode.ts'
import { assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import { isoTime } from '@tollbook/core/clock'
import { sampleAddress } from '../store/samplePayment.ts'
import { blockTimeMs, price, served, signed } from './replayedLedger.ts'
import {
  mint,
  tokenProgram,
  former,
  present,
  accountOf,
  hourMs,
  twoWallets,
  landed,
  landedOnBoth,
  nodeOf,
  findingsOf,
} from './auditedChain.ts'

/* The auditor with a node of the test: facts of the chain that the ledger denies, or does not have. */

const burnSubmitted = {
  round: 1,
  mint,
  throughPosition: 5,
  burnBaseUnits: '5',
  parts: [{ endpoint: price.endpoint, baseUnits: '5' }],
  transactionBase64: 'AA==',
}

test('a burn that is recorded as failed and is on chain contradicts the ledger', async () => {
  const signature = signed(9)
  const withFailed = () =>
    served()
      .append(`solana:${signature}`, ['BurnSubmitted', burnSubmitted])
      .append(`solana:${signature}`, ['BurnFailed', { round: 1, mint, reason: 'absent', finalizedSlot: 900 }])
  const chainWith = (err: unknown) => ({
    transactions: new Map([[signature, landed(signature, accountOf(present), -5, err)]]),
  })
  const contradiction = ['transaction_contradicts', signature]
  expect(await findingsOf(withFailed(), chainWith(null), ['BurnFailed'])).toContainEqual(contradiction)
  for (const chain of [{}, chainWith({ InstructionError: [0, 'Custom'] })])
    expect(await findingsOf(withFailed(), chain, ['BurnFailed'])).not.toContainEqual(contradiction)
})

test.each([
  ['the slot', {}, { dropped: 1, pruned: 0, notFinal: 0 }],
  ['later slots only', { firstSlot: 901 }, { dropped: 0, pruned: 1, notFinal: 0 }],
  ['earlier slots only', { finalSlot: 899 }, { dropped: 0, pruned: 0, notFinal: 1 }],
])('a burn is confirmed as failed by a node that lacks it and has %s', async (_, chain, figures) => {
  const ledger = served()
    .append(`solana:${signed(9)}`, ['BurnSubmitted', burnSubmitted])
    .append(`solana:${signed(9)}`, ['BurnFailed', { round: 1, mint, reason: 'absent', finalizedSlot: 900 }])
  const audit = new ChainAudit(nodeOf(chain), ledger.replay, { paymentWallet: present, recordedWithinMs: hourMs })
  for (const [index, read] of ledger.events.entries()) if (read.event.kind === 'BurnFailed') audit.note(read, index + 1)
  await audit.drain()
  expect(audit.figures).toMatchObject(figures)
})

test.each([
  ['in its slot', 950, '7', []],
  ['in another slot', 951, '7', ['it landed in 950, not 951']],
  ['of another amount', 950, '8', ['7 moved, and 8 is recorded']],
])('minted tokens that are recorded %s', async (_, slot, receivedBaseUnits, messages) => {
  const signature = signed(9)
  const received = { mint, receivedBaseUnits, slot, wallet: null }
  const ledger = twoWallets().append(`solana:${signature}`, ['TransferReceived', received])
  const chain = { transactions: new Map([[signature, landed(signature, accountOf(present), 7)]]) }
  await findingsOf(ledger, chain, ['TransferReceived'])
  const found = ledger.replay.findings.all().filter(({ code }) => code === 'transaction_contradicts')
  expect(found.map(({ message }) => message)).toEqual(messages)
})

test('every event is verified, however many wait for the node', async () => {
  const ledger = served()
  const read = assertPresent(ledger.events[0], 'the ledger has events')
  const audit = new ChainAudit(nodeOf({}), ledger.replay, { paymentWallet: present, recordedWithinMs: hourMs })
  for (let position = 1; position <= 40; position++)
    audit.note({ ...read, onChain: () => ({ is: 'failed', finalizedSlot: 900 }) }, position)
  await audit.drain()
  expect(audit.figures.dropped).toBe(40)
})

test('a transfer of the amount of a confirmed burn contradicts the ledger, because nothing was burned', async () => {
  const signature = signed(9)
  const confirmed = { round: 1, mint, slot: 950, burnedBaseUnits: '5', parts: burnSubmitted.parts }
  const ledger = twoWallets()
    .append(`solana:${signature}`, ['BurnSubmitted', burnSubmitted])
    .append(`solana:${signature}`, ['BurnConfirmed', confirmed])
  // The former wallet pays at the time of the burn.
  const chain = { transactions: new Map([[signature, landed(signature, accountOf(former), -5)]]) }
  await findingsOf(ledger, chain, ['BurnConfirmed'])
  const found = ledger.replay.findings.all().filter(({ code }) => code === 'transaction_contradicts')
  expect(found.map(({ message }) => message)).toEqual(['it burned 0, and 5 are recorded'])
})

test.each([
  ['young', -5, 0, false],
  ['old', -5, hourMs, true],
  ['young and of another amount', -6, 0, true],
])('a submitted burn on chain that is %s and not confirmed in the ledger', async (_, change, waitMs, isFound) => {
  const signature = signed(9)
  const ledger = served().append(`solana:${signature}`, ['BurnSubmitted', burnSubmitted])
  ledger.wait(waitMs).append('solana:last', ['Unknown', {}])
  const found = await findingsOf(ledger, {
    signatures: new Map([[accountOf(present), [signature]]]),
    transactions: new Map([[signature, landed(signature, accountOf(present), change)]]),
  })
  const missing = ['not_in_the_ledger', signature]
  if (isFound) expect(found).toContainEqual(missing)
  else expect(found).not.toContainEqual(missing)
})

test('tokens recorded as of another sender than the one on chain contradict the ledger', async () => {
  const [sender, signature, account] = [sampleAddress(), signed(9), accountOf(present)]
  const amount = Buffer.of(12, 7, 0, 0, 0, 0, 0, 0, 0, 6)
  const { transaction, ...arrived } = landed(signature, account, 7)
  const accountKeys = [sender, account, accountOf(sender), mint, tokenProgram]
  const instructions = [{ programIdIndex: 4, accounts: [2, 3, 1, 0], data: encodeBase58(amount) }]
  const message = { ...transaction.message, accountKeys, instructions }
  const chain = { transactions: new Map([[signature, { ...arrived, transaction: { ...transaction, message } }]]) }
  const recorded = { mint, receivedBaseUnits: '7', slot: 950 }
  for (const kind of ['TokensDelivered', 'TransferReceived']) {
    const found = (wallet: string) =>
      findingsOf(twoWallets().append(`solana:${signature}`, [kind, { ...recorded, wallet }]), chain, [kind])
    expect(await found(former)).toContainEqual(['transaction_contradicts', signature])
    expect(await found(sender)).not.toContainEqual(['transaction_contradicts', signature])
  }
})

test('tokens that arrived in two of the wallets at once agree with the chain by their sum, and so does their sender', async () => {
  const [sender, other, signature] = [sampleAddress(), sampleAddress(), signed(9)]
  const send = (source: number, destination: number, amount: number) => {
    const data = encodeBase58(Buffer.of(3, amount, 0, 0, 0, 0, 0, 0, 0))
    return { programIdIndex: 5, accounts: [source, destination, source], data }
  }
  const transaction = landedOnBoth(
    signature,
    [sender, other, tokenProgram],
    [send(3, 1, 3), send(3, 2, 4), send(4, 1, 4)],
  )
  for (const [receivedBaseUnits, wallet, why] of [
    ['11', sender, []],
    ['12', sender, ['7 moved, and 12 is recorded']],
    ['11', other, [`${sender} sent it, and ${other} is recorded`]],
  ] as const) {
    const recorded = { mint, slot: 950, receivedBaseUnits, wallet }
    const ledger = twoWallets().append(`solana:${signature}`, ['TransferReceived', recorded])
    await findingsOf(ledger, { transactions: new Map([[signature, transaction]]) }, ['TransferReceived'])
    const found = ledger.replay.findings.all().filter(({ code }) => code === 'transaction_contradicts')
    expect(found.map(({ message }) => message)).toEqual(why)
  }
})

test('a payout whose lines pay one wallet twice agrees with the chain by their sum', async () => {
  const [signature, receiver, account] = [signed(46), sampleAddress(), accountOf(present)]
  const paid = accountOf(receiver)
  const { transaction, meta, ...left } = landed(signature, account, -7)
  const amount = Buffer.of(3, 7, 0, 0, 0, 0, 0, 0, 0)
  const message = {
    ...transaction.message,
    accountKeys: [present, account, paid, tokenProgram],
    instructions: [{ programIdIndex: 3, accounts: [1, 2, 0], data: encodeBase58(amount) }],
  }
  const balance = (held: number) => {
    return { accountIndex: 2, mint, owner: receiver, uiTokenAmount: { amount: String(held) } }
  }
  const tokens = {
    preTokenBalances: [...meta.preTokenBalances, balance(0)],
    postTokenBalances: [...meta.postTokenBalances, balance(7)],
  }
  const chain = { ...left, transaction: { ...transaction, message }, meta: { ...meta, ...tokens } }
  const contradictionsWith = async (...amounts: readonly bigint[]) => {
    const ledger = twoWallets()
    const node = nodeOf({ transactions: new Map([[signature, chain]]) })
    const audit = new ChainAudit(node, ledger.replay, { paymentWallet: present, recordedWithinMs: hourMs })
    const event = { kind: 'Payout', stream: `solana:${signature}`, version: 1, schemaVersion: 1, effectiveAt: 0 }
    const [read] = ledger.events
    if (read === undefined) throw new Error('the ledger has events')
    const receivers = amounts.map((paidBaseUnits) => ({ wallet: receiver, paidBaseUnits }))
    const change = { is: 'change', mint, slot: 950, changeBaseUnits: -7n, leftAtMs: blockTimeMs + 3 * hourMs } as const
    audit.note({ ...read, event, onChain: () => ({ ...change, receivers }) }, 9)
    await audit.drain()
    return ledger.replay.findings.all().map(({ message: why }) => why)
  }
  expect(await contradictionsWith(3n, 4n)).toEqual([])
  expect(await contradictionsWith(3n, 5n)).toEqual([`7 went to ${receiver}, and 8 are recorded`])
})

test.each([
  ['present', present],
  ['former', former],
])('a transfer to the %s payment wallet that the ledger does not have is found', async (_, wallet) => {
  const signature = signed(40)
  const chain = {
    signatures: new Map([[accountOf(wallet), [signature]]]),
    transactions: new Map([[signature, landed(signature, accountOf(wallet), 7)]]),
  }
  expect(await findingsOf(twoWallets(), chain)).toContainEqual(['not_in_the_ledger', signature])
})

test('tokens that left are found, and those that left after the last event of the ledger are not missing yet', async () => {
  const signature = signed(45)
  const chain = {
    signatures: new Map([[accountOf(present), [signature]]]),
    transactions: new Map([[signature, landed(signature, accountOf(present), -7)]]),
  }
  const missing = ['not_in_the_ledger', signature]
  expect(await findingsOf(twoWallets(), chain)).toContainEqual(missing)
  const later = { ...chain, landedAtMs: twoWallets().replay.recordedAtMs + 1_000 }
  expect(await findingsOf(twoWallets(), later)).not.toContainEqual(missing)
})

test('a call with more data than any other program passes ends no audit', async () => {
  const signature = signed(46)
  const { meta, ...arrived } = landed(signature, accountOf(present), 7)
  const call = { programIdIndex: 0, accounts: [], data: '2'.repeat(13_985) }
  const chain = {
    signatures: new Map([[accountOf(present), [signature]]]),
    transactions: new Map([
      [signature, { ...arrived, meta: { ...meta, innerInstructions: [{ instructions: [call] }] } }],
    ]),
  }
  expect(await findingsOf(twoWallets(), chain)).toContainEqual(['not_in_the_ledger', signature])
})

test('a transaction that the node lists for two of the wallets is one finding, of what both received', async () => {
  const signature = signed(49)
  const signatures = new Map([accountOf(present), accountOf(former)].map((account) => [account, [signature]]))
  const ledger = twoWallets()
  await findingsOf(ledger, { signatures, transactions: new Map([[signature, landedOnBoth(signature)]]) })
  const found = ledger.replay.findings.all().filter(({ code }) => code === 'not_in_the_ledger')
  expect(found.map(({ message: text }) => text)).toEqual(['11 arrived in slot 950'])
})

test('a payment that was only sent does not explain tokens that arrived', async () => {
  const signature = signed(44)
  const chain = {
    signatures: new Map([[accountOf(present), [signature]]]),
    transactions: new Map([[signature, landed(signature, accountOf(present), 7)]]),
  }
  const sent = { wallet: former, endpoint: price.endpoint, quoteId: null, transactionBase64: 'AA==' }
  const ledger = twoWallets().append(`solana:${signature}`, ['PaymentSubmitted', sent])
  expect(await findingsOf(ledger, chain)).toContainEqual(['not_in_the_ledger', signature])
})

test('a payment in another mint does not explain an arrival in this one, and a stream of the arrival does', async () => {
  const [signature, other] = [signed(42), sampleAddress()]
  const chain = {
    signatures: new Map([[accountOf(present), [signature]]]),
    transactions: new Map([[signature, landed(signature, accountOf(present), 7)]]),
  }
  const received = (of: string) =>
    ['TransferReceived', { wallet: former, mint: of, receivedBaseUnits: '7', slot: 950 }] as const
  const missing = ['not_in_the_ledger', signature]
  const first = () => twoWallets().append(`solana:${signature}`, received(other))
  expect(await findingsOf(first(), chain)).toContainEqual(missing)
  const both = first().append(`arrival:${signature}:${mint}`, received(mint))
  expect(await findingsOf(both, chain)).not.toContainEqual(missing)
  const codes = both.replay.findings.all().map(({ code }) => code)
  expect(codes).not.toContain('lifecycle_impossible')
})

test.each(['payout', 'burn'])('a %s in another mint does not explain tokens that left in this one', async (kind) => {
  const [signature, other] = [signed(47), sampleAddress()]
  const chain = {
    signatures: new Map([[accountOf(present), [signature]]]),
    transactions: new Map([[signature, landed(signature, accountOf(present), -7)]]),
  }
  const ledgerOf = (of: string) => {
    const payout = { signature, planId: 'payout_1', part: 1, mint: of, slot: 950, payments: [] }
    const burn = { round: 1, mint: of, slot: 950, burnedBaseUnits: '5', parts: burnSubmitted.parts }
    return kind === 'payout'
      ? twoWallets().append(`solana:${signature}`, ['DistributionPaid', payout])
      : twoWallets()
          .append(`solana:${signature}`, ['BurnSubmitted', { ...burnSubmitted, mint: of }])
          .append(`solana:${signature}`, ['BurnConfirmed', burn])
  }
  const missing = ['not_in_the_ledger', signature]
  expect(await findingsOf(ledgerOf(other), chain)).toContainEqual(missing)
  expect(await findingsOf(ledgerOf(mint), chain)).not.toContainEqual(missing)
})

test.each([
  ['of the same mint', (signature: string) => `arrival:${signature}:${mint}`, mint],
  ['under another name', (signature: string) => `arrival:${signature}:${former}`, sampleAddress()],
  ['without a first', () => `arrival:${signed(48)}:${mint}`, sampleAddress()],
])('a second arrival %s is found', (_, nameOf, first) => {
  const signature = signed(43)
  const fields = { wallet: former, receivedBaseUnits: '7', slot: 950 }
  const ledger = twoWallets()
    .append(`solana:${signature}`, ['TransferReceived', { ...fields, mint: first }])
    .append(nameOf(signature), ['TransferReceived', { ...fields, mint }])
  expect(ledger.replay.findings.all().map(({ code }) => code)).toContain('lifecycle_impossible')
})

test('a node that answers with the same page again ends the audit without a verdict', async () => {
  const page = Array.from({ length: signaturesPerPage }, (_, index) => {
    return { signature: `filler${index}`, slot: 950, err: null, blockTime: blockTimeMs / 1000 }
  })
  const node = { ...nodeOf({}), signaturesOf: () => Promise.resolve(page) }
  const audit = new ChainAudit(node, served().replay, { paymentWallet: present, recordedWithinMs: hourMs })
  await expect(audit.finish()).rejects.toThrow('the Solana node answered with the same signatures again')
})

test('a transfer behind more than one full page of the account is found', async () => {
  const hidden = signed(41)
  const opened = Array.from({ length: 2 * signaturesPerPage }, (_, index) => `filler${index}`)
  const chain = {
    signatures: new Map([[accountOf(present), [...opened, hidden]]]),
    transactions: new Map([[hidden, landed(hidden, accountOf(present), 7)]]),
  }
  expect(await findingsOf(twoWallets(), chain)).toContainEqual(['not_in_the_ledger', hidden])
})

test.each([
  [99n, [`the wallet for tabs holds 99 base units of ${mint}, and 100 are on tabs`]],
  [100n, []],
])('a wallet for tabs that holds %s is compared with the 100 that are on tabs', async (held, messages) => {
  const [tab, deposit, tabWallet] = ['tab', signed(50), sampleAddress()]
  const terms = {
    sessionKey: null,
    bearerHash: 'ab',
    maxPerRequestBaseUnits: '1',
    maxPerDayBaseUnits: '1',
    endsAtMs: 1,
  }
  const ledger = twoWallets()
    .append('tab-wallet#1', [
      'SettingChanged',
      { name: 'tab-wallet', number: 1, validFrom: isoTime(blockTimeMs), value: tabWallet },
    ])
    .append(`solana:${deposit}`, ['TabOpened', { tab, mint, wallet: former, depositBaseUnits: '100', terms }])
  await findingsOf(ledger, { balances: new Map([[accountOf(tabWallet), held]]) })
  const found = ledger.replay.findings.all().filter(({ code }) => code === 'tabs_not_covered')
  expect(found.map(({ message }) => message)).toEqual(messages)
})
