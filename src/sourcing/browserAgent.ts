/**
 * User-Agent for providers that answer any other one with a page, an error or nothing (facts of 2026: Yahoo, Nasdaq). All
 * other providers get our own name and the operator's contact.
 */
export const browserAgent =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Safari/537.36'
