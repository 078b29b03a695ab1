import type { Address } from '@tollbook/core/address'
import { createFeePayerSigner, type FeePayerSignerDeps } from './feePayerSigner.ts'
import { openSignerServer, type SignerServerOptions } from './signerServer.ts'

export interface SignerOptions extends FeePayerSignerDeps, Omit<SignerServerOptions, 'signer'> {}

export interface OpenSigner {
  readonly address: Address
  /** TCP port, where the signer listens on one. */
  readonly port: number | undefined
  close(): Promise<void>
}

/** Starts the signer. Refuses a socket on which another signer listens. */
export async function openSigner(options: SignerOptions): Promise<OpenSigner> {
  const signer = createFeePayerSigner(options)
  const { port, close } = await openSignerServer({ ...options, signer })
  return { address: signer.address, port, close }
}
