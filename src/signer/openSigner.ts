import type { Address } from '@tollbook/core/address'
import { createFeePayerSigner, type FeePayerSignerDeps } from './feePayerSigner.ts'
import { openSignerServer, type SignerServerOptions } from './signerServer.ts'

export interface SignerOptions extends FeePayerSignerDeps, Omit<SignerServerOptions, 'signer'> {}

export interface OpenSigner {
  readonly address: Address
  /** Undefined if the signer listens on a socket. */
  readonly port: number | undefined
  close(): Promise<void>
}

/** Rejects if the address cannot be used, for example because another signer listens on the socket. */
export async function openSigner(options: SignerOptions): Promise<OpenSigner> {
  const signer = createFeePayerSigner(options)
  const { port, close } = await openSignerServer({ ...options, signer })
  return { address: signer.address, port, close }
}
