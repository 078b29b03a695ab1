import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import type { Signature } from '@tollbook/core/signature'
import {
  scanTransfers,
  scanWallets,
  startTransferScanJob,
  type TransferScanDeps,
} from '../../src/jobs/transferScanJob.ts'
import { unknownPayment } from '../../src/payment/payment.ts'
import type { AppendOutcome } from '../../src/payment/paymentLedger.ts'
import { listedMax } from '../../src/payment/finalityReader.ts'
import type { ScanPlace } from '../../src/payment/paymentLifecycle.ts'
import { type PaymentReference, transactionReference } from '../../src/payment/paymentReference.ts'
import { silentLog } from '../../src/machine/log.ts'
import { mint, otherWallet as paymentTokenAccount, wallet } from '../payment/paymentStory.ts'
import { sampleAddress } from '../store/samplePayment.ts'
import { steppedClock } from '../support/steppedClock.ts'
import { heldClock, lifecycleWith, signatureNumber } from './jobFixture.ts'

const signatures = [1, 2, 3].map(signatureNumber)
const nowMs = heldClock.nowMs()

interface Scan {
  readonly recorded: string[]
  place: ScanPlace | undefined
}

/** Three transfers that no request explains, oldest first, and a ledger that answers one of them as the test says. */
function depsOf(scan: Scan, special: number, answer: () => Promise<AppendOutcome>): TransferScanDeps {
  const places = [...signatures]
  return {
    clock: heldClock,
    log: silentLog,
    onStep: () => undefined,
    settleAgeMs: 0,
    terms: { mint, paymentTokenAccount },
    payments: {
      async append({ reference }) {
        const isSpecial = reference.endsWith(assertPresent(signatures[special], 'there are three'))
        const outcome: AppendOutcome = isSpecial
          ? await answer()
          : { outcome: 'appended', after: unknownPayment, recordedAtMs: nowMs, leaves: [] }
        if (outcome.outcome === 'appended') scan.recorded.push(reference)
        return outcome
      },
    },
    lifecycle: lifecycleWith({
      readScanPlace: () => Promise.resolve(scan.place),
      advanceScan(_account, place) {
        scan.place = place
        return Promise.resolve()
      },
      findAccounted: () => Promise.resolve(new Set()),
      loadPayments: () => Promise.resolve(new Map()),
    }),
    presentations: { findPresented: () => Promise.resolve(new Set()) },
    chain: {
      timeMs: () => nowMs,
      listSignatures({ until }) {
        const from = until === undefined ? 0 : places.indexOf(until) + 1
        const listed = places.slice(from).map((signature, n) => listedOf(signature, from + n))
        return Promise.resolve(listed.toReversed())
      },
      findFinalized: (signature) => Promise.resolve(recordOf(signature)),
    },
  }
}

function listedOf(signature: Signature, n: number) {
  return { signature, slot: 10 + n, blockTimeMs: nowMs - 60_000 + n, hasFailed: false, memo: undefined }
}

function recordOf(signature: Signature) {
  const balance = { tokenAccount: paymentTokenAccount, mint, ownersSeen: [], beforeBaseUnits: 0n, afterBaseUnits: 7n }
  const record = { signature, slot: 10, blockTimeMs: nowMs, failure: undefined, signers: [wallet], memos: [] }
  return { ...record, movements: [], balances: [balance], bytes: undefined }
}

const appended: AppendOutcome = { outcome: 'appended', after: unknownPayment, recordedAtMs: nowMs, leaves: [] }

test.each([0, 1, 2])(
  'the search stays before transfer %i that another writer has moved, and records it next',
  async (n) => {
    const scan: Scan = { recorded: [], place: undefined }
    await scanTransfers(depsOf(scan, n, () => Promise.resolve({ outcome: 'conflict' })))
    expect(scan.recorded).toHaveLength(n)
    expect(scan.place).toBeUndefined()
    await scanTransfers(depsOf(scan, n, () => Promise.resolve(appended)))
    expect(new Set(scan.recorded)).toHaveProperty('size', 3)
    expect(scan.place?.signature).toBe(signatures[2])
  },
)

test.each([0, 1, 2])('a fault at transfer %i leaves the place where it was, and the others are recorded', async (n) => {
  const scan: Scan = { recorded: [], place: undefined }
  await scanTransfers(depsOf(scan, n, () => Promise.reject(new Fault('the outcome is unknown', { retryable: true }))))
  expect(scan.recorded).toHaveLength(2)
  expect(scan.place).toBeUndefined()
})

