import { Keypair, PublicKey } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { splTokenProgram } from '@tollbook/core/programs'
import { burnChainOf } from '../../src/burn/openBurner.ts'
import type { AccountsQuestion, ChainAccount } from '../../src/chain/accountStates.ts'
import { createBurnKey } from '../../src/chain/burnTransaction.ts'
import { heldClock } from '../jobs/jobFixture.ts'
import { mint, otherWallet, wallet } from '../payment/paymentStory.ts'
import { addressOf, signerKey } from '../support/feePayerKey.ts'
import { scriptedDatabase } from '../support/scriptedDatabase.ts'

/* The delegate of a burn, as a node shows it. */

const keypair = Keypair.fromSeed(new Uint8Array(32).fill(5))
const delegate = addressOf(keypair.publicKey.toBase58())
const terms = {
  mint,
  decimals: 6,
  tokenProgram: addressOf(splTokenProgram),
  paymentWallet: wallet,
  paymentTokenAccount: otherWallet,
  network: 'solana:test',
}
const { signBurn } = createBurnKey(signerKey(keypair), terms)
const { bytes } = signBurn({ round: 1, baseUnits: 42n, blockhash: PublicKey.default.toBase58() })

function tokenAccount(changes: Partial<NonNullable<ChainAccount['token']>>): ChainAccount {
  const state = { isFrozen: false, requiresMemo: false, baseUnits: 100n }
  return { lamports: 1n, token: { mint, owner: wallet, ...state, delegate, allowanceBaseUnits: 958n, ...changes } }
}

/** A node that is behind unless a later slot is asked for. The burn landed in slot 905, and slot 905 is final. */
function readDelegate(after: ChainAccount, finalizedSlot?: number) {
  const readAccounts = ({ addresses, commitment, minSlot }: AccountsQuestion) => {
    const isAfter = commitment === 'finalized' ? minSlot >= 905 : minSlot >= 950
    const states = new Map([
      [otherWallet, isAfter ? after : tokenAccount({ allowanceBaseUnits: 1_000n })],
      [delegate, { lamports: isAfter ? 45_000n : 50_000n, token: undefined }],
    ])
    return Promise.resolve(addresses.map((address) => states.get(address)))
  }
  const chain = { reader: {}, terms, readAccounts, nodes: { newestSlot: () => 950 } }
  const database = scriptedDatabase(() => [])
  return burnChainOf(Object.assign(Object.create(null), chain), { database, clock: heldClock }).readDelegate(
    bytes,
    finalizedSlot,
  )
}

test('the delegate is read in a state that includes the slot of the verdict, or else the newest one', async () => {
  const after = { allowanceBaseUnits: 958n, lamports: 45_000n }
  expect(await readDelegate(tokenAccount({}), 905)).toEqual(after)
  expect(await readDelegate(tokenAccount({}))).toEqual(after)
})

test('the allowance of another delegate does not count', async () => {
  const other = tokenAccount({ delegate: wallet })
  expect(await readDelegate(other, 905)).toEqual({ allowanceBaseUnits: 0n, lamports: 45_000n })
})
