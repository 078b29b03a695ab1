import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import { type BurnDeps, burnOnce } from '../../src/burn/burnRound.ts'
import { silentLog } from '../../src/machine/log.ts'
import { ProvenAbsent } from '../../src/payment/absence.ts'
import type { BurnRounds, OpenBurn, RecordedBurn } from '../../src/payment/burnLedger.ts'
import type { FindOptions, Finding } from '../../src/payment/chainReader.ts'
import type { Simulation } from '../../src/payment/proof.ts'
import type { TransactionRecord } from '../../src/payment/transactionRecord.ts'
import { signatureNumber } from '../jobs/jobFixture.ts'
import { mint, otherWallet, wallet } from '../payment/paymentStory.ts'

/* One run of the burn job on a ledger and a chain that write down each call, in order. */

const signature = signatureNumber(1)
const bytes = new Uint8Array([1, 2, 3])
const parts = [
  { endpoint: '/api/ai/chat', baseUnits: 30n },
  { endpoint: '/api/tools/qrcode', baseUnits: 12n },
]
const delegateBefore = { allowanceBaseUnits: 1_000n, lamports: 50_000n }
const open: OpenBurn = {
  round: 3,
  mint,
  throughPosition: 80,
  parts,
  lastValidHeight: 400,
  delegate: delegateBefore,
  transactionBase64: Buffer.from(bytes).toString('base64'),
  signature,
}
const nothingOpen: BurnRounds = { lastRound: 2, open: undefined, burnedThroughPosition: 40 }
const oneOpen: BurnRounds = { lastRound: 3, open, burnedThroughPosition: 40 }
const unseen: Finding = { kind: 'unknown', why: 'no node has it', isSeen: false, isAgreed: true, slot: 900 }

const burned: TransactionRecord = {
  signature,
  slot: 905,
  blockTimeMs: 1_789_996_400_000,
  failure: undefined,
  signers: [otherWallet],
  movements: [{ kind: 'burn', tokenProgram: mint, mint, authority: otherWallet, amountBaseUnits: 42n, source: wallet }],
  balances: [{ tokenAccount: wallet, mint, ownersSeen: [wallet], beforeBaseUnits: 100n, afterBaseUnits: 58n }],
  memos: [],
  bytes,
}

function found(changes: Partial<TransactionRecord> = {}, nodes = 1): Finding {
  return { kind: 'found', record: { ...burned, ...changes }, slot: 905, nodes, isAgreed: nodes > 1 }
}

const failure = { text: 'custom program error: 0x1', insufficientFunds: true }

function absent(...finalizedSlots: readonly number[]): Finding {
  const readings = finalizedSlots.map((finalizedSlot, index) => {
    return { node: `node${index}`, finalizedSlot, finalizedHeight: 401, searchedSlot: finalizedSlot, isFound: false }
  })
  const bound = { lastValidHeight: 400, basis: 'blockhash_accepted' } as const
  return assertPresent(ProvenAbsent.prove({ signature, bound, readings }), 'the readings prove it')
}

interface Script {
  readonly rounds?: readonly BurnRounds[]
  readonly findings?: readonly Finding[]
  readonly agreed?: Finding
  readonly simulation?: Partial<Simulation>
  readonly ledgerHeight?: number
  readonly blockhashHeight?: number
  readonly delegateAfter?: { readonly allowanceBaseUnits: bigint; readonly lamports: bigint }
  /** Throws in place of the answer. */
  readonly failing?: { readonly [name in 'record' | 'requireWallet']?: () => Promise<never> }
  readonly recordOutcome?: 'recorded' | 'overtaken'
}

/** The last of a list is repeated, as a chain repeats its answer. */
const nth = <Value>(values: readonly Value[], index: number): Value =>
  assertPresent(values[Math.min(index, values.length - 1)], 'a script has an answer')

