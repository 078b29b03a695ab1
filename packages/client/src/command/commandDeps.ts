import type { Clock } from '@tollbook/core/clock'

export interface OutputStream {
  write(text: string): unknown
  /** True at a terminal, which gets text. A program gets JSON. */
  readonly isTTY?: boolean
}

export interface PayCommandDeps {
  /** Name that the user types, for hints. */
  readonly name: string
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  /** Folder of payments between signing and answer. */
  readonly paymentFolder: string
  /** Reads the defaults of a local mode on this machine. Undefined if none runs. */
  readonly readLocal: () => Promise<LocalDefaults | undefined>
  /** Aborted by Ctrl-C. */
  readonly interrupted: AbortSignal
  readonly clock?: Clock
}

/** Values of a local mode on this machine, used for options that are not given. */
export interface LocalDefaults {
  readonly baseUrl: string
  readonly rpcUrl?: string | undefined
  readonly tokenMint: string
  readonly paymentWallet: string
  readonly demoWallet?: { readonly keypairPath: string } | undefined
  readonly receiptKey?: unknown
}
