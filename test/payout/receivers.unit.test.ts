import { expect, test } from 'vitest'
import { identifiedPlan } from '../../src/accounting/payoutPlan.ts'
import { preparePart } from '../../src/payout/preparePart.ts'
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
  const [owned, frozen, noting, closed, missing, otherwise] = Array.from({ length: 6 }, sampleAddress)
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
    // Lamports that a stranger sent to the address.
    { lamports: 1n, token: undefined },
  ]
  const wallets = [ready, owned, frozen, noting, closed, missing, otherwise].map((each) => each ?? ready)
  const slots: unknown[] = []
  const receivers = await readReceivers(
    {
      database: scriptedDatabase((_statement, values) =>
        [closed, otherwise].filter((each) => values.flat().includes(each)).map((each) => ({ wallet: each })),
      ),
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
    { kind: 'missing', wasPaid: true },
  ])
  expect(slots).toEqual([900])
})

test('a line whose wallet closed its account after an earlier payout is left out, although the plan opens accounts', async () => {
  const wallet = sampleAddress()
  const line = { account: 'Liabilities:Share:provider', wallet, baseUnits: 5n }
  const head = { network: 'solana:test', mint, decimals: 6, paymentWallet, position: 1, slot: 900 }
  const plan = identifiedPlan({ ...head, opens: [wallet], parts: [[line]] })
  const preparedWith = (paid: readonly object[]) => {
    const chain = {
      terms,
      readAccounts: () => Promise.resolve([undefined]),
      latestBlockhash: () => Promise.resolve({ blockhash: paymentWallet, lastValidBlockHeight: 9 }),
      reader: { simulate: () => Promise.resolve({ outcome: 'unknown' }) },
    }
    const deps = Object.assign(Object.create(null), { database: scriptedDatabase(() => paid), chain })
    return preparePart(deps, { plan, part: 1, feePayer: paymentWallet })
  }
  expect(await preparedWith([])).toMatchObject({ leftOut: [], payout: { lastValidBlockHeight: 9 } })
  const { payout, leftOut } = await preparedWith([{ wallet }])
  expect([payout, leftOut.map(({ why }) => why)]).toEqual([
    undefined,
    [expect.stringContaining('this part does not open one')],
  ])
})
