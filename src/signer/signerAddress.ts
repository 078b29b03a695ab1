import type { TlsFiles } from './tlsIdentity.ts'

/** A Unix socket on the same machine, or a TCP port with mutual TLS. */
export type SignerAddress = SignerSocket | SignerPort

export interface SignerSocket {
  readonly socketPath: string
}

export interface SignerPort {
  readonly host: string
  readonly port: number
  readonly tls: TlsFiles
}

export function isSocket(address: SignerAddress): address is SignerSocket {
  return 'socketPath' in address
}
