import type { Address } from '@tollbook/core/address'
import { createFeePayerSigner, type FeePayerSignerDeps } from './feePayerSigner.ts'
import { claimSocket, openSignerServer, type SignerServerOptions } from './signerServer.ts'
import { openSigningJournal } from './signingJournal.ts'

export interface SignerOptions extends Omit<FeePayerSignerDeps, 'journal'>, Omit<SignerServerOptions, 'signer'> {
  readonly journalFile: string
}

export interface OpenSigner {
  readonly address: Address
  close(): Promise<void>
}

// A transaction can land for some 60 seconds, and budgets are of one day.
const retentionMs = 2 * 24 * 60 * 60 * 1000

/** Opens the signer, which answers on its socket from then on. Refuses a socket that another signer listens on. */
export async function openSigner(options: SignerOptions): Promise<OpenSigner> {
  await claimSocket(options.socketPath)
  const journal = await openSigningJournal(options.journalFile, options.clock.nowMs() - retentionMs)
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
