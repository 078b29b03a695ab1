import type { Clock } from '@tollbook/core/clock'

export interface OutputStream {
  write(text: string): unknown
  /** True if the stream is a terminal, which gets text. Other streams get JSON. */
  readonly isTTY?: boolean
}

export interface PayCommandDeps {
  /** Name of the command as the user types it, for hints. */
  readonly name: string
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  /** Default folder for signed payments without an answer, and for tabs. */
  readonly paymentFolder: string
  /** Reads the defaults of a local mode on this machine. Resolves to undefined if no local mode runs. */
  readonly readLocal: () => Promise<LocalDefaults | undefined>
  /** Signal that Ctrl-C aborts. */
  readonly interrupted: AbortSignal
  readonly clock?: Clock
}

/** Values of a local mode on this machine. They are the defaults of options that are not given. */
export interface LocalDefaults {
  readonly baseUrl: string
  readonly rpcUrl?: string | undefined
  readonly tokenMint: string
  readonly paymentWallet: string
  readonly demoWallet?: { readonly keypairPath: string } | undefined
  readonly receiptKey?: unknown
}
