import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Address } from '@tollbook/core/address'
import { decideFinality } from '../../src/payment/finality.ts'
import type { PaymentState } from '../../src/payment/payment.ts'
import type { Settlement } from '../../src/payment/settlement.ts'
import { findBroken } from '../kernel/checkLedger.ts'
import { openPool } from '../kernel/openKernel.ts'
import { mustAppend, openInstance } from '../store/instance.ts'
import {
  claimOf,
  fulfilmentOf,
  releaseOf,
  sampleAddress,
  samplePrice,
  sampleSettlement,
} from '../store/samplePayment.ts'
import { createTestDatabase } from '../support/database.ts'

/* Two mints in one ledger: nothing is configured for the second one; every account, sum and cap is per mint. */

const { serviceUrl, adminUrl } = await createTestDatabase()
const ledger = await openInstance(serviceUrl)
const admin = openPool(adminUrl, 2)
const mints = [sampleAddress(), sampleAddress()] as const

const story = fc.record({
  mint: fc.constantFrom(...mints),
  required: fc.bigInt({ min: 10n, max: 10n ** 15n }),
  overpaid: fc.bigInt({ min: 0n, max: 10n ** 9n }),
  ending: fc.constantFrom('fulfilled', 'released', 'claimed'),
  afterwards: fc.constantFrom('waiting', 'finalized', 'reversed'),
})
type Story = typeof story extends fc.Arbitrary<infer T> ? T : never

async function live({ mint, required, overpaid, ending, afterwards }: Story): Promise<void> {
  const price = { ...samplePrice('/api/data/weather', required), mint }
  const receivedBaseUnits = required - price.burnBaseUnits + overpaid
  const settlement = sampleSettlement({ price, receivedBaseUnits })
  const { attemptId, change } = claimOf(settlement)
  const { after: before } = await mustAppend(ledger, change)
  if (ending === 'claimed') return
  const end = (ending === 'fulfilled' ? fulfilmentOf : releaseOf)(settlement, { before, attemptId })
  await conclude(settlement, (await mustAppend(ledger, end)).after, afterwards)
}

async function conclude(
  { reference }: Settlement,
  before: PaymentState,
  afterwards: Story['afterwards'],
): Promise<void> {
  if (afterwards === 'waiting') return
  const reversed = { kind: 'reversed', reason: 'absent', finalizedSlot: 1 } as const
  const decision = decideFinality(before, afterwards === 'reversed' ? reversed : { kind: 'finalized', slot: 1 })
  if (decision !== undefined) await mustAppend(ledger, { reference, before, ...decision, nowMs: 0 })
}

/** By simple addition, per mint. */
function expected(stories: readonly Story[], mint: Address) {
  const own = stories.filter((each) => each.mint === mint)
  const isReversed = ({ ending, afterwards }: Story) => ending !== 'claimed' && afterwards === 'reversed'
  const isExposed = ({ ending, afterwards }: Story) =>
    ending === 'claimed' || (ending === 'fulfilled' && afterwards === 'waiting')
  const burnOf = ({ required }: Story) => (required * 3n + 9n) / 10n
  const sum = (of: (each: Story) => bigint, chosen: (each: Story) => boolean) =>
    own.filter(chosen).reduce((total, each) => total + of(each), 0n)
  return {
    wallet: sum(
      (each) => each.required - burnOf(each) + each.overpaid,
      (each) => !isReversed(each),
    ),
    burned: sum(burnOf, (each) => !isReversed(each)),
    shares: -sum(
      (each) => each.required - burnOf(each),
      ({ ending }) => ending === 'fulfilled',
    ),
    exposed: sum(({ required }) => required, isExposed),
  }
}

async function found(mint: Address) {
  const { rows } = await admin.query<{ wallet: string; burned: string; shares: string; exposed: string }>(
    `select coalesce(sum(balance) filter (where class = 'wallet'), 0) as wallet,
       coalesce(sum(balance) filter (where class = 'burned'), 0) as burned,
       coalesce(sum(balance) filter (where class = 'share'), 0) as shares,
       coalesce(sum(balance) filter (where class = 'exposed'), 0) as exposed
     from ledger.accounts where mint = $1`,
    [mint],
  )
  const [row] = rows
  return {
    wallet: BigInt(row?.wallet ?? 0),
    burned: BigInt(row?.burned ?? 0),
    shares: BigInt(row?.shares ?? 0),
    exposed: BigInt(row?.exposed ?? 0),
  }
}

test('payments in two mints at once leave exact sums in each, and nothing of one in the other', async () => {
  const all: Story[] = []
  await fc.assert(
    fc.asyncProperty(fc.array(story, { minLength: 4, maxLength: 30 }), async (stories) => {
      all.push(...stories)
      await Promise.all(stories.map(live))
      for (const mint of mints) {
        const sums = expected(all, mint)
        expect(await found(mint)).toEqual(sums)
        expect(await ledger.lifecycle.exposureBaseUnits(mint), 'the cap of a mint is judged by its own').toBe(
          sums.exposed,
        )
      }
    }),
    { numRuns: 8, endOnFailure: true },
  )
  expect(await findBroken(admin)).toEqual([])
})
