import { createTransferCheckedInstruction } from '@solana/spl-token'
import { ComputeBudgetProgram, type TransactionInstruction } from '@solana/web3.js'
import { encodeBase58 } from '@tollbook/core/base58'
import { assertPresent } from '@tollbook/core/assert'
import { imitated, payment, transferChecked } from '../labTokens.ts'
import { type PaymentLab, decimals, land, newCustomer, sendAndConfirm, signatureOf, signedBy } from '../paymentLab.ts'
import { type Presented, casesOf } from './verificationCase.ts'

/** Rule 1: it landed, it succeeded, and it is the transaction that was asked for. */
export const landingCases = casesOf([
  { rule: '1a', says: 'a payment that is confirmed', verdict: 'accepted', pay: payPlainly },
  {
    rule: '1a',
    says: 'a payment in a slot that is not confirmed yet',
    verdict: 'not_found',
    async pay(lab) {
      const payer = await newCustomer(lab)
      const transaction = await signedBy(lab.connection, payment(lab, payer), [payer.keypair])
      const signature = await lab.connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true })
      return { signature: signatureOf(signature), wallet: payer.address }
    },
  },
  {
    rule: '1a',
    says: 'a payment that was confirmed and then vanished with its fork',
    verdict: 'not_found',
    async pay(lab) {
      const payer = await newCustomer(lab)
      const fork = lab.chain.markFork()
      const signature = await land(lab, payment(lab, payer), [payer.keypair])
      lab.chain.dropFork(fork)
      lab.chain.advanceSlots(1)
      return { signature, wallet: payer.address }
    },
  },
  {
    rule: '1b',
    says: 'a full payment with an additional instruction that has no effect',
    verdict: 'accepted',
    pay: (lab) => payBeside(lab, imitated),
  },
  {
    rule: '1b',
    says: 'a full payment that fails as a whole, because another instruction of it fails',
    verdict: 'transaction_failed',
    async pay(lab) {
      const payer = await newCustomer(lab)
      const wrongDecimals = createTransferCheckedInstruction(
        payer.account,
        lab.mint,
        lab.paymentAccount,
        payer.address,
        1n,
        decimals + 1,
        [],
        lab.program,
      )
      const signature = await land(lab, [...payment(lab, payer), wrongDecimals], [payer.keypair])
      return { signature, wallet: payer.address }
    },
  },
  {
    rule: '1b',
    says: 'a payment that fails because the wallet holds too few tokens',
    verdict: 'INSUFFICIENT_BALANCE',
    async pay(lab) {
      const payer = await newCustomer(lab, lab.price.requiredBaseUnits - 1n)
      return { signature: await land(lab, payment(lab, payer), [payer.keypair]), wallet: payer.address }
    },
  },
  {
    rule: '1b',
    says: "another wallet's payment that failed for lack of tokens",
    verdict: 'wallet_did_not_sign',
    async pay(lab) {
      const [payer, presenter] = [await newCustomer(lab, 1n), await newCustomer(lab)]
      return { signature: await land(lab, payment(lab, payer), [payer.keypair]), wallet: presenter.address }
    },
  },
  {
    rule: '1c',
    says: 'a co-signed payment, by its first signature',
    verdict: 'accepted',
    pay: (lab) => presentCoSigned(lab, 0),
  },
  {
    rule: '1c',
    says: 'a co-signed payment, by its second signature',
    verdict: 'not_found',
    pay: (lab) => presentCoSigned(lab, 1),
  },
])

async function payPlainly(lab: PaymentLab): Promise<Presented> {
  const payer = await newCustomer(lab)
  return { signature: await land(lab, payment(lab, payer), [payer.keypair]), wallet: payer.address }
}

async function payBeside(
  lab: PaymentLab,
  change: (instruction: TransactionInstruction) => TransactionInstruction,
): Promise<Presented> {
  const payer = await newCustomer(lab)
  const tooMuch = transferChecked(lab, { from: payer.account, by: payer.address, amount: 10n ** 18n })
  const budget = ComputeBudgetProgram.setComputeUnitLimit({ units: 300_000 })
  const signature = await land(lab, [budget, ...payment(lab, payer), change(tooMuch)], [payer.keypair])
  return { signature, wallet: payer.address }
}

async function presentCoSigned(lab: PaymentLab, which: 0 | 1): Promise<Presented> {
  const [payer, sponsor] = [await newCustomer(lab), await newCustomer(lab, 0n)]
  const transaction = await signedBy(lab.connection, payment(lab, payer), [sponsor.keypair, payer.keypair])
  await sendAndConfirm(lab, transaction.serialize())
  const signature = assertPresent(transaction.signatures[which]?.signature, 'both have signed')
  return { signature: signatureOf(encodeBase58(signature)), wallet: payer.address }
}
