import { canonicalText } from '@tollbook/core/canonicalJson'
import { describeError, errorText, Fault } from '@tollbook/core/fault'
import type { OpenRoutes } from '../../gateway/openRoutes.ts'
import type { Log } from '../../machine/log.ts'
import type { HealthCheck } from '../../transport/freeRoute.ts'
import type { Offers, Products } from '../products/openProducts.ts'
import { closePart } from '../closePart.ts'
import type { OpenGateway } from './openGateway.ts'

export interface ReloadDeps {
  readonly log: Log
  readonly gateway: OpenGateway
  /** Opens the products file. Throws a fault if the file has a mistake. */
  readonly openFile: () => OpenGateway
  readonly soldWith: (routes: OpenRoutes) => Offers['sold']
  readonly products: Pick<Products, 'replace'>
  /** Makes the products that are now on sale available to callers, and updates the documents. */
  readonly serveEndpoints: () => Promise<void>
}

// Health message for a refused file. Callers can read this text, so only the log contains the mistakes.
const refused = 'the changed products file has mistakes and is not used; the log lists them'

/** Creates the function that reads the products file again while the service runs. */
export function createReload({ log, gateway, ...deps }: ReloadDeps) {
  let hasMistakes = false
  let current = gateway
  let last = Promise.resolve()
  const replace = async () => {
    await using opened = new AsyncDisposableStack()
    const next = opened.adopt(deps.openFile(), closePart)
    requireSameBuiltin(gateway, next)
    await deps.products.replace({ gateway: next, sold: deps.soldWith(next) }, deps.serveEndpoints)
    // Replace the connections. Requests in progress use the earlier connections, which close when they are idle.
    current = next
    opened.move()
  }
  const reload = async () => {
    try {
      await replace()
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
    check,
    /**
     * Reads the file again. Each reload waits for the previous one. Never throws: a file with a mistake changes
     * nothing.
     */
    reload() {
      last = last.then(reload)
      return last
    },
    close: () => current.close(),
  }
}

/** Throws if the file changes the built-in products, because they are loaded at the start only. */
function requireSameBuiltin(before: OpenGateway, after: OpenGateway): void {
  if (canonicalText(before.builtin) === canonicalText(after.builtin)) return
  throw new Fault('the products file changes the built-in products, which needs a restart', { retryable: false })
}
