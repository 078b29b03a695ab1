import { expect, test } from 'vitest'
import { listedMax } from '../../src/payment/finalityReader.ts'
import { findUnrecorded } from '../../src/payout/unrecordedPayouts.ts'
import { signatureNumber } from '../jobs/jobFixture.ts'
import { mint, otherWallet as account } from '../payment/paymentStory.ts'

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
