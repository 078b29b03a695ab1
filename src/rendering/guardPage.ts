import type { Page } from 'puppeteer'

// Schemes that a page must never open by a link, redirect or script. Chromium itself forbids most of them.
const forbiddenSchemes = ['file', 'view-source', 'chrome', 'chrome-untrusted', 'devtools', 'ftp', 'filesystem']

/** Removes the interfaces that can send datagrams or outlive the page, before a frame's own scripts run. */
const removeBypasses = `for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport']) delete globalThis[name]
delete Navigator.prototype.serviceWorker`

export async function guardPage(page: Page): Promise<void> {
  const session = await page.createCDPSession()
  session.on('Fetch.requestPaused', ({ requestId }) => {
    session.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' }).catch(() => undefined)
  })
  await Promise.all([
    // Disable service workers, because they would fetch outside the page and outlive it.
    page.setBypassServiceWorker(true),
    page.evaluateOnNewDocument(removeBypasses),
    session.send('Fetch.enable', { patterns: forbiddenSchemes.map((scheme) => ({ urlPattern: `${scheme}:*` })) }),
  ])
}
