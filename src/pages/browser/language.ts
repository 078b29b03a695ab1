/*
 * Before uPlot, which asks for numbers in the reader's language as it is loaded. A browser on a machine without a locale
 * names one that no formatter knows, en-US@posix, and would draw no chart at all.
 */
try {
  Intl.getCanonicalLocales(navigator.language)
} catch {
  Object.defineProperty(navigator, 'language', { get: () => 'en' })
}
