import { expect, test } from 'vitest'
import { readAddress } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { tabIdBytes, tabIdOf } from '@tollbook/core/tab'
import { prepaidOn } from '../../src/accounting/account.ts'
import { createBalanceReader } from '../../src/store/tabBalances.ts'
import { openPool } from '../kernel/openKernel.ts'
import { withAdminSession } from '../support/adminSession.ts'
import { createTestDatabase } from '../support/database.ts'

const { serviceUrl, adminUrl } = await createTestDatabase()
const pool = openPool(serviceUrl)
const addressOf = (text: string) => assertPresent(readAddress(text), 'the text is an address')
const token = addressOf('So11111111111111111111111111111111111111112')
const dollar = addressOf('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v')
const tabOf = (byte: number) => tabIdOf(new Uint8Array(tabIdBytes).fill(byte))
const [rich, poor] = [tabOf(1), tabOf(2)]

test('balances that are asked for at once share a statement, and each is that of its tab and mint', async () => {
  await withAdminSession(adminUrl, async (session) => {
    await session.query("begin; set local ledger.writing = 'on'")
    for (const [mint, tab, balance] of [
      [token, rich, -700],
      [dollar, rich, -3],
      [dollar, poor, -5],
    ] as const)
      await session.query(
        `insert into ledger.accounts (mint, name, class, hourly, ceiling, balance) values ($1, $2, 'prepaid', true, 0, $3)`,
        [mint, prepaidOn(tab), balance],
      )
    await session.query('commit')
  })
  let statements = 0
  const counting = new Proxy(pool, {
    get(target, name, receiver): unknown {
      if (name === 'query') statements += 1
      return Reflect.get(target, name, receiver)
    },
  })
  const read = createBalanceReader(counting)
  const questions = [rich, poor, rich, rich].flatMap((id) => [token, dollar].map((mint) => ({ id, mint })))
  expect(await Promise.all(questions.map(read))).toEqual([700n, 3n, 0n, 5n, 700n, 3n, 700n, 3n])
  expect(statements).toBe(1)
})
