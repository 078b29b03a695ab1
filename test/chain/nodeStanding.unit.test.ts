import { expect, test } from 'vitest'
import { z } from 'zod'
import { tokenPrograms } from '@tollbook/core/programs'
import { assertPresent } from '@tollbook/core/assert'
import type { ChainNode } from '../../src/chain/chainNode.ts'
import { createNodeClient, type NodeCall } from '../../src/chain/nodeClient.ts'
import { defaultNodeLimits, judgeNodes } from '../../src/chain/nodeStanding.ts'
import { readShown } from '../../src/chain/shownInstruction.ts'
import { mint, otherWallet, wallet } from '../payment/paymentStory.ts'

/* Judgements about a node from its answers, and effects of an instruction that a node has decoded. */

test('a node of another network, however far ahead, puts no node of ours behind', () => {
  const nodeAt = (name: string, slot: number): ChainNode =>
    Object.assign(Object.create(null), {
      name,
      status: () => ({ slot, height: slot }),
      failingSinceMs: () => undefined,
      advancedAtMs: () => 0,
    })
  const nodes = [nodeAt('ours', 1_000), nodeAt('foreign', 9_000), nodeAt('late', 949)]
  const standings = judgeNodes(nodes, {
    limits: defaultNodeLimits,
    nowMs: 0,
    isForeign: ({ name }) => name === 'foreign',
  })
  expect(standings.map(({ lagSlots, problem }) => [lagSlots, problem])).toEqual([
    [0, undefined],
    [0, expect.stringContaining('another network')],
    [51, expect.stringContaining('51 slots behind')],
  ])
})

test.each([-32_005, -32_016, -32_603, 429])(
  'a node that answers %i is in trouble, and has refused nothing',
  async (code) => {
    const calls: NodeCall[] = []
    const { call } = createNodeClient({
      url: 'node',
      timeoutMs: 1,
      postJson: () => Promise.resolve({ error: { code, message: 'not now' } }),
      onCall: (outcome) => void calls.push(outcome),
    })
    await expect(call('getSlot', [], z.int())).rejects.toMatchObject({ name: 'NodeTrouble' })
    expect(calls).toEqual([{ method: 'getSlot', ok: false, isOutage: false, contextSlot: undefined }])
  },
)

test.each([
  ['mintTo', 'multisigMintAuthority', 'destination'],
  ['burn', 'multisigAuthority', 'source'],
  ['transfer', 'multisigAuthority', 'source'],
])('the effect of a %s that several keys have signed is read with its %s', (type, authority, account) => {
  const programId = assertPresent([...tokenPrograms][0], 'there are token programs')
  const accounts = { account: otherWallet, source: otherWallet, destination: otherWallet }
  const info = { ...accounts, mint, amount: '7', [authority]: wallet }
  expect(readShown({ programId, parsed: { type, info } }).effects).toEqual([
    expect.objectContaining({ kind: type, authority: wallet, amountBaseUnits: 7n, [account]: otherWallet }),
  ])
})
