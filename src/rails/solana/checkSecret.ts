import { bindSecret } from '@tollbook/core/binding'
import { isRefusal, type Refusal } from '@tollbook/core/refusal'
import type { Settlement } from '../../payment/settlement.ts'
import type { SolanaProof } from './solanaProof.ts'

/** Refuses a caller that does not know the secret of a bound payment: the memo on chain is public, the secret behind it is not. */
export function checkSecret(
  { secret }: Pick<SolanaProof, 'secret'>,
  { memo }: Pick<Settlement, 'memo'>,
): Refusal | undefined {
  const binding = bindSecret(memo === undefined ? [] : [memo], secret)
  return isRefusal(binding) ? binding : undefined
}
