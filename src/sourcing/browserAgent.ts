/**
 * A browser's User-Agent, for providers that answer other agents with a page, an error or nothing (2026: Yahoo,
 * Nasdaq). All other providers receive our own name and the operator's contact.
 */
export const browserAgent =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Safari/537.36'
