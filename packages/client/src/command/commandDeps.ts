import type { Clock } from '@tollbook/core/clock'

export interface OutputStream {
  write(text: string): unknown
  /** True for a terminal. On stdout, a terminal gets text, and any other stream gets JSON. */
  readonly isTTY?: boolean
}

export interface PayCommandDeps {
  readonly name: string
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  /** Default folder for signed payments without an answer, and for tabs. */
  readonly paymentFolder: string
  /** Resolves to undefined if no local mode runs on this machine. */
  readonly readLocal: () => Promise<LocalDefaults | undefined>
  readonly interrupted: AbortSignal
  readonly clock?: Clock
}

/**
 * Defaults from local mode for options that the user does not give. `paymentWallet` has no option: `pay` refuses an
 * offer of local mode with another wallet.
 */
export interface LocalDefaults {
  readonly baseUrl: string
  readonly rpcUrl?: string | undefined
  readonly tokenMint: string
  readonly paymentWallet: string
  readonly demoWallet?: { readonly keypairPath: string } | undefined
  readonly receiptKey?: unknown
}
