import type { Address } from '@tollbook/core/address'
import { createFeePayerSigner, type FeePayerSignerDeps } from './feePayerSigner.ts'
import { openSignerServer, type SignerServerOptions } from './signerServer.ts'
import { openSigningJournal } from './signingJournal.ts'

export interface SignerOptions extends Omit<FeePayerSignerDeps, 'journal'>, Omit<SignerServerOptions, 'signer'> {
  readonly journalFile: string
}

export interface OpenSigner {
  readonly address: Address
  close(): Promise<void>
}

// A transaction can land for some 60 seconds, and budgets are of one day.
const keptMs = 2 * 24 * 60 * 60 * 1000

/** The signer, ready to be asked. */
export async function openSigner(options: SignerOptions): Promise<OpenSigner> {
  const journal = await openSigningJournal(options.journalFile, options.clock.nowMs() - keptMs)
  const signer = createFeePayerSigner({ ...options, journal })
  const server = await openSignerServer({ ...options, signer })
  return {
    address: signer.address,
    async close() {
      await server.close()
      await journal.close()
    },
  }
}
