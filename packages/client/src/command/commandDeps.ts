import type { Clock } from '@tollbook/core/clock'

export interface OutputStream {
  write(text: string): unknown
  /** Text for a person at a terminal; JSON for a program. */
  readonly isTTY?: boolean
}

/** Dependencies of the payer's command on the process. */
export interface PayCommandDeps {
  /** Name that the user types, for hints. */
  readonly name: string
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  /** Folder of payments between signing and answer. */
  readonly paymentFolder: string
  /** Defaults of a service in local mode; undefined if none runs here. */
  readonly readLocal: () => Promise<LocalDefaults | undefined>
  /** Aborted by Ctrl-C. */
  readonly interrupted: AbortSignal
  readonly clock?: Clock
}

/** Values of a local mode on this machine, used where no option is given. */
export interface LocalDefaults {
  readonly baseUrl: string
  readonly rpcUrl?: string | undefined
  readonly tokenMint: string
  readonly paymentWallet: string
  readonly demoWallet?: { readonly keypairPath: string } | undefined
  readonly receiptKey?: unknown
}
