import { Keypair } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { readAddress } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import type { Signature } from '@tollbook/core/signature'
import { identifiedPlan, type PayoutPlan, payoutMemo } from '../../src/accounting/payoutPlan.ts'
import { buildPayout } from '../../src/chain/payoutTransaction.ts'
import { readFreeDebts } from '../../src/payout/freeDebts.ts'
import { endHolderPayout, type HolderPaymentDeps, payHolders } from '../../src/payout/payHolders.ts'
import { createEventCodec } from '../../src/payment/eventCodec.ts'
import { holderPayoutCodec } from '../../src/payment/events.ts'
import { distributionPaid } from '../../src/payment/events/payoutEvents.ts'
import type { FindOptions } from '../../src/payment/chainReader.ts'
import { heldClock, signatureNumber } from '../jobs/jobFixture.ts'
import { mint, otherWallet, wallet } from '../payment/paymentStory.ts'
import { scriptedDatabase } from '../support/scriptedDatabase.ts'

/* Payouts to holders on a database and a chain that write down each call, in order. */

const account = 'Liabilities:Share:holders'
const plan = identifiedPlan({
  network: 'solana:test',
  mint,
  decimals: 9,
  paymentWallet: wallet,
  position: 12,
  slot: 900,
  parts: [[{ account, wallet: otherWallet, baseUnits: 70n }], [{ account, wallet: mint, baseUnits: 30n }]],
  holders: {
    account,
    amountBaseUnits: 100n,
    snapshotSha256: '0'.repeat(64),
    snapshotSlot: 890,
    excluded: [],
    minimumBaseUnits: 1n,
    openAccountsMax: 0,
  },
})
const keypair = Keypair.fromSeed(new Uint8Array(32).fill(3))
const feePayer = assertPresent(readAddress(keypair.publicKey.toBase58()), 'a key is an address')
const terms = { mint, decimals: 9, tokenProgram: mint, paymentWallet: wallet, paymentTokenAccount: wallet, network: '' }
const payoutCodec = createEventCodec([distributionPaid])

interface Attempt {
  readonly part: number
  readonly signature: string
  readonly lastValidHeight: unknown
  readonly transaction: Buffer
  readonly replaced: unknown
}

type Status = { readonly isFinalized: boolean; readonly hasFailed: boolean; readonly slot: number } | undefined
const final: Status = { isFinalized: true, hasFailed: false, slot: 950 }

interface Script {
  readonly pays?: PayoutPlan
  /** Parts that the ledger has as paid. */
  readonly paid?: readonly number[]
  readonly attempts?: readonly Attempt[]
  /** Status of a transaction that this run did not send. */
  readonly earlierStatus?: Status
  /** Status of a transaction that this run has sent. */
  readonly sentStatus?: Status
  readonly height?: number
  /** Nodes that deny the transaction: it is not there, or it failed. */
  readonly denyingNodes?: number
  readonly outcomeOfAttempt?: () => boolean
  /** The database has a transaction of the plan that its end does not name. */
  readonly refusesEnd?: true
  readonly anotherIsSent?: true
  /** A payout of another plan has been recorded since. */
  readonly owesLess?: true
  readonly heights?: { readonly blockhash: number; readonly landing: number }
}

/** The body of a part's payout in the ledger. */
function paidBody(part: number, signature: Signature, of: PayoutPlan = plan): Buffer {
  const lines = assertPresent(of.parts[part - 1], 'the plan has the part')
  const payments = lines.map(({ baseUnits, ...line }) => ({ ...line, paidBaseUnits: baseUnits }))
  const event = { kind: 'DistributionPaid', signature, planId: of.id, part, mint, slot: 950, payments } as const
  return Buffer.from(payoutCodec.encode(event, { stream: `solana:${signature}`, version: 1, effectiveAtMs: 0 }))
}

function plannedBody(of: PayoutPlan = plan): Buffer {
  const holders = assertPresent(of.holders, 'the plan is for holders')
  const { lines, parts } = { lines: of.parts.flat().length, parts: of.parts.length }
  const head = { kind: 'HolderPayoutPlanned', planId: of.id, mint, rule: 'pro-rata-1' } as const
  const at = { stream: `holders:${of.id}`, version: 1, effectiveAtMs: 0 }
  return Buffer.from(holderPayoutCodec.encode({ ...head, ...holders, lines, parts }, at))
}