test('a transfer whose block has no time is as old as the next one, and the newest ones wait', async () => {
  const recordedWith = async (...isTimed: readonly boolean[]) => {
    const scan: Scan = { recorded: [], place: undefined }
    const { chain, ...deps } = depsOf(scan, 0, () => Promise.resolve(appended))
    const listSignatures: typeof chain.listSignatures = async (question) =>
      (await chain.listSignatures(question)).map((listed) =>
        isTimed[listed.slot - 10] === true ? listed : { ...listed, blockTimeMs: undefined },
      )
    await scanTransfers({ ...deps, chain: { ...chain, listSignatures } })
    return scan.recorded.length
  }
  expect(await recordedWith(false, true, true)).toBe(3)
  expect(await recordedWith(true, false, true)).toBe(3)
  expect(await recordedWith(true, false, false)).toBe(1)
  expect(await recordedWith(false, false, false)).toBe(0)
})

test('a recorded payment that cannot be decoded stops no search of a wallet with several mints', async () => {
  const scan: Scan = { recorded: [], place: undefined }
  const { lifecycle, ...deps } = depsOf(scan, 0, () => Promise.resolve(appended))
  const [damaged] = signatures.map(transactionReference)
  await scanTransfers({
    ...deps,
    mints: 2,
    lifecycle: {
      ...lifecycle,
      findAccounted: (references) => Promise.resolve(new Set(references.filter((each) => each === damaged))),
      loadPayments: () =>
        Promise.resolve({
          get(reference) {
            if (reference === damaged) throw new Error('it cannot be decoded')
            return undefined
          },
        }),
    },
  })
  expect(scan.recorded).toHaveLength(2)
  expect(scan.place?.signature).toBe(signatures[2])
})

test.each([0, 1, 2])('transfer %i that no node can show stays open, and the others are recorded', async (n) => {
  const scan: Scan = { recorded: [], place: undefined }
  const { chain, ...deps } = depsOf(scan, n, () => Promise.resolve(appended))
  const findFinalized = (signature: Signature) =>
    Promise.resolve(signature === signatures[n] ? undefined : recordOf(signature))
  await scanTransfers({ ...deps, chain: { ...chain, findFinalized } })
  expect(scan.recorded).toHaveLength(2)
  expect(scan.place).toBeUndefined()
  await scanTransfers({ ...deps, chain })
  expect(new Set(scan.recorded)).toHaveProperty('size', 3)
  expect(scan.place?.signature).toBe(signatures[2])
})

test('a backlog of any length is searched in rounds, the oldest transactions first', async () => {
  const scan: Scan = { recorded: [], place: undefined }
  const { chain, ...deps } = depsOf(scan, 0, () => Promise.resolve(appended))
  // A signature stands for a whole page of failed transactions.
  const pages = Array.from({ length: 201 }, (_, index) => signatureNumber(index + 1))
  const backlog: TransferScanDeps = {
    ...deps,
    chain: {
      ...chain,
      listSignatures({ before, until }) {
        const page = (before === undefined ? pages.length : pages.indexOf(before)) - 1
        const [signature] = pages.slice(page, page + 1)
        if (page < 0 || signature === undefined || signature === until) return Promise.resolve([])
        const listed = { ...listedOf(signature, 0), hasFailed: true }
        return Promise.resolve(Array.from({ length: listedMax }, () => listed))
      },
    },
  }
  await scanTransfers(backlog)
  expect(scan.place?.signature).toBe(pages.at(-2))
  await scanTransfers(backlog)
  expect(scan.place?.signature).toBe(pages.at(-1))
})

test('a payment wallet that cannot be searched does not keep the others from it', async () => {
  const scan: Scan = { recorded: [], place: undefined }
  const { chain, terms, ...deps } = depsOf(scan, 0, () => Promise.resolve(appended))
  const listSignatures: typeof chain.listSignatures = (question) =>
    question.account === wallet
      ? Promise.reject(new Fault('no node has it', { retryable: true }))
      : chain.listSignatures(question)
  const allTerms = () => [{ mint, paymentTokenAccount: wallet }, terms]
  await expect(scanWallets({ ...deps, chain: { ...chain, listSignatures }, allTerms })).rejects.toThrow(
    'no node has it',
  )
  expect(scan.recorded).toHaveLength(3)
})

test("transfers of the treasury's wallet are deliveries, and those of another wallet or mint are not", async () => {
  const kinds = async (delivery: TransferScanDeps['delivery']) => {
    const scan: Scan = { recorded: [], place: undefined }
    const seen: string[] = []
    const deps = depsOf(scan, 0, () => Promise.reject(new Error('replaced')))
    const movement = { kind: 'transfer', tokenProgram: mint, mint, authority: wallet, amountBaseUnits: 7n } as const
    await scanTransfers({
      ...deps,
      delivery,
      payments: {
        append({ events }) {
          seen.push(...events.map(({ kind }) => kind))
          return Promise.resolve({ outcome: 'appended', after: unknownPayment, recordedAtMs: nowMs, leaves: [] })
        },
      },
      chain: {
        ...deps.chain,
        findFinalized: (signature) =>
          Promise.resolve({
            ...recordOf(signature),
            movements: [{ ...movement, source: wallet, destination: paymentTokenAccount }],
          }),
      },
    })
    return seen
  }
  expect(await kinds({ wallet, mint })).toEqual(['TokensDelivered', 'TokensDelivered', 'TokensDelivered'])
  const unmatched = ['TransferReceived', 'TransferReceived', 'TransferReceived']
  expect(await kinds({ wallet: mint, mint })).toEqual(unmatched)
  expect(await kinds({ wallet, mint: wallet })).toEqual(unmatched)
  expect(await kinds(undefined)).toEqual(unmatched)
})

