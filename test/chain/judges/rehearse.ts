import { assertPresent } from '@tollbook/core/assert'
import { bindSecret } from '@tollbook/core/binding'
import { isRefusal, type Refusal, refuseProof } from '@tollbook/core/refusal'
import type { SignedTransaction, Simulation } from '../../../src/payment/proof.ts'
import { checkAccounts, judgeEffects } from '../../../src/rails/solana/submitTransaction.ts'
import type { Presented } from '../cases/verificationCase.ts'
import { type ChainFixture, addressOf } from '../chainFixture.ts'

/** A transaction, and what a node said about it before it was sent. */
export interface Rehearsed {
  readonly transaction: SignedTransaction
  readonly simulation: Simulation
}

/** The fixture, whose payments are rehearsed before they are sent. */
export function rehearsing(fixture: ChainFixture): { readonly fixture: ChainFixture; readonly last: () => Rehearsed } {
  let last: Rehearsed | undefined
  const beforeSend = async (bytes: Uint8Array): Promise<void> => {
    const transaction = fixture.reader.readTransaction(bytes)
    if (isRefusal(transaction)) throw new Error(`a case sends what cannot be rehearsed: ${transaction.message}`)
    last = { transaction, simulation: await fixture.reader.simulate(transaction) }
  }
  return {
    fixture: { ...fixture, beforeSend },
    last: () => assertPresent(last, 'a case sends its payment through the fixture'),
  }
}

/** Judges the transaction as the native rail does before it sends one. Undefined: it may be sent. */
export function judgeRehearsal(
  { terms: ownTerms, price }: ChainFixture,
  { wallet, secret, terms = ownTerms }: Presented,
  { transaction, simulation }: Rehearsed,
): Refusal | undefined {
  const order = { wallet: addressOf(wallet), endpoint: price.endpoint, digest: '' }
  const flaw = checkAccounts(terms, transaction, order)
  if (flaw !== undefined) return flaw
  if (simulation.outcome === 'would_fail') return refuseProof('simulation_failed', simulation.text)
  if (simulation.outcome !== 'would_succeed') throw new Error(`the rehearsal ended with ${simulation.outcome}`)
  const { effects } = simulation
  const bound = bindSecret(effects.memos, secret)
  if (isRefusal(bound)) return bound
  return judgeEffects(terms, { effects, order, transaction, price })
}
