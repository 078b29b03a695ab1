import type { Page } from 'puppeteer'

export type PageSockets = Awaited<ReturnType<typeof watchSockets>>

// Maximum of tracked sockets, because a page can open any number.
const trackedMax = 200

/**
 * Tracks sockets and event streams that have received nothing yet, because the page may lack their content. Call this
 * before the page is loaded. Sockets of workers and of frames of other sites are not visible here.
 */
export async function watchSockets(page: Page) {
  const silent = new Map<string, string>()
  const open = (id: string, url: string) => void (silent.size < trackedMax && silent.set(id, url))
  const forget = ({ requestId }: { readonly requestId: string }) => void silent.delete(requestId)
  const session = await page.createCDPSession()
  session.on('Network.webSocketCreated', ({ requestId, url }) => open(requestId, url))
  session.on('Network.requestWillBeSent', ({ requestId, type, request }) => {
    if (type === 'EventSource') open(requestId, request.url)
  })
  session.on('Network.webSocketFrameReceived', forget)
  session.on('Network.webSocketFrameError', forget)
  session.on('Network.webSocketClosed', forget)
  session.on('Network.eventSourceMessageReceived', forget)
  session.on('Network.loadingFinished', forget)
  session.on('Network.loadingFailed', forget)
  page.on('framenavigated', (frame) => {
    if (frame === page.mainFrame()) silent.clear()
  })
  await session.send('Network.enable')
  return {
    /** Includes sockets that are still opening. */
    silent: () => [...silent.values()],
  }
}
