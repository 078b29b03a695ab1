import type { Transaction } from '@solana/web3.js'
import { encodeBase58 } from '@tollbook/core/base58'
import { assertPresent } from '@tollbook/core/assert'
import { verdictOf } from '../../chain/cases/verificationCase.ts'
import { payment } from '../../chain/fixtureTokens.ts'
import { type Customer, newCustomer, signedBy } from '../../chain/chainFixture.ts'
import {
  openVerifierFixture,
  present,
  quoteFor,
  signatureProof,
  transactionProof,
  type VerifierFixture,
  type VerifierOptions,
} from '../../chain/verifierFixture.ts'
import { createTestDatabase } from '../../support/database.ts'

/* Payments to a service whose nodes misbehave, while the payer's own node is well. */

/** The first node of the service. The payer's own node comes before it. */
export const first = 1
export const finalitySlots = 32

/** A verifier whose chain is old enough to have a finalized state. */
export async function openSettledVerifier(options: VerifierOptions): Promise<VerifierFixture> {
  const verifier = await openVerifierFixture('SPL Token', (await createTestDatabase()).serviceUrl, options)
  verifier.chain.advanceSlots(40)
  await verifier.nodes.poll()
  return verifier
}

export interface Signed {
  readonly payer: Customer
  readonly transaction: Transaction
  /** As the transaction itself. */
  readonly header: string
  /** As a signature, when the payer has sent it. */
  readonly signatureHeader: string
}

export async function signPayment(verifier: VerifierFixture, tokens?: bigint, restSlots = 40): Promise<Signed> {
  const payer = await newCustomer(verifier, tokens)
  await quoteFor(verifier, payer)
  // Then the wallet has its tokens in the finalized state.
  verifier.chain.advanceSlots(restSlots)
  await verifier.nodes.poll()
  const transaction = await signedBy(verifier.connection, payment(verifier, payer), [payer.keypair])
  // The blockhash of a block that is only processed is not known in the confirmed state.
  verifier.chain.advanceSlots(2)
  const signature = encodeBase58(assertPresent(transaction.signature, 'it is signed'))
  const header = transactionProof(transaction.serialize())
  return { payer, transaction, header, signatureHeader: signatureProof(signature) }
}

export async function sendDirectly(verifier: VerifierFixture, { transaction }: Signed): Promise<void> {
  await verifier.connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true })
  verifier.chain.advanceSlots(2)
}

/** From here on the chain moves while the service waits. */
export function moveWhileWaiting(verifier: VerifierFixture): void {
  verifier.clock.onSleep(() => verifier.chain.advanceSlots(1))
}

export async function verdictAbout(verifier: VerifierFixture, { payer }: Signed, header: string): Promise<string> {
  return verdictOf(await present(verifier, payer, header))
}