function openPayment(script: Script = {}) {
  const { pays = plan } = script
  const calls: string[] = []
  const attempts = new Map((script.attempts ?? []).map((attempt) => [attempt.part, attempt]))
  const paid = new Map((script.paid ?? []).map((part) => [part, paidBody(part, signatureNumber(part))]))
  const sent = new Set<string>()
  const sentBytes: Uint8Array[] = []
  let isEnded = false
  const judged: unknown[] = []
  const database = scriptedDatabase((statement, values) => {
    if (statement.includes('record_holder_payout')) {
      const { kind } = holderPayoutCodec.decode(String(values[0])).event
      judged.push(values[1])
      if (kind === 'HolderPayoutEnded' && script.refusesEnd) return [{ refusal: 'transaction_unjudged' }]
      isEnded ||= kind === 'HolderPayoutEnded'
      calls.push(`record ${kind}`)
      return [{ refusal: null, seq: 1, leaf_hash: Buffer.alloc(32) }]
    }
    if (statement.includes('record_payout_attempt')) {
      const [, part, signature, lastValidHeight, transaction, replaced] = values
      calls.push(`record attempt ${String(part)}`)
      const isRecorded = script.outcomeOfAttempt?.() ?? true
      const recorded = {
        signature: String(signature),
        lastValidHeight,
        replaced,
        transaction: Buffer.from(String(transaction)),
      }
      if (isRecorded) attempts.set(Number(part), { part: Number(part), ...recorded })
      return [{ is_recorded: isRecorded }]
    }
    if (statement.includes('payout_attempts'))
      return [...attempts.values()].map((attempt) => ({ ...attempt, last_valid_height: attempt.lastValidHeight }))
    if (statement.includes('HolderPayoutPlanned')) return isEnded ? [] : [{ body: plannedBody(pays), paid: '0' }]
    return [...paid.values()].map((body) => ({ body }))
  })
  const chain = {
    terms,
    nodes: { poll: () => Promise.resolve(), height: () => script.height ?? 100 },
    finality: {
      findStatuses: ({ signatures }: { readonly signatures: readonly Signature[] }) =>
        Promise.resolve({
          statuses: signatures.map((each) => (sent.has(each) ? (script.sentStatus ?? final) : script.earlierStatus)),
        }),
    },
    reader: {
      landingBound: () => ({ lastValidHeight: script.heights?.landing ?? 400 }),
      find: (_signature: Signature, { isAgreed }: FindOptions) => Promise.resolve(denied(script, isAgreed)),
      broadcast({ bytes }: { readonly bytes: Uint8Array }) {
        calls.push('broadcast')
        sentBytes.push(bytes)
        for (const { signature } of attempts.values()) sent.add(signature)
        return Promise.resolve()
      },
    },
  }
  const call = (name: string) => {
    calls.push(name)
    return Promise.resolve()
  }
  const deps: HolderPaymentDeps = {
    database,
    chain: Object.assign(Object.create(null), chain),
    clock: { ...heldClock, sleep: () => Promise.resolve() },
    prepare: (of, part) => {
      const memo = payoutMemo(of, part)
      const blockhash = keypair.publicKey.toBase58()
      const transaction = buildPayout({ terms, memo, payments: [], opens: [], blockhash, feePayer })
      return Promise.resolve({
        payout: { transaction, memo, lastValidBlockHeight: script.heights?.blockhash ?? 400 },
        leftOut: [],
      })
    },
    record(of, signature) {
      const [part = 0] = [...attempts.values()].filter((each) => each.signature === signature).map((each) => each.part)
      paid.set(part, paidBody(part, signature, of))
      return call(`record part ${part}`)
    },
    async requirePayable() {
      await call('requirePayable')
      if (script.owesLess) throw new Fault('the share is owed less than the plan pays', { retryable: false })
    },
    requireOthersRecorded: () => call('requireOthersRecorded'),
    async requireNothingSent() {
      await call('requireNothingSent')
      if (script.anotherIsSent) throw new Fault('a transaction of another plan could still land', { retryable: true })
    },
  }
  const order = {
    plan: pays,
    feePayer,
    signers: [keypair],
    signal: new AbortController().signal,
    onProgress: () => undefined,
  }
  return {
    calls,
    attempts,
    judged,
    sentBytes,
    pay: () => payHolders(deps, order),
    end: () => endHolderPayout(deps, plan),
  }
}

/** The nodes' answer about a transaction that failed, or that can no longer land. */
function denied({ denyingNodes }: Script, isAgreed: true | undefined) {
  if (denyingNodes === undefined) return { kind: 'unknown' }
  if (isAgreed === true)
    return { kind: 'found', nodes: denyingNodes, record: { failure: { text: 'the account is frozen' } } }
  return { kind: 'proven_absent', evidence: { readings: Array.from({ length: denyingNodes }) } }
}

