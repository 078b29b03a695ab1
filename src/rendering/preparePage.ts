import type { Page } from 'puppeteer'
import type { PageSettings } from './renderer.ts'
import type { RenderTask } from './renderTask.ts'

const localeDefault = 'en-US'

/** Applies the settings of an order. Call this before the page is loaded, because the page can observe these settings. */
export async function preparePage(page: Page, { page: target, viewport, options }: RenderTask): Promise<void> {
  page.on('dialog', (dialog) => void dialog.dismiss().catch(() => undefined))
  page.on('popup', (popup) => void popup?.close().catch(() => undefined))
  const { timezone, colorScheme, geolocation, locale = localeDefault } = options
  await Promise.all([
    page.setViewport({ ...viewport, hasTouch: viewport.isMobile }),
    setLocale(page, locale),
    ...(timezone === undefined ? [] : [page.emulateTimezone(properlySpelled(timezone))]),
    ...(colorScheme === undefined
      ? []
      : [page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: colorScheme }])]),
    ...(geolocation === undefined || !('url' in target) ? [] : [setPosition(page, target.url, geolocation)]),
  ])
}

/** Returns the usual spelling of a time zone. Chromium distinguishes its case, unlike `Intl`, which checked the order. */
function properlySpelled(timeZone: string): string {
  return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone
}

/** Sets the language of the page. `navigator.language` follows the accepted languages, and `Intl` the locale. */
async function setLocale(page: Page, locale: string): Promise<void> {
  const session = await page.createCDPSession()
  const userAgent = await page.browser().userAgent()
  const [language = locale] = locale.split('-')
  const acceptLanguage = language === locale ? locale : `${locale},${language}`
  await session.send('Emulation.setUserAgentOverride', { userAgent, acceptLanguage })
  await session.send('Emulation.setLocaleOverride', { locale })
}

async function setPosition(page: Page, url: string, position: NonNullable<PageSettings['geolocation']>): Promise<void> {
  // Grant the permission only to the site in the order, not to frames of other sites.
  await page.browserContext().overridePermissions(new URL(url).origin, ['geolocation'])
  await page.setGeolocation(position)
}