function openJob(script: Script = {}) {
  const { rounds = [nothingOpen], findings = [found()], recordOutcome = 'recorded', failing } = script
  const calls: string[] = []
  const recorded: RecordedBurn[] = []
  const questions: FindOptions[] = []
  const delegateSlots: (number | undefined)[] = []
  let reads = 0
  let finds = 0
  const would: Simulation = {
    outcome: 'would_succeed',
    effects: { movements: [], memos: [], balances: undefined },
    bound: { lastValidHeight: script.ledgerHeight ?? 400, basis: 'blockhash_accepted' },
  }
  const write = (name: string) => {
    calls.push(name)
    return Promise.resolve()
  }
  const deps: BurnDeps = {
    ledger: {
      readRounds: () => Promise.resolve(nth(rounds, reads++)),
      readDebts: () => Promise.resolve({ throughPosition: 80, parts }),
      async record(burn) {
        await write(`record ${burn.event.kind}`)
        await failing?.record?.()
        recorded.push(burn)
        return recordOutcome
      },
    },
    chain: {
      async requireWallet() {
        await write('requireWallet')
        await failing?.requireWallet?.()
      },
      paymentAccounts: () => Promise.resolve([otherWallet, wallet]),
      refresh: () => write('refresh'),
      latestBlockhash: () =>
        Promise.resolve({ blockhash: 'hash', lastValidBlockHeight: script.blockhashHeight ?? 400 }),
      async readDelegate(_bytes, finalizedSlot) {
        delegateSlots.push(finalizedSlot)
        await write('readDelegate')
        return finalizedSlot === undefined ? delegateBefore : (script.delegateAfter ?? delegateBefore)
      },
      async find(_signature, options = {}) {
        if (options.isAgreed === true) return script.agreed ?? nth(findings, 0)
        questions.push(options)
        await write('find')
        return nth(findings, finds++)
      },
      async simulate() {
        await write('simulate')
        return script.simulation === undefined ? would : Object.assign({}, would, script.simulation)
      },
      broadcast: () => write('broadcast'),
    },
    signBurn() {
      calls.push('sign')
      return { signature, bytes, signers: [otherWallet], accounts: [], blockhash: 'hash', usesDurableNonce: false }
    },
    terms: {
      mint,
      decimals: 6,
      tokenProgram: mint,
      paymentWallet: wallet,
      paymentTokenAccount: wallet,
      network: 'solana:test',
    },
    // An hour ahead of the chain.
    clock: { nowMs: () => 1_790_000_000_000, monotonicMs: () => 0, sleep: () => write('sleep') },
    log: silentLog,
  }
  return { deps, calls, recorded, questions, delegateSlots }
}

test('a burn is signed for the wallet in force, rehearsed, recorded, and only then sent', async () => {
  const { deps, calls, recorded } = openJob({ findings: [unseen, found()] })
  expect(await burnOnce(deps)).toEqual({ outcome: 'confirmed', round: 3, signature, baseUnits: 42n })
  expect(calls.join(', ')).toBe(
    'requireWallet, sign, readDelegate, simulate, record BurnSubmitted, refresh, find, broadcast, sleep, refresh, find, record BurnConfirmed',
  )
  expect(recorded[0]?.event).toMatchObject({ round: 3, throughPosition: 80, burnBaseUnits: 42n, parts })
})

test('a burn that the ledger did not take is not sent', async () => {
  const lost = () => Promise.reject(new Fault('the answer was lost', { retryable: true }))
  const { deps, calls } = openJob({ findings: [unseen], failing: { record: lost } })
  await expect(burnOnce(deps)).rejects.toThrow('the answer was lost')
  expect(calls).not.toContain('broadcast')

  const overtaken = openJob({ findings: [unseen], recordOutcome: 'overtaken' })
  expect(await burnOnce(overtaken.deps)).toEqual({ outcome: 'overtaken' })
  expect(overtaken.calls).not.toContain('broadcast')
})

test('a wallet that is not in force signs and records nothing', async () => {
  const refused = () => Promise.reject(new Fault('PAYMENT_WALLET is not in force', { retryable: false }))
  const { deps, calls } = openJob({ failing: { requireWallet: refused } })
  await expect(burnOnce(deps)).rejects.toThrow('not in force')
  expect(calls).toEqual(['requireWallet'])
})

test('a burn that would fail is not recorded, unless another job took its round meanwhile', async () => {
  const simulation = { outcome: 'would_fail', text: 'owner does not match', insufficientFunds: false, slot: 9 } as const
  const alone = openJob({ simulation })
  await expect(burnOnce(alone.deps)).rejects.toThrow('owner does not match')
  const raced = openJob({ simulation, rounds: [nothingOpen, { ...nothingOpen, lastRound: 3 }] })
  expect(await burnOnce(raced.deps)).toEqual({ outcome: 'overtaken' })
  for (const { calls, recorded } of [alone, raced]) {
    expect(recorded).toEqual([])
    expect(calls).not.toContain('broadcast')
  }
})

test('of two bounds on the height at which a burn can land, the later one is recorded', async () => {
  for (const heights of [
    { ledgerHeight: 410, blockhashHeight: 400 },
    { ledgerHeight: 400, blockhashHeight: 410 },
  ]) {
    const { deps, recorded } = openJob(heights)
    await burnOnce(deps)
    expect(recorded[0]?.event).toMatchObject({ lastValidHeight: 410 })
  }
})

test('a burn takes effect at the time of its block, whatever the clock of the job says', async () => {
  const { deps, recorded } = openJob({ rounds: [oneOpen] })
  await burnOnce(deps)
  expect(recorded).toMatchObject([{ effectiveAtMs: burned.blockTimeMs, event: { kind: 'BurnConfirmed', slot: 905 } }])
})

