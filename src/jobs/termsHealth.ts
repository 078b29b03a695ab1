import { Fault } from '@tollbook/core/fault'
import type { PaymentTerms } from '../payment/settlement.ts'
import { repeat, type RepeatDeps } from './repeat.ts'
import type { Watch } from './watch.ts'

export interface TermsHealthDeps extends RepeatDeps {
  readonly terms: PaymentTerms
  /** Applies a changed transfer fee. Throws if payments with this mint can no longer be proven. */
  readonly readTerms: () => Promise<PaymentTerms>
}

// Interval between readings. An announced transfer fee takes effect after more than an epoch (days), but extensions of
// the mint can change at once.
const everyMs = 10 * 60 * 1000

/**
 * Closes paid routes after a change of the mint, because a quote by old terms could ask for too little. A changed
 * transfer fee closes nothing.
 */
export function startTermsHealth(deps: TermsHealthDeps): Watch {
  let problem: string | undefined
  const task = repeat(deps, {
    name: 'terms watch',
    everyMs,
    async run() {
      const found = await findChange(deps)
      if (found === undefined || found === problem) return
      problem = found
      deps.log.error({ event: 'terms_changed', problem })
    },
  })
  return { problem: () => problem, stop: () => task.stop() }
}

async function findChange({ readTerms, terms }: TermsHealthDeps): Promise<string | undefined> {
  try {
    const same = describe(await readTerms()) === describe(terms)
    return same ? undefined : 'the mint of the token has changed; the service has to be started again'
  } catch (error) {
    // Report only a refusal of the mint, which has its own message. A node that does not answer shows nothing about the
    // mint.
    if (!(error instanceof Fault) || error.retryable) throw error
    return error.message
  }
}

function describe(terms: PaymentTerms): string {
  return JSON.stringify(terms)
}
