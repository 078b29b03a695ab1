import type { CDPSession, Page } from 'puppeteer'
import type { Json } from '@tollbook/core/canonicalJson'

export type PageWorld = Awaited<ReturnType<typeof openPageWorld>>

/** Opens an isolated JavaScript world, in which the page cannot see or replace the functions of these scripts. */
export async function openPageWorld(page: Page) {
  const session = await page.createCDPSession()
  return {
    /**
     * Runs a function in the page. Values are passed as JSON. Undefined if the document was replaced or the function
     * threw.
     */
    async run(functionSource: string, ...values: readonly Json[]): Promise<unknown> {
      const expression = `(${functionSource})(${values.map((value) => JSON.stringify(value)).join(', ')})`
      try {
        return await evaluate(session, expression)
      } catch {
        // A navigation has ended the document, its world and the running script.
        return undefined
      }
    },
  }
}

async function evaluate(session: CDPSession, expression: string): Promise<unknown> {
  const { frameTree } = await session.send('Page.getFrameTree')
  // Chromium returns the existing world if the document has not changed.
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
