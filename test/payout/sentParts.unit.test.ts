import { expect, test } from 'vitest'
import { identifiedPlan } from '../../src/accounting/payoutPlan.ts'
import { findSentUnrecorded, landPart, recordSignedPart } from '../../src/payout/sentParts.ts'
import type { StatusQuestion } from '../../src/payment/finalityReader.ts'
import { heldClock, signatureNumber } from '../jobs/jobFixture.ts'
import { mint, otherWallet, wallet } from '../payment/paymentStory.ts'
import { scriptedDatabase } from '../support/scriptedDatabase.ts'

const line = { account: 'Liabilities:Share:provider', wallet: otherWallet, baseUnits: 5n }
const head = { network: 'solana:test', mint, decimals: 6, paymentWallet: wallet, position: 1, slot: 900 }
const plan = identifiedPlan({ ...head, parts: [[line], [line]] })
const signed = { part: 2, signature: signatureNumber(9), transaction: new Uint8Array([1]), lastValidBlockHeight: 400 }

type Status = { readonly isFinalized: boolean; readonly hasFailed: boolean } | undefined
const final: Status = { isFinalized: true, hasFailed: false }

interface Script {
  /** Numbers of the parts that were signed before. The number of a signature is that of its part. */
  readonly earlier?: readonly number[]
  readonly planOf?: (part: number) => string
  /** Answers to the questions about a transaction, in order. The last one is repeated. */
  readonly statuses?: readonly Status[]
  readonly boundHeight?: number
  readonly isRecorded?: boolean
}

function openParts({ earlier = [], planOf = () => plan.id, statuses = [undefined], ...script }: Script = {}) {
  const recorded: (readonly unknown[])[] = []
  const calls: string[] = []
  let asked = 0
  const database = scriptedDatabase((statement, values) => {
    if (statement.includes('record_payout_attempt')) {
      recorded.push(values)
      return [{ is_recorded: script.isRecorded ?? true }]
    }
    return earlier.map((part) => ({
      plan_id: planOf(part),
      part,
      signature: signatureNumber(part),
      last_valid_height: 200,
      transaction: Buffer.from(`part ${part}`),
    }))
  })
  const chain = Object.assign(Object.create(null), {
    nodes: {
      poll: () => Promise.resolve(void calls.push('poll')),
      height: () => 100,
      newestSlot: () => 950,
      boundAt: (slot: number) => ({ lastValidHeight: (script.boundHeight ?? 400) + slot - 950 }),
    },
    finality: {
      // These transactions are too old for the memory of a node.
      findStatuses: ({ signatures, searchHistory }: StatusQuestion) => {
        const status = statuses[Math.min(asked++, statuses.length - 1)]
        return Promise.resolve({ statuses: signatures.map(() => (searchHistory ? status : undefined)) })
      },
    },
    reader: {
      find: () => Promise.resolve({ kind: 'unknown' }),
      broadcast: ({ bytes }: { readonly bytes: Uint8Array }) =>
        Promise.resolve(void calls.push(`broadcast ${Buffer.from(bytes).toString()}`)),
    },
  })
  return { deps: { database, chain }, recorded, calls }
}

test('of two bounds on the height at which a part can land, the later one is recorded', async () => {
  for (const boundHeight of [410, 390]) {
    const { deps, recorded } = openParts({ boundHeight })
    const lastValidHeight = Math.max(boundHeight, 400)
    expect(await recordSignedPart(deps, plan, signed)).toMatchObject({ part: 2, lastValidHeight })
    expect(recorded).toMatchObject([[plan.id, 2, signed.signature, lastValidHeight, expect.anything(), null]])
  }
})

test('a part is not signed again while its own transaction is on chain or could land, whatever the others do', async () => {
  const ofOther = openParts({ earlier: [1], statuses: [final] })
  await recordSignedPart(ofOther.deps, plan, signed)
  const landed = openParts({ earlier: [1, 2], statuses: [final] })
  const confirmed = openParts({ earlier: [2], statuses: [{ isFinalized: false, hasFailed: false }] })
  for (const { deps } of [landed, confirmed])
    await expect(recordSignedPart(deps, plan, signed)).rejects.toThrow('part 2 was sent by another process')
  const unseen = openParts({ earlier: [2] })
  await expect(recordSignedPart(unseen.deps, plan, signed)).rejects.toThrow('could still land')
  for (const { recorded } of [landed, confirmed, unseen]) expect(recorded).toEqual([])
  const raced = openParts({ isRecorded: false })
  await expect(recordSignedPart(raced.deps, plan, signed)).rejects.toThrow('was sent by another process')
})

test('parts of other plans that are on chain are found, and those of the plan itself only if it is not left out', async () => {
  const script = { earlier: [1, 2], planOf: (part: number) => `plan ${part}`, statuses: [final] }
  const found = async (exceptPlan?: string) =>
    (await findSentUnrecorded(openParts(script).deps, exceptPlan)).map(({ part }) => part)
  expect(await found()).toEqual([1, 2])
  expect(await found('plan 1')).toEqual([2])
})

test('a part is sent again until a node has it, and a failure that is not final yet ends nothing', async () => {
  const attempt = { part: 1, signature: signatureNumber(1), lastValidHeight: 200, bytes: Buffer.from('part 1') }
  const land = async (...statuses: readonly Status[]) => {
    const { deps, calls } = openParts({ statuses })
    const clock = { ...heldClock, sleep: () => Promise.resolve() }
    const outcome = await landPart({ ...deps, clock }, attempt, new AbortController().signal)
    return [outcome, calls.filter((call) => call !== 'poll')]
  }
  expect(await land(undefined, undefined, final)).toEqual([undefined, Array(2).fill('broadcast part 1')])
  expect(await land({ isFinalized: false, hasFailed: false })).toEqual([undefined, []])
  const failing = { isFinalized: false, hasFailed: true }
  expect(await land(failing, undefined, final)).toEqual([undefined, ['broadcast part 1']])
})
