import type { CDPSession, Page } from 'puppeteer'
import type { Json } from '@tollbook/core/canonicalJson'

/**
 * Scripts of ours in the page's document, in an isolated JavaScript world: the page cannot see or replace what they use.
 */
export interface PageWorld {
  /** Value of the function, given as source text, or undefined when the document went away or the function threw. */
  run(functionSource: string, ...values: readonly Json[]): Promise<unknown>
}

/** `run` resolves with undefined when the page navigates away meanwhile. Arguments are passed as JSON. */
export async function openPageWorld(page: Page): Promise<PageWorld> {
  const session = await page.createCDPSession()
  return {
    async run(functionSource, ...values) {
      const expression = `(${functionSource})(${values.map((value) => JSON.stringify(value)).join(', ')})`
      try {
        return await evaluate(session, expression)
      } catch {
        // A navigation ends the document, its world and what runs in it.
        return undefined
      }
    },
  }
}

async function evaluate(session: CDPSession, expression: string): Promise<unknown> {
  const { frameTree } = await session.send('Page.getFrameTree')
  // The same world while the document is the same.
  const { executionContextId } = await session.send('Page.createIsolatedWorld', {
    frameId: frameTree.frame.id,
    worldName: 'tollbook',
  })
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression,
    contextId: executionContextId,
    awaitPromise: true,
    returnByValue: true,
  })
  const value: unknown = result.value
  return exceptionDetails === undefined ? value : undefined
}
