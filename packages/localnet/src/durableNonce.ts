import { sameBytes } from './byteKey.ts'
import type { Message } from './chainTransaction.ts'
import { programNameOf } from './programs.ts'
import type { AccountState } from './svm.ts'

/**
 * True if the transaction uses a durable nonce instead of a blockhash. The first instruction must then advance a nonce
 * account that stores this nonce. The engine makes the other checks, such as the signature of the authority.
 */
export function namesStoredNonce(
  { instructions, staticKeys, recentBlockhash }: Message,
  account: (address: Uint8Array) => AccountState | undefined,
): boolean {
  const [first] = instructions
  const program = first === undefined ? undefined : staticKeys[first.programIndex]
  if (first === undefined || program === undefined || programNameOf(program) !== 'system') return false
  if (!sameBytes(first.data.subarray(0, advanceNonce.length), advanceNonce)) return false
  const address = staticKeys[first.accountIndexes[0] ?? staticKeys.length]
  const nonce = address === undefined ? undefined : storedNonce(account(address))
  return nonce !== undefined && sameBytes(nonce, recentBlockhash)
}

/** System instruction 4 as a u32: AdvanceNonceAccount. */
const advanceNonce = Uint8Array.of(4, 0, 0, 0)

/** Start of an initialized nonce account in the current format: version 1 and state 1, each as a u32. */
const initialized = Uint8Array.of(1, 0, 0, 0, 1, 0, 0, 0)
// Range of the nonce. It follows version, state and the 32 bytes of the authority.
const nonceAt = 40
const nonceEnd = 72

function storedNonce(state: AccountState | undefined): Uint8Array | undefined {
  if (state === undefined || programNameOf(state.owner) !== 'system' || state.data.length < nonceEnd) return undefined
  const isInitialized = sameBytes(state.data.subarray(0, initialized.length), initialized)
  return isInitialized ? state.data.subarray(nonceAt, nonceEnd) : undefined
}
