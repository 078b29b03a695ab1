/**
 * Sent where anything else is answered with a page, an error or not at all (facts of 2026: Yahoo, Nasdaq). Everybody else
 * gets our own name and the operator's contact.
 */
export const browserAgent =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Safari/537.36'
