import { bindSecret } from '@tollbook/core/binding'
import { memoPrefix } from '@tollbook/core/quote'
import { isRefusal, type Refusal } from '@tollbook/core/refusal'
import type { Settlement } from '../../payment/settlement.ts'
import type { SolanaProof } from './solanaProof.ts'

type Holder = Pick<SolanaProof, 'secret' | 'isPayer'>

/** Refuses a caller without the secret of a bound payment. The memo on chain is public, but its secret is not. */
export function checkSecret(holder: Holder, { memo }: Pick<Settlement, 'memo'>): Refusal | undefined {
  const binding = bindHolder(memo === undefined ? [] : [memo], holder)
  return isRefusal(binding) ? binding : undefined
}

/**
 * Returns the memo that binds the payment. Refuses a caller without the secret, unless a signature has proven that the
 * caller is the payer.
 */
export function bindHolder(memos: readonly string[], { secret, isPayer }: Holder): ReturnType<typeof bindSecret> {
  return isPayer === true ? { memo: memos.find((memo) => memo.startsWith(memoPrefix)) } : bindSecret(memos, secret)
}
