import { expect, test } from 'vitest'
import { payoutMemo } from '../../src/accounting/payoutPlan.ts'
import { listedMax, type ListQuestion } from '../../src/payment/finalityReader.ts'
import { findUnrecorded, paysPart } from '../../src/payout/unrecordedPayouts.ts'
import { signatureNumber } from '../jobs/jobFixture.ts'
import { mint, otherWallet as account, wallet as firstAccount } from '../payment/paymentStory.ts'
import { scriptedDatabase } from '../support/scriptedDatabase.ts'

const unused = (): never => {
  throw new Error('no payout is among these transactions')
}

/** A busy wallet: each page of payments is one slot older than the one before. Counts the pages that are read. */
function busyWallet(newestSlot: number) {
  let pages = 0
  const search = {
    // Asked about payouts only.
    database: Object.create(null),
    wallets: { tokenAccounts: () => Promise.resolve([account]) },
    chain: {
      terms: { mint },
      reader: { find: unused },
      finality: {
        listSignatures() {
          const slot = newestSlot - pages
          pages += 1
          const listed = { signature: signatureNumber(pages), slot, blockTimeMs: 0, hasFailed: false, memo: undefined }
          return Promise.resolve(Array.from({ length: listedMax }, () => listed))
        },
      },
    },
  }
  return { search, pages: () => pages }
}

test('payouts are searched back to the slot of the plan, however busy the wallet was since', async () => {
  const { search, pages } = busyWallet(500)
  expect(await findUnrecorded(search, 400)).toEqual([])
  expect(pages()).toBe(102)
})

test('a plan whose slot is not reached is refused, because a part that was paid would look unpaid', async () => {
  const { search } = busyWallet(5_000)
  await expect(findUnrecorded(search, 1)).rejects.toThrow(/newer than the plan/)
})

test('a payout from the second of two wallets is found, and one that failed on chain has paid nothing', async () => {
  const landed = signatureNumber(1)
  const memo = payoutMemo({ id: `payout_${'a'.repeat(32)}` }, 1)
  const listed = { signature: landed, slot: 500, blockTimeMs: 0, memo, hasFailed: false }
  const failed = { ...listed, signature: signatureNumber(2), hasFailed: true }
  const moved = { tokenAccount: account, mint, ownersSeen: [], beforeBaseUnits: 5n, afterBaseUnits: 2n }
  const record = Object.assign(Object.create(null), { balances: [moved] })
  const found = await findUnrecorded(
    {
      database: scriptedDatabase(() => []),
      wallets: { tokenAccounts: () => Promise.resolve([firstAccount, account]) },
      chain: {
        terms: { mint },
        reader: { find: () => Promise.resolve({ kind: 'found', record, slot: 500, nodes: 1, isAgreed: true }) },
        finality: {
          listSignatures: (question: ListQuestion) =>
            Promise.resolve(question.account === account ? [listed, failed] : []),
        },
      },
    },
    400,
  )
  expect(found.map(({ signature }) => signature)).toEqual([landed])
})

test('the memo of part 11 is not that of part 1, and a node lists it with its length', () => {
  const plan = { id: `payout_${'a'.repeat(32)}` }
  const listed = (part: number, of = plan) => ({ memo: `[62] ${payoutMemo(of, part)}` })
  expect(paysPart(listed(1), plan, 1)).toBe(true)
  expect(paysPart(listed(11), plan, 1)).toBe(false)
  expect(paysPart(listed(1), plan, 11)).toBe(false)
  expect(paysPart(listed(1, { id: `payout_${'b'.repeat(32)}` }), plan, 1)).toBe(false)
  expect(paysPart({ memo: undefined }, plan, 1)).toBe(false)
  // A multisig that builds the transaction may add a memo.
  const withAnother = { memo: `[3] abc; ${listed(1).memo}; [5] hello` }
  expect(paysPart(withAnother, plan, 1)).toBe(true)
  expect(paysPart({ memo: `${listed(11).memo}; [5] hello` }, plan, 1)).toBe(false)
})