function earlier(part: number): Attempt {
  const signature = signatureNumber(part + 50)
  return { part, signature, lastValidHeight: 200, transaction: Buffer.from(`part ${part}`), replaced: null }
}

test('each part is on record before it is sent, and the plan ends when the ledger has all of them', async () => {
  const { calls, pay } = openPayment()
  await pay()
  expect(calls).toEqual([
    'requirePayable',
    'record HolderPayoutPlanned',
    'requireNothingSent',
    'record attempt 1',
    'broadcast',
    'record attempt 2',
    'broadcast',
    'record part 1',
    'record part 2',
    'record HolderPayoutEnded',
  ])
})

test('a transaction that is not on record is not sent', async () => {
  const overtaken = openPayment({ outcomeOfAttempt: () => false })
  await expect(overtaken.pay()).rejects.toThrow('another process pays this plan')
  const killed = openPayment({
    outcomeOfAttempt() {
      throw new Error('the connection is gone')
    },
  })
  await expect(killed.pay()).rejects.toThrow('the transactions of a plan')
  for (const { calls } of [overtaken, killed]) expect(calls).not.toContain('broadcast')
})

test('while a transaction of another plan may land nothing is sent, whether or not a part is paid', async () => {
  for (const paid of [[], [1]]) {
    const { calls, pay } = openPayment({ paid, anotherIsSent: true })
    await expect(pay()).rejects.toThrow('could still land')
    expect(calls).toEqual(['requirePayable', 'record HolderPayoutPlanned', 'requireNothingSent'])
  }
})

test('a plan that is paid asks for nothing more and ends', async () => {
  const { calls, pay } = openPayment({ paid: [1, 2] })
  await pay()
  expect(calls).toEqual(['record HolderPayoutPlanned', 'record HolderPayoutEnded'])
})

test('a transaction that no node has seen is sent again as it is, and one that can never land is replaced', async () => {
  const unseen = openPayment({ paid: [1], attempts: [earlier(2)] })
  await unseen.pay()
  expect(unseen.sentBytes).toEqual([Buffer.from('part 2')])
  expect(unseen.calls).not.toContain('record attempt 2')

  // The last height at which it may land, although every node denies that it has.
  const atBound = openPayment({ paid: [1], attempts: [earlier(2)], height: 200, denyingNodes: 2 })
  await atBound.pay()
  expect(atBound.attempts.get(2)?.replaced).toBeNull()

  const undecided = openPayment({ paid: [1], attempts: [earlier(2)], height: 201 })
  await undecided.pay()
  expect(undecided.calls).not.toContain('record attempt 2')

  const absent = openPayment({ paid: [1], attempts: [earlier(2)], height: 201, denyingNodes: 2 })
  await absent.pay()
  expect(absent.attempts.get(2)?.replaced).toBe(earlier(2).signature)
})

const failing = { isFinalized: true, hasFailed: true, slot: 950 }

test('a part that failed on chain in an earlier run is sent again by the next run, in place of its last transaction', async () => {
  const script = { paid: [1], attempts: [earlier(2)], earlierStatus: failing, denyingNodes: 2 }
  const { calls, attempts, pay } = openPayment(script)
  await pay()
  expect(attempts.get(2)?.replaced).toBe(earlier(2).signature)
  expect(calls.slice(3)).toEqual(['record attempt 2', 'broadcast', 'record part 2', 'record HolderPayoutEnded'])
})

test('a part that failed on chain gets no second transaction in the same run, and the plan stays open', async () => {
  const { calls, pay } = openPayment({ paid: [1], sentStatus: failing, denyingNodes: 2 })
  await expect(pay()).rejects.toThrow(/1 parts failed .*part 2: the account is frozen/)
  expect(calls.slice(3)).toEqual(['record attempt 2', 'broadcast'])
})

test('a plan is not ended while a transaction of it is on chain or could still land', async () => {
  for (const [earlierStatus, why] of [
    [final, 'is on chain'],
    [{ isFinalized: false, hasFailed: false, slot: 950 }, 'could still land'],
    [undefined, 'could still land'],
  ] as const) {
    const { calls, end } = openPayment({ paid: [1], attempts: [earlier(2)], ...(earlierStatus && { earlierStatus }) })
    await expect(end()).rejects.toThrow(why)
    expect(calls).not.toContain('record HolderPayoutEnded')
  }
  const absent = openPayment({ paid: [1], attempts: [earlier(2)], height: 201, denyingNodes: 2 })
  await absent.end()
  expect(absent.calls).toContain('record HolderPayoutEnded')
})

