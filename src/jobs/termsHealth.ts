import { Fault } from '@tollbook/core/fault'
import type { PaymentTerms } from '../payment/settlement.ts'
import { type Repeated, repeat, type RepeatDeps } from './repeat.ts'

export interface TermsHealth extends Repeated {
  /** Undefined while the mint is as it was read at start. A quote by old terms could ask for too little. */
  problem(): string | undefined
}

export interface TermsHealthDeps extends RepeatDeps {
  /** As they were read at start. */
  readonly terms: PaymentTerms
  /** Reads them from the chain again, and takes over another transfer fee; throws when the mint has become one that payments cannot be proved with. */
  readonly readTerms: () => Promise<PaymentTerms>
}

// An announced transfer fee takes more than an epoch, some days, to come into effect; extensions that were there at start can
// be turned on at once. Payers refuse a quote with a fee that was lowered until it is read.
const everyMs = 10 * 60 * 1000

/**
 * Reads the mint again at intervals. A change, except of its transfer fee, closes paid routes until the service is restarted with
 * the new terms.
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
    // A node that does not answer reports nothing about the mint; a mint that is refused now has a message.
    if (!(error instanceof Fault) || error.retryable) throw error
    return error.message
  }
}

/** Two texts are equal when the terms are. The transfer fee is a function, which JSON leaves out. */
function describe(terms: PaymentTerms): string {
  return JSON.stringify(terms)
}
