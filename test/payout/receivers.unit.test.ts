import { expect, test } from 'vitest'
import { readReceivers } from '../../src/payout/receivers.ts'
import { mint, wallet as paymentWallet } from '../payment/paymentStory.ts'
import { sampleAddress } from '../store/samplePayment.ts'
import { scriptedDatabase } from '../support/scriptedDatabase.ts'

const terms = {
  mint,
  decimals: 6,
  tokenProgram: mint,
  paymentWallet,
  paymentTokenAccount: paymentWallet,
  network: 'solana:test',
}

test('an account that cannot receive is named with its reason, and a missing one with whether it was paid before', async () => {
  const [ready, stranger] = [sampleAddress(), sampleAddress()]
  const [owned, frozen, noting, closed, missing] = Array.from({ length: 5 }, sampleAddress)
  const open = {
    mint,
    baseUnits: 0n,
    isFrozen: false,
    requiresMemo: false,
    delegate: undefined,
    allowanceBaseUnits: 0n,
  }
  const token = (owner = ready, changes = {}) => ({ lamports: 1n, token: { ...open, owner, ...changes } })
  const states = [
    token(ready),
    token(stranger),
    token(frozen, { isFrozen: true }),
    token(noting, { requiresMemo: true }),
    undefined,
    undefined,
  ]
  const wallets = [ready, owned, frozen, noting, closed, missing].map((each) => each ?? ready)
  const slots: unknown[] = []
  const receivers = await readReceivers(
    {
      database: scriptedDatabase(() => [{ wallet: closed }]),
      chain: {
        terms,
        readAccounts({ minSlot }) {
          slots.push(minSlot)
          return Promise.resolve(states)
        },
      },
    },
    wallets,
    900,
  )
  const why = (text: string) => ({ kind: 'refusing', why: expect.stringContaining(text) })
  expect([...receivers.values()]).toEqual([
    { kind: 'ready' },
    why(`belongs to ${stranger}`),
    why('is frozen'),
    why('requires a memo'),
    { kind: 'missing', wasPaid: true },
    { kind: 'missing', wasPaid: false },
  ])
  expect(slots).toEqual([900])
})
