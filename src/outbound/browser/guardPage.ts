import type { Page } from 'puppeteer'

// Nothing but the web, whatever leads there. Chromium forbids most of these by itself.
const forbiddenSchemes = ['file', 'view-source', 'chrome', 'chrome-untrusted', 'devtools', 'ftp', 'filesystem']

/** Runs in every frame before its scripts: what could send datagrams, or work on after the page is gone. */
const removeSideDoors = `for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport']) delete globalThis[name]
delete Navigator.prototype.serviceWorker`

/** What a proxy does not see, inside the page; the second half of the guard, before anything is loaded. */
export async function guardPage(page: Page): Promise<void> {
  const session = await page.createCDPSession()
  session.on('Fetch.requestPaused', ({ requestId }) => {
    session.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' }).catch(() => undefined)
  })
  await Promise.all([
    // A service worker would fetch beside the page and outlive it.
    page.setBypassServiceWorker(true),
    page.evaluateOnNewDocument(removeSideDoors),
    session.send('Fetch.enable', { patterns: forbiddenSchemes.map((scheme) => ({ urlPattern: `${scheme}:*` })) }),
  ])
}
