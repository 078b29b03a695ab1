import { describeError } from '@tollbook/core/fault'
import { type Repeated, repeat, type RepeatDeps } from './repeat.ts'

export interface QuoteRetentionDeps extends RepeatDeps {
  readonly dropOldQuotes: () => Promise<readonly string[]>
  readonly showQuoteStorage: () => Promise<void>
  /**
   * Undefined while the clocks of server and database agree. With a clock that is days ahead, every quote would seem
   * old.
   */
  readonly clockProblem: () => string | undefined
}

const everyMs = 60_000
const dropEveryMs = 60 * 60 * 1000

/** Starts to drop old quotes, once an hour. Every instance may run this at any time. */
export function startQuoteRetentionJob(deps: QuoteRetentionDeps): Repeated {
  const { clock } = deps
  let dropAtMs = clock.monotonicMs()
  return repeat(deps, {
    name: 'quote retention',
    everyMs,
    async run() {
      await deps.showQuoteStorage()
      if (clock.monotonicMs() < dropAtMs || deps.clockProblem() !== undefined) return
      dropAtMs = clock.monotonicMs() + dropEveryMs
      await drop(deps)
    },
  })
}

async function drop({ dropOldQuotes, log }: QuoteRetentionDeps): Promise<void> {
  try {
    const days = await dropOldQuotes()
    if (days.length > 0) log.info({ event: 'quotes_dropped', days })
  } catch (error) {
    log.warn({ event: 'quotes_not_dropped', error: describeError(error) })
  }
}
