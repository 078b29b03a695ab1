import type { Page } from 'puppeteer'

// A page may open web addresses only, whatever leads there. Chromium forbids most of the others by itself.
const forbiddenSchemes = ['file', 'view-source', 'chrome', 'chrome-untrusted', 'devtools', 'ftp', 'filesystem']

/** Runs in every frame before its scripts: what could send datagrams, or work on after the page is gone. */
const removeBypasses = `for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport']) delete globalThis[name]
delete Navigator.prototype.serviceWorker`

/** The second half of the guard, inside the page: it covers what a proxy does not see, before anything is loaded. */
export async function guardPage(page: Page): Promise<void> {
  const session = await page.createCDPSession()
  session.on('Fetch.requestPaused', ({ requestId }) => {
    session.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' }).catch(() => undefined)
  })
  await Promise.all([
    // A service worker would fetch outside the page and outlive it.
    page.setBypassServiceWorker(true),
    page.evaluateOnNewDocument(removeBypasses),
    session.send('Fetch.enable', { patterns: forbiddenSchemes.map((scheme) => ({ urlPattern: `${scheme}:*` })) }),
  ])
}
