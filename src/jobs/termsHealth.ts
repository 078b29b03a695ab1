import { Fault } from '@tollbook/core/fault'
import type { PaymentTerms } from '../payment/settlement.ts'
import { type Repeated, repeat, type RepeatDeps } from './repeat.ts'

export interface TermsHealth extends Repeated {
  /** Undefined while the mint is as it was at start. A quote by old terms could ask for too little. */
  problem(): string | undefined
}

export interface TermsHealthDeps extends RepeatDeps {
  /** The terms that were read at start. */
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

/**
 * Reads the mint again at intervals. A change, except of its transfer fee, closes paid routes until the service is
 * restarted with the new terms.
 */
export function startTermsHealth(deps: TermsHealthDeps): TermsHealth {
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

/** Text for comparing terms. JSON leaves out the transfer fee, which is a function. */
function describe(terms: PaymentTerms): string {
  return JSON.stringify(terms)
}
