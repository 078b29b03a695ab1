import { createTransferCheckedInstruction } from '@solana/spl-token'
import { ComputeBudgetProgram, type TransactionInstruction } from '@solana/web3.js'
import { encodeBase58 } from '@tollbook/core/base58'
import { assertPresent } from '@tollbook/core/assert'
import { imitated, payment, transferChecked } from '../fixtureTokens.ts'
import {
  type ChainFixture,
  decimals,
  land,
  newCustomer,
  send,
  sendAndConfirm,
  signatureOf,
  signedBy,
} from '../chainFixture.ts'
import { type Presented, casesOf } from './verificationCase.ts'

/** Rule 1: it landed, it succeeded, and it is the transaction that was asked for. */
export const landingCases = casesOf([
  { rule: '1a', says: 'a payment that is confirmed', verdict: 'accepted', pay: payPlainly },
  {
    rule: '1a',
    says: 'a payment in a slot that is not confirmed yet',
    verdict: 'not_found',
    // It is confirmed in time.
    rehearsed: 'accepted',
    audited: 'accepted',
    async pay(fixture) {
      const payer = await newCustomer(fixture)
      const transaction = await signedBy(fixture.connection, payment(fixture, payer), [payer.keypair])
      return { signature: await send(fixture, transaction.serialize()), wallet: payer.address }
    },
  },
  {
    rule: '1a',
    says: 'a payment that was confirmed and then vanished with its fork',
    verdict: 'not_found',
    rehearsed: 'accepted',
    async pay(fixture) {
      const payer = await newCustomer(fixture)
      const fork = fixture.chain.markFork()
      const signature = await land(fixture, payment(fixture, payer), [payer.keypair])
      fixture.chain.dropFork(fork)
      fixture.chain.advanceSlots(1)
      return { signature, wallet: payer.address }
    },
  },
  {
    rule: '1b',
    says: 'a full payment with an additional instruction that has no effect',
    verdict: 'accepted',
    pay: (fixture) => payBeside(fixture, imitated),
  },
  {
    rule: '1b',
    says: 'a full payment that fails as a whole, because another instruction of it fails',
    verdict: 'transaction_failed',
    rehearsed: 'simulation_failed',
    async pay(fixture) {
      const payer = await newCustomer(fixture)
      const wrongDecimals = createTransferCheckedInstruction(
        payer.account,
        fixture.mint,
        fixture.paymentAccount,
        payer.address,
        1n,
        decimals + 1,
        [],
        fixture.program,
      )
      const signature = await land(fixture, [...payment(fixture, payer), wrongDecimals], [payer.keypair])
      return { signature, wallet: payer.address }
    },
  },
  {
    rule: '1b',
    says: 'a payment that fails because the wallet holds too few tokens',
    verdict: 'INSUFFICIENT_BALANCE',
    rehearsed: 'simulation_failed',
    async pay(fixture) {
      const payer = await newCustomer(fixture, fixture.price.requiredBaseUnits - 1n)
      return { signature: await land(fixture, payment(fixture, payer), [payer.keypair]), wallet: payer.address }
    },
  },
  {
    rule: '1b',
    says: "another wallet's payment that failed for lack of tokens",
    verdict: 'wallet_did_not_sign',
    async pay(fixture) {
      const [payer, presenter] = [await newCustomer(fixture, 1n), await newCustomer(fixture)]
      return { signature: await land(fixture, payment(fixture, payer), [payer.keypair]), wallet: presenter.address }
    },
  },
  {
    rule: '1c',
    says: 'a co-signed payment, by its first signature',
    verdict: 'accepted',
    pay: (fixture) => presentCoSigned(fixture, 0),
  },
  {
    rule: '1c',
    says: 'a co-signed payment, by its second signature',
    verdict: 'not_found',
    // A rehearsal has the transaction, and takes its first signature.
    rehearsed: 'accepted',
    pay: (fixture) => presentCoSigned(fixture, 1),
  },
])

async function payPlainly(fixture: ChainFixture): Promise<Presented> {
  const payer = await newCustomer(fixture)
  return { signature: await land(fixture, payment(fixture, payer), [payer.keypair]), wallet: payer.address }
}

async function payBeside(
  fixture: ChainFixture,
  change: (instruction: TransactionInstruction) => TransactionInstruction,
): Promise<Presented> {
  const payer = await newCustomer(fixture)
  const tooMuch = transferChecked(fixture, { from: payer.account, by: payer.address, amount: 10n ** 18n })
  const budget = ComputeBudgetProgram.setComputeUnitLimit({ units: 300_000 })
  const signature = await land(fixture, [budget, ...payment(fixture, payer), change(tooMuch)], [payer.keypair])
  return { signature, wallet: payer.address }
}

async function presentCoSigned(fixture: ChainFixture, which: 0 | 1): Promise<Presented> {
  const [payer, sponsor] = [await newCustomer(fixture), await newCustomer(fixture, 0n)]
  const transaction = await signedBy(fixture.connection, payment(fixture, payer), [sponsor.keypair, payer.keypair])
  await sendAndConfirm(fixture, transaction.serialize())
  const signature = assertPresent(transaction.signatures[which]?.signature, 'both have signed')
  return { signature: signatureOf(encodeBase58(signature)), wallet: payer.address }
}
