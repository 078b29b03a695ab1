import type { RenderEngine } from './renderEngine.ts'

/**
 * Opens a second engine, because a page can end its browser, keep it busy, or flood the process that drives it with
 * events. The second engine protects customers from such pages of strangers. Customers use the first engine while the
 * second is not available.
 */
export async function openSeparateEngines(openEngine: () => Promise<RenderEngine>): Promise<RenderEngine> {
  const strangers = await openEngine()
  let opening: Promise<void> | undefined
  let customers: RenderEngine | undefined
  const ofCustomers = (): RenderEngine | undefined => {
    // Ignore the error, which means that CHROMIUM_PATH is wrong. The engine of strangers reports the wrong path when it
    // next starts a browser.
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
