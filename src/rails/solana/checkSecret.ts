import { bindSecret } from '@tollbook/core/binding'
import { memoPrefix } from '@tollbook/core/quote'
import { isRefusal, type Refusal } from '@tollbook/core/refusal'
import type { Settlement } from '../../payment/settlement.ts'
import type { SolanaProof } from './solanaProof.ts'

type Holder = Pick<SolanaProof, 'secret' | 'isPayer'>

/** The memo on chain is public, but its secret is not, so a stranger cannot use a bound payment. */
export function checkSecret(holder: Holder, { memo }: Pick<Settlement, 'memo'>): Refusal | undefined {
  const binding = bindHolder(memo === undefined ? [] : [memo], holder)
  return isRefusal(binding) ? binding : undefined
}

/** Needs no secret if a signature has proven that the caller is the payer. */
export function bindHolder(memos: readonly string[], { secret, isPayer }: Holder): ReturnType<typeof bindSecret> {
  return isPayer === true ? { memo: memos.find((memo) => memo.startsWith(memoPrefix)) } : bindSecret(memos, secret)
}
