import type { RenderEngine } from './renderEngine.ts'

/**
 * Opens one engine for customers and one for everyone else. A page can end its browser, keep it busy, or flood the
 * process that drives it with events. Customers are not affected by the pages of strangers. The engine of customers is
 * opened for the first customer, whose page is rendered among strangers until it has started.
 */
export async function openSeparateEngines(openEngine: () => Promise<RenderEngine>): Promise<RenderEngine> {
  const strangers = await openEngine()
  let opening: Promise<void> | undefined
  let customers: RenderEngine | undefined
  const ofCustomers = (): RenderEngine | undefined => {
    // Ignore a failure, because the engine of strangers fails for the same reason and reports it.
    opening ??= openEngine()
      .then((engine) => void (customers = engine))
      .catch(() => undefined)
    return customers !== undefined && customers.whyUnavailable() === undefined ? customers : undefined
  }
  return {
    whyUnavailable: () => strangers.whyUnavailable(),
    problem: () => strangers.problem(),
    render(work, bounds) {
      const engine = (bounds.standing === 'customer' ? ofCustomers() : undefined) ?? strangers
      return engine.render(work, bounds)
    },
    async close() {
      await opening
      await Promise.all([strangers.close(), customers?.close()])
    },
  }
}