test('a plan that pays more than is owed by now is not paid, and can be ended', async () => {
  const { calls, pay, end } = openPayment({ owesLess: true })
  await expect(pay()).rejects.toThrow('owed less')
  await end()
  expect(calls).toEqual(['requirePayable', 'requireOthersRecorded', 'record HolderPayoutEnded'])
})

test('an end names the transactions that it has judged, and fails if another process has recorded one since', async () => {
  const script = { paid: [1], attempts: [earlier(1), earlier(2)], height: 201, denyingNodes: 2 }
  const { judged, end } = openPayment(script)
  await end()
  expect(judged).toEqual([[earlier(1).signature, earlier(2).signature]])
  const overtaken = openPayment({ ...script, refusesEnd: true })
  await expect(overtaken.end()).rejects.toMatchObject({ message: /another process pays this plan/, retryable: true })
})

test('a part whose transaction one node alone denies is not sent again, and the refusal asks for a second node', async () => {
  const script = { paid: [1], attempts: [earlier(2)], height: 201, denyingNodes: 1 }
  for (const [earlierStatus, says] of [
    [undefined, 'never landed'],
    [failing, 'failed on chain'],
  ] as const) {
    const { calls, pay } = openPayment({ ...script, ...(earlierStatus && { earlierStatus }) })
    await expect(pay()).rejects.toThrow(new RegExp(`one node alone says that .* ${says}.*second node`))
    expect(calls).not.toContain('broadcast')
  }
})

test('a part whose blocks the nodes no longer have is not sent again, and the refusal asks for other nodes', async () => {
  for (const [height, isSent] of [
    [10_199, true],
    [10_200, false],
  ] as const) {
    const { calls, pay } = openPayment({ paid: [1], attempts: [earlier(2)], height })
    if (isSent) await pay()
    else await expect(pay()).rejects.toThrow(/do not prove that .* never landed.*SOLANA_RPC_URLS/)
    expect(calls.includes('broadcast')).toBe(isSent)
    expect(calls).not.toContain('record attempt 2')
  }
})

test('of two bounds on the height at which a part can land, the later one is recorded', async () => {
  for (const heights of [
    { blockhash: 410, landing: 400 },
    { blockhash: 400, landing: 410 },
  ]) {
    const { attempts, pay } = openPayment({ heights })
    await pay()
    expect([...attempts.values()].map(({ lastValidHeight }) => lastValidHeight)).toEqual([410, 410])
  }
})

test('no more than 64 parts are on their way at once', async () => {
  const { id: _id, holders, ...head } = plan
  const parts = Array.from({ length: 66 }, () => [{ account, wallet: otherWallet, baseUnits: 1n }])
  const terms = { ...assertPresent(holders, 'the plan is for holders'), amountBaseUnits: 66n }
  const waiting = { isFinalized: false, hasFailed: false, slot: 950 }
  const { attempts, pay } = openPayment({
    pays: identifiedPlan({ ...head, parts, holders: terms }),
    sentStatus: waiting,
  })
  await expect(pay()).rejects.toThrow('no part of the plan became final')
  expect(attempts.size).toBe(64)
})

test('what an open plan has still to pay is left to it, and its paid parts are not counted twice', async () => {
  const treasury = 'Liabilities:Share:treasury'
  const debtsAt = (owed: string, paid: string) =>
    scriptedDatabase((statement) => {
      if (statement.includes('HolderPayoutPlanned')) return [{ body: plannedBody(), paid }]
      return [
        { seq: 20, account, owed, is_unsettled: false },
        { seq: 20, account: treasury, owed: '5', is_unsettled: false },
      ]
    })
  // The plan pays 100 and has paid 70, so the ledger owes the share 30 of it and 8 of later payments.
  const freeDebts = async (owed: string, paid: string, planId?: string) =>
    (await readFreeDebts(debtsAt(owed, paid), mint, planId)).debts.map(({ baseUnits }) => baseUnits)
  expect(await freeDebts('38', '70')).toEqual([8n, 5n])
  expect(await freeDebts('108', '0')).toEqual([8n, 5n])
  expect(await freeDebts('38', '70', plan.id)).toEqual([38n, 5n])
  await expect(freeDebts('29', '70')).rejects.toThrow('is owed less than the open plan')
})
