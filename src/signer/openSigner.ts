import type { Address } from '@tollbook/core/address'
import { createFeePayerSigner, type FeePayerSigner, type FeePayerSignerDeps } from './feePayerSigner.ts'
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
const retentionMs = 2 * 24 * 60 * 60 * 1000

/** Opens the signer, which answers on its socket from then on. Refuses a socket that another signer listens on. */
export async function openSigner(options: SignerOptions): Promise<OpenSigner> {
  const opened = Promise.withResolvers<FeePayerSigner>()
  const server = await openSignerServer({ ...options, signer: opened.promise })
  try {
    const journal = await openSigningJournal(options.journalFile, options.clock.nowMs() - retentionMs)
    const signer = createFeePayerSigner({ ...options, journal })
    opened.resolve(signer)
    return {
      address: signer.address,
      async close() {
        await server.close()
        await journal.close()
      },
    }
  } catch (error) {
    await server.close()
    throw error
  }
}
