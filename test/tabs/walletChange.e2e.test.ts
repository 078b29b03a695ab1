import { expect, test } from 'vitest'
import { z } from 'zod'
import { auditLedger } from '../support/ledgerFindings.ts'
import { ask, askForQuote, qrOrder } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { changeSettings, openWallet } from '../support/changeSettings.ts'
import { openTestService, type TestService } from '../support/testService.ts'
import { askOnTab, newSessionKey, openFinalTab } from './tabClient.ts'

const overlapMs = 60 * 60 * 1000

const custodyBody = z.object({
  data: z.object({
    wallet: z.string(),
    heldBaseUnits: z.string(),
    prepaidBaseUnits: z.string(),
    isCovered: z.boolean(),
  }),
})
const custodyOf = async ({ baseUrl }: TestService) =>
  custodyBody.parse(await (await fetch(`${baseUrl}/api/tabs/custody`)).json()).data

test('the wallet for tabs changes while tabs are open: either instance serves deposits to both, and both cover the tabs', async () => {
  const outgoing = await openTestService({ sellsTabs: true })
  const tab = await openFinalTab(outgoing)
  const newWallet = await openWallet(outgoing, tab.mint)
  await expect(openTestService({ besides: outgoing, env: { TAB_WALLET: newWallet } })).rejects.toThrow(
    `npx tollbook wallet tabs change ${newWallet}`,
  )
  await changeSettings(outgoing, { 'tab-wallet': newWallet }, overlapMs)
  const incoming = await openTestService({ besides: outgoing, env: { TAB_WALLET: newWallet } })
  await awaitThat(
    'the outgoing instance knows both wallets',
    async () => (await custodyOf(outgoing)).wallet === newWallet,
  )
  for (const [asked, served] of [
    [outgoing, incoming],
    [incoming, outgoing],
  ] as const) {
    const order = { path: '/api/tabs', body: { depositUsd: 1, sessionKey: newSessionKey().address } }
    const quote = await askForQuote(asked, order)
    expect(quote.paymentWallet === newWallet).toBe(asked === incoming)
    const proof = await outgoing.payer.pay(quote, 'boundSignature')
    expect(await ask(served, { ...order, proof })).toMatchObject({ status: 200 })
  }
  expect((await askOnTab(incoming, tab, qrOrder, { number: 1 })).status).toBe(200)
  const { wallet, heldBaseUnits, isCovered } = await custodyOf(incoming)
  expect([wallet, BigInt(heldBaseUnits), isCovered]).toEqual([newWallet, 3n * BigInt(tab.depositBaseUnits), true])
  outgoing.chain.advanceSlots(40)
  const { findings } = await auditLedger(outgoing.database.serviceUrl, {
    rpcUrl: outgoing.chain.rpcUrl,
    paymentWallet: outgoing.paymentWallet.publicKey.toBase58(),
  })
  expect(findings.map(({ code, subject, message }) => `${code} ${subject}: ${message}`)).toEqual([])
})
