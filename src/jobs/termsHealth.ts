import { Fault } from '@tollbook/core/fault'
import type { PaymentTerms } from '../payment/settlement.ts'
import { repeat, type RepeatDeps } from './repeat.ts'
import type { Watch } from './watch.ts'

export interface TermsHealthDeps extends RepeatDeps {
  readonly terms: PaymentTerms
  /**
   * Reads the terms again, and applies another transfer fee. Throws if payments cannot be proven with the mint any
   * more.
   */
  readonly readTerms: () => Promise<PaymentTerms>
}

// An announced transfer fee takes more than an epoch (days) to come into effect; extensions of the mint can change at
// once. After a fee was lowered, payers refuse quotes until the next reading.
const everyMs = 10 * 60 * 1000

/** A change of the mint, except of its transfer fee, closes paid routes: a quote by old terms could ask for too little. */
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
    // A node that does not answer reports nothing about the mint. A refusal of the mint has its own message.
    if (!(error instanceof Fault) || error.retryable) throw error
    return error.message
  }
}

function describe(terms: PaymentTerms): string {
  return JSON.stringify(terms)
}
