import { describe, expect, test } from 'vitest'
import { tabIdOf } from '@tollbook/core/tab'
import {
  decideClose,
  decideReturn,
  evolveLifecycle,
  isTabFinal,
  newLifecycle,
  type TabDepositOnRecord,
} from '../../src/payment/tab.ts'
import { mint, referenceNumber, wallet } from './paymentStory.ts'

type Standing = TabDepositOnRecord['standing']

function tabWith({ standings, lost = 0n, takenBack = 0n, isClosed = false }: Situation) {
  const deposits = standings.map((standing, index) => {
    const lostBaseUnits = standing === 'reversed' ? lost : 0n
    return { reference: referenceNumber(index), baseUnits: 100n, effectiveAtMs: 0, standing, lostBaseUnits }
  })
  const lifecycle = { ...newLifecycle, isClosed, version: isClosed ? 1 : 0, takenBackBaseUnits: takenBack }
  return { id: tabIdOf(new Uint8Array(16).fill(1)), wallet, mint, lifecycle, deposits }
}

interface Situation {
  readonly standings: readonly Standing[]
  readonly lost?: bigint
  readonly takenBack?: bigint
  readonly isClosed?: boolean
}

describe('a tab that is closed', () => {
  test.each<[Standing, bigint, bigint]>([
    ['final', 0n, 70n],
    ['open', 0n, 0n],
    ['reversed', 0n, 70n],
    ['reversed', 1n, 0n],
  ])(
    'owes its rest at once unless its second deposit is open or was lost: %s, %i lost, owes %i',
    (second, lost, owed) => {
      const decision = decideClose(tabWith({ standings: ['final', second], lost }), 'wallet', 70n)
      expect(decision?.events).toMatchObject([{ kind: 'TabClosed', restBaseUnits: owed }])
    },
  )

  test('keeps what was returned to it while a deposit is open', () => {
    expect(decideReturn(tabWith({ standings: ['final', 'open'], isClosed: true }), 70n)).toBeUndefined()
    expect(decideReturn(tabWith({ standings: ['final', 'final'] }), 70n)).toBeUndefined()
    const settled = tabWith({ standings: ['final', 'final'], isClosed: true })
    expect(decideReturn(settled, 0n)).toBeUndefined()
    expect(decideReturn(settled, 70n)?.events).toMatchObject([{ kind: 'TabRestOwed', restBaseUnits: 70n }])
  })

  test('covers the loss of a dropped deposit first, and no more than it has', () => {
    const dropped = { standings: ['final', 'reversed'], lost: 50n, isClosed: true } as const
    expect(decideReturn(tabWith(dropped), 70n)?.events).toMatchObject([{ takenBackBaseUnits: 50n }])
    expect(decideReturn(tabWith(dropped), 30n)?.events).toMatchObject([{ takenBackBaseUnits: 30n }])
    const covered = tabWith({ ...dropped, takenBack: 50n })
    expect(decideReturn(covered, 70n)?.events).toMatchObject([{ kind: 'TabRestOwed', restBaseUnits: 70n }])
  })
})

test.each<[Standing, boolean]>([
  ['final', true],
  ['open', false],
  ['reversed', false],
])('a debit of a tab is final only if every deposit is: the second one is %s', (second, isFinal) => {
  expect(isTabFinal(tabWith({ standings: ['final', second] }))).toBe(isFinal)
  expect(isTabFinal(tabWith({ standings: [second, 'final'] }))).toBe(isFinal)
})

test('what is owed and what was taken back for dropped deposits adds up, and replaced keys replace both', () => {
  const of = { tab: tabIdOf(new Uint8Array(16).fill(1)), mint }
  const closed = { kind: 'TabClosed', ...of, wallet, by: 'reversal', restBaseUnits: 0n } as const
  const taken = (takenBackBaseUnits: bigint) => ({ kind: 'TabTakenBack', ...of, takenBackBaseUnits }) as const
  const replaced = { kind: 'TabKeyReplaced', ...of, sessionKey: wallet, bearerHash: undefined } as const
  const owed = { kind: 'TabRestOwed', ...of, wallet, restBaseUnits: 7n } as const
  const lifecycle = [replaced, { ...closed, restBaseUnits: 5n }, taken(30n), owed, taken(20n)].reduce(
    evolveLifecycle,
    newLifecycle,
  )
  const keys = { sessionKey: wallet, bearerHash: undefined }
  expect(lifecycle).toEqual({ version: 5, isClosed: true, owedBaseUnits: 12n, takenBackBaseUnits: 50n, keys })
})