test('a transfer is recorded only once it is old enough by the clock of the server and by that of the chain', async () => {
  // The transfers are a minute old, less 0 to 2 ms.
  for (const [chainMs, serverMs, recorded] of [
    [nowMs - 1, nowMs, 0],
    [nowMs, nowMs - 1, 0],
    [nowMs, nowMs, 1],
  ] as const) {
    const scan: Scan = { recorded: [], place: undefined }
    const { chain, ...deps } = depsOf(scan, 0, () => Promise.resolve(appended))
    const clock = { ...heldClock, nowMs: () => serverMs }
    await scanTransfers({ ...deps, clock, chain: { ...chain, timeMs: () => chainMs }, settleAgeMs: 60_000 })
    expect(scan.recorded).toHaveLength(recorded)
  }
})

test('the sender of a transfer is the wallet outside, although more moves between payment wallets', async () => {
  const former = sampleAddress()
  const scan: Scan = { recorded: [], place: undefined }
  const senders: unknown[] = []
  const deps = depsOf(scan, 0, () => Promise.resolve(appended))
  const movement = { kind: 'transfer', tokenProgram: mint, mint, destination: paymentTokenAccount } as const
  const movements = [
    { ...movement, source: former, authority: former, amountBaseUnits: 100n },
    { ...movement, source: wallet, authority: wallet, amountBaseUnits: 7n },
  ]
  const own = { mint, ownersSeen: [] }
  const balances = [
    { ...own, tokenAccount: paymentTokenAccount, beforeBaseUnits: 0n, afterBaseUnits: 107n },
    { ...own, tokenAccount: former, beforeBaseUnits: 100n, afterBaseUnits: 0n },
  ]
  const findFinalized = (signature: Signature) => Promise.resolve({ ...recordOf(signature), movements, balances })
  await scanTransfers({
    ...deps,
    ownAccounts: [paymentTokenAccount, former],
    chain: { ...deps.chain, findFinalized },
    payments: {
      append({ events: [event] }) {
        senders.push(event)
        return Promise.resolve(appended)
      },
    },
  })
  expect(senders).toHaveLength(3)
  for (const event of senders) expect(event).toMatchObject({ wallet, receivedBaseUnits: 7n })
})

test('a transfer that was presented in time stays open, and so does the place of the search', async () => {
  const scan: Scan = { recorded: [], place: undefined }
  const [, presented] = signatures.map(transactionReference)
  const deps = depsOf(scan, 0, () => Promise.resolve(appended))
  const findPresented = (asked: readonly PaymentReference[]) =>
    Promise.resolve(new Set(asked.filter((reference) => reference === presented)))
  await scanTransfers({ ...deps, presentations: { findPresented } })
  expect(scan.recorded).toEqual([signatures[0], signatures[2]].map((each) => `solana:${each}`))
  expect(scan.place).toBeUndefined()
})

test('eight transfers that no node can show are a fault of the nodes, and end the search', async () => {
  const scan: Scan = { recorded: [], place: undefined }
  const deps = depsOf(scan, 0, () => Promise.resolve(appended))
  let reads = 0
  const searchOf = (count: number) => {
    const many = Array.from({ length: count }, (_, n) => listedOf(signatureNumber(n + 1), n)).toReversed()
    const findFinalized = () => Promise.resolve(void reads++)
    const listSignatures = () => Promise.resolve(many)
    return scanTransfers({ ...deps, chain: { ...deps.chain, listSignatures, findFinalized } })
  }
  await searchOf(7)
  await expect(searchOf(20)).rejects.toThrow('does not have')
  expect(reads).toBe(7 + 8)
})

test('the place of the search is moved under the lease of the job only', async () => {
  const scan: Scan = { recorded: [], place: undefined }
  const clock = steppedClock()
  const { lifecycle, terms, ...deps } = depsOf(scan, 0, () => Promise.resolve(appended))
  const advanceScan = () => Promise.reject(new Error('this lifecycle has no lease'))
  const job = startTransferScanJob({
    ...deps,
    clock,
    allTerms: () => [terms],
    lifecycle: {
      ...lifecycle,
      advanceScan,
      async runElected(_name, work) {
        await work(lifecycle)
        return true
      },
    },
  })
  await clock.step()
  await job.stop()
  expect(scan.place?.signature).toBe(signatures[2])
})