test('a burn whose block has no time yet is confirmed later, with that time', async () => {
  const { deps, recorded } = openJob({ rounds: [oneOpen], findings: [found({ blockTimeMs: undefined }), found()] })
  expect(await burnOnce(deps)).toMatchObject({ outcome: 'confirmed' })
  expect(recorded.map(({ effectiveAtMs }) => effectiveAtMs)).toEqual([burned.blockTimeMs])
})

test('an open round is looked up with its bound and sent again as recorded, and no other round begins', async () => {
  const { deps, calls, questions } = openJob({ rounds: [oneOpen], findings: [unseen, found()] })
  expect(await burnOnce(deps)).toMatchObject({ outcome: 'confirmed', round: 3 })
  expect(calls.join(', ')).toBe('refresh, find, broadcast, sleep, refresh, find, record BurnConfirmed')
  const bound = { lastValidHeight: 400, basis: 'blockhash_accepted' }
  expect(questions).toEqual([
    { commitment: 'finalized', bound },
    { commitment: 'finalized', bound },
  ])
})

test('a burn that a node has seen is not sent again', async () => {
  const { deps, calls } = openJob({ rounds: [oneOpen], findings: [{ ...unseen, isSeen: true }, found()] })
  await burnOnce(deps)
  expect(calls).not.toContain('broadcast')
})

test('a transaction that burned another amount ends nothing', async () => {
  const movements = burned.movements.map((movement) => ({ ...movement, amountBaseUnits: 41n }))
  const { deps, recorded } = openJob({ rounds: [oneOpen], findings: [found({ movements })] })
  await expect(burnOnce(deps)).rejects.toThrow(/is not recorded: it burned 41 base units/)
  expect(recorded).toEqual([])
})

test('an absence in one state needs the delegate of the newest of its slots, and two nodes need nothing', async () => {
  const alone = openJob({ rounds: [oneOpen], findings: [absent(910)] })
  expect(await burnOnce(alone.deps)).toMatchObject({ outcome: 'failed' })
  expect(alone.delegateSlots).toEqual([910])
  const both = openJob({ rounds: [oneOpen], findings: [absent(910, 925)] })
  expect(await burnOnce(both.deps)).toMatchObject({ outcome: 'failed' })
  expect(both.delegateSlots).toEqual([])
  expect(both.recorded).toMatchObject([
    { effectiveAtMs: 1_790_000_000_000, event: { kind: 'BurnFailed', reason: 'absent', finalizedSlot: 925 } },
  ])
})

test.each([
  ['absent', { allowanceBaseUnits: 958n, lamports: 50_000n }, /the allowance of the delegate was 1000/],
  ['absent', { allowanceBaseUnits: 1_000n, lamports: 45_000n }, /has paid a network fee since/],
  ['failed', { allowanceBaseUnits: 958n, lamports: 45_000n }, /the allowance of the delegate was 1000/],
] as const)('one node that calls a burn %s is not believed against the delegate %o', async (reason, delegate, why) => {
  const finding = reason === 'absent' ? absent(910) : found({ failure })
  const { deps, recorded } = openJob({ rounds: [oneOpen], findings: [finding], delegateAfter: delegate })
  await expect(burnOnce(deps)).rejects.toThrow(why)
  expect(recorded).toEqual([])
})

test('a burn that failed on chain costs a fee, and two nodes that agree need no other proof', async () => {
  const delegateAfter = { allowanceBaseUnits: 1_000n, lamports: 45_000n }
  const alone = openJob({ rounds: [oneOpen], findings: [found({ failure })], delegateAfter })
  expect(await burnOnce(alone.deps)).toMatchObject({ outcome: 'failed' })
  expect(alone.recorded).toMatchObject([{ event: { kind: 'BurnFailed', reason: 'failed', finalizedSlot: 905 } }])
  const both = openJob({ rounds: [oneOpen], findings: [found({ failure })], agreed: found({ failure }, 2) })
  expect(await burnOnce(both.deps)).toMatchObject({ outcome: 'failed' })
  expect(both.delegateSlots).toEqual([])
})

test('a failure that two nodes deny ends nothing, and the burn is confirmed', async () => {
  const script = { rounds: [oneOpen], findings: [found({ failure }), found()], agreed: found({}, 2) }
  const { deps, recorded } = openJob(script)
  expect(await burnOnce(deps)).toMatchObject({ outcome: 'confirmed' })
  expect(recorded.map(({ event }) => event.kind)).toEqual(['BurnConfirmed'])
})

test('a job that is stopped leaves its round open and sends nothing', async () => {
  const { deps, calls } = openJob({ rounds: [oneOpen], findings: [unseen] })
  expect(await burnOnce(deps, AbortSignal.abort())).toMatchObject({ outcome: 'waiting' })
  expect(calls).toEqual([])
})
