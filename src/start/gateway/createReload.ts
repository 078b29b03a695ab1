import { canonicalText } from '@tollbook/core/canonicalJson'
import { describeError, errorText, Fault } from '@tollbook/core/fault'
import type { Log } from '../../machine/log.ts'
import type { HealthCheck } from '../../transport/freeRoute.ts'
import { closePart } from '../closePart.ts'
import type { OpenGateway } from './openGateway.ts'

type SellFile = (next: OpenGateway) => Promise<void>

export interface ReloadDeps {
  readonly log: Log
  readonly gateway: OpenGateway
  /** Throws a fault if the file has a mistake. */
  readonly openFile: () => OpenGateway
}

// Health message for a refused file. Callers can read this text, so only the log contains the mistakes.
const refused = 'the changed products file has mistakes and is not used; the log lists them'

export function createReload({ log, gateway, openFile }: ReloadDeps) {
  let hasMistakes = false
  let current = gateway
  let last = Promise.resolve()
  const replace = async (sell: SellFile) => {
    await using opened = new AsyncDisposableStack()
    const next = opened.adopt(openFile(), closePart)
    requireSameBuiltin(gateway, next)
    await sell(next)
    // Replace the connections. Requests in progress use the earlier connections, which close when they are idle.
    current = next
    opened.move()
  }
  const reload = async (sell: SellFile) => {
    try {
      await replace(sell)
      hasMistakes = false
      log.info({ event: 'products_file_read' })
    } catch (error) {
      // Log every error, because a bug in a reload must not end a service that sells.
      hasMistakes = true
      const text = error instanceof Fault ? errorText(error) : describeError(error)
      log.error({ event: 'products_file_refused', error: text })
    }
  }
  const check: HealthCheck = {
    name: 'products_file',
    problem: () => (hasMistakes ? refused : undefined),
    someProductsOnly: true,
  }
  return {
    checks: [check],
    /**
     * Reads the file again, and sells its products. Each reload waits for the previous one. Never throws: a file with a
     * mistake changes nothing.
     */
    reload(sell: SellFile) {
      last = last.then(() => reload(sell))
      return last
    },
    /** Waits for a reload in progress, because it opens connections. */
    close: () => last.then(() => current.close()),
  }
}

/** Throws if the file changes the built-in products, because they are loaded at the start only. */
function requireSameBuiltin(before: OpenGateway, after: OpenGateway): void {
  if (canonicalText(before.builtin) === canonicalText(after.builtin)) return
  throw new Fault('the products file changes the built-in products, which needs a restart', { retryable: false })
}
