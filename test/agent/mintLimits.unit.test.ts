import { expect, test } from 'vitest'
import { keypairWallet, type StoredSpending } from '@tollbook/client'
import { readPolicy } from '@tollbook/agent/policy/policy'
import { createPurchases, type PurchasesDeps } from '@tollbook/agent/wallet/purchases'
import type { FetchOrder } from '@tollbook/agent/walletWire'
import { Keypair } from '@solana/web3.js'
import { startScriptedService } from '../client/support/scriptedService.ts'
import { mint, network } from '../client/support/testToken.ts'

/* A price of 20,000,000 base units, after 5 base units that were spent today at the same host. */

const price = 20_000_000
const token = mint.toBase58()
const wallet = keypairWallet(Keypair.generate())

/** A wallet with these spendings buys at the service, and permits these mints. */
async function openBuyer(spent: readonly Partial<StoredSpending>[]) {
  const { baseUrl, rpcUrl } = await startScriptedService()
  const { host } = new URL(baseUrl)
  const spendings = spent.map((more) => ({
    signature: 's',
    mint: token,
    host,
    atMs: Date.now(),
    attoUsd: 0n,
    baseUnits: 0n,
    ...more,
  }))
  const store = {
    spending: () => Promise.resolve(spendings),
    pending: () => Promise.resolve([]),
    keep: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
  return (mints: Record<string, object>) => {
    const text = JSON.stringify({ rpcUrl, network, hosts: { [host]: {} }, mints, tabs: false })
    const readFile = () => Promise.resolve({ policy: readPolicy(text, 'policy.json'), text })
    // A purchase needs nothing else of the folder.
    const purchases = createPurchases({ wallet, answered: { store }, readPolicy: readFile } as unknown as PurchasesDeps)
    const order: FetchOrder = { intent: 'pay', method: 'GET', url: `${baseUrl}/api/data/crypto`, headers: [] }
    return purchases.make(order, new AbortController().signal)
  }
}

test('a limit is reported in preference to a mint that is not offered, in each order of the mints', async () => {
  const buy = await openBuyer([])
  const limited = { [token]: { name: 'TOLL', usdPerToken: '0.001', totalBaseUnits: '1' } }
  const other = { [wallet.address]: { name: 'OTHER', usdPerToken: '1' } }
  for (const mints of [
    { ...other, ...limited },
    { ...limited, ...other },
  ])
    await expect(buy(mints)).rejects.toMatchObject({ name: 'SpendingLimitExceeded', scope: 'in total' })
  await expect(buy(other)).rejects.toMatchObject({ name: 'QuoteRefused', problem: 'other_mint' })
})

test.each([
  ['perRequestBaseUnits', 'per request', price],
  ['perDayBaseUnits', 'per day', price + 5],
  ['perHostBaseUnits', 'per host', price + 5],
  ['totalBaseUnits', 'in total', price + 5],
])('%s limits the base units of its mint %s', async (name, scope, enough) => {
  const buy = await openBuyer([{ baseUnits: 5n }])
  const buyWithin = (baseUnits: number) =>
    buy({ [token]: { name: 'TOLL', usdPerToken: '0.001', [name]: String(baseUnits) } })
  await expect(buyWithin(enough - 1)).rejects.toMatchObject({
    name: 'SpendingLimitExceeded',
    scope,
    unit: 'base units',
  })
  expect((await buyWithin(enough)).payment?.costBaseUnits).toBe(String(price))
})
