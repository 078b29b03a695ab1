import { Keypair } from '@solana/web3.js'
import { expect, onTestFinished, test, vi } from 'vitest'
import { payoutWallets } from '../../src/cli/payoutAccess.ts'
import { sendParts } from '../../src/cli/payoutSend.ts'
import { openTerminal } from './support/terminal.ts'

test('each part is prepared for the wallet that pays its fees: the payment wallet, or the one that is given', async () => {
  const terminal = await openTerminal()
  const [wallet, other] = [Keypair.generate(), Keypair.generate()]
  const keypair = await terminal.writeFile('wallet.json', [...wallet.secretKey])
  const feePayer = await terminal.writeFile('other.json', [...other.secretKey])
  const prepared: unknown[] = []
  const payout = {
    terms: { paymentWallet: wallet.publicKey.toBase58() },
    prepare(_plan: unknown, part: number, payer: string) {
      prepared.push([part, payer])
      return Promise.resolve({ payout: undefined, leftOut: [] })
    },
  }
  const send = (feePayer: string | undefined) => {
    const order = { plan: {}, parts: [1, 2], keypair, feePayer }
    // The whole payout and the whole command are more than what is asked here.
    return sendParts(
      ...([{ stderr: { write: () => undefined } }, payout, order] as unknown as Parameters<typeof sendParts>),
    )
  }
  await send(undefined)
  await send(feePayer)
  const [own, given] = [wallet, other].map(({ publicKey }) => publicKey.toBase58())
  expect(prepared).toEqual([
    [1, own],
    [2, own],
    [1, given],
    [2, given],
  ])
})

test('a wallet of the option goes before the one of the configuration, which keeps the other shares', () => {
  const [provider, holders, other] = [1, 2, 3].map(() => Keypair.generate().publicKey.toBase58())
  vi.stubEnv('PAYOUT_WALLETS', `provider:${provider},holders:${holders}`)
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(Object.fromEntries(payoutWallets(`holders:${other}`))).toEqual({ provider, holders: other })
})
