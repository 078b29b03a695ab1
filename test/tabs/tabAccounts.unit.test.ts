import { expect, test } from 'vitest'
import { tabIdOf } from '@tollbook/core/tab'
import { newLifecycle, type Tab } from '../../src/payment/tab.ts'
import { createTabAccounts } from '../../src/tabs/tabAccounts.ts'
import { heldClock } from '../jobs/jobFixture.ts'
import { mint, otherWallet, referenceNumber, settlementOf, wallet } from '../payment/paymentStory.ts'

const unused = (): never => {
  throw new Error('this test asks for nothing more')
}
const nowMs = heldClock.nowMs()
const terms = { sessionKey: wallet, bearerHash: 'ab', maxPerRequestBaseUnits: 7n, maxPerDayBaseUnits: 9n }
const deposit = { reference: referenceNumber(1), baseUnits: 5n, effectiveAtMs: 0, lostBaseUnits: 0n } as const

function tabWith(changes: Partial<Tab>, endsAtMs = nowMs + 1): Tab {
  return {
    id: tabIdOf(new Uint8Array(64).fill(1)),
    wallet,
    mint,
    deposit: deposit.reference,
    evidence: settlementOf(deposit.reference).evidence,
    terms: { ...terms, endsAtMs },
    sessionKey: wallet,
    bearerHash: undefined,
    lifecycle: newLifecycle,
    deposits: [{ ...deposit, standing: 'open' }],
    ...changes,
  }
}

function openAccounts(tab: Tab | undefined, closed: unknown[] = []) {
  return createTabAccounts({
    clock: heldClock,
    tabs: {
      find: () => Promise.resolve(tab),
      findAgain: unused,
      balanceBaseUnits: () => Promise.resolve(3n),
      spentTodayBaseUnits: unused,
      listHolding: unused,
      totals: unused,
      close(...question) {
        closed.push(question)
        return Promise.resolve({ restBaseUnits: 3n, hasChanged: true })
      },
      replaceKeys: unused,
    },
    terms: [],
    chain: { readBalance: unused },
    tabWallets: () => [],
    slot: () => 1,
  })
}

const show = (tab: Tab | undefined, id = tabWith({}).id) => openAccounts(tab).show(id)

test('a tab is open until its end, and then ended, unless it was closed', async () => {
  expect((await show(tabWith({})))?.facts).toMatchObject({ state: 'open', isFinal: false, balanceBaseUnits: '3' })
  expect((await show(tabWith({}, nowMs)))?.facts).toMatchObject({ state: 'ended' })
  const lifecycle = { ...newLifecycle, version: 2, isClosed: true }
  const closed = await show(tabWith({ lifecycle, deposits: [{ ...deposit, standing: 'final' }] }, nowMs))
  expect(closed).toMatchObject({ changes: 2, facts: { state: 'closed', isFinal: true } })
})

test('a tab shows its newest session key, and the limits and the kind of keys of its opening', async () => {
  const replaced = await show(tabWith({ sessionKey: otherWallet }))
  expect(replaced).toMatchObject({ sessionKey: otherWallet, hasBearerKey: true })
  expect(replaced?.facts).toMatchObject({ maxPerRequestBaseUnits: '7', maxPerDayBaseUnits: '9' })
})

test('a text that is not the id of a tab, and a tab that is not on record, show nothing', async () => {
  expect(await show(tabWith({}), 'not a tab')).toBeUndefined()
  expect(await show(undefined)).toBeUndefined()
})

test('a tab is closed by the key that asked for it, and the amount that is owed is a text', async () => {
  const closed: unknown[] = []
  const { id } = tabWith({})
  expect(await openAccounts(tabWith({}), closed).close(id, 'session_key')).toBe('3')
  await openAccounts(tabWith({}), closed).close(id, 'wallet')
  expect(closed).toEqual([
    [id, 'session_key', nowMs],
    [id, 'wallet', nowMs],
  ])
})
