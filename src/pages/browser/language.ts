/*
 * Load this module before uPlot, which formats numbers in the reader's language when it loads. A browser on a machine
 * without a locale reports en-US@posix, which no formatter accepts. No chart would be drawn.
 */
try {
  Intl.getCanonicalLocales(navigator.language)
} catch {
  Object.defineProperty(navigator, 'language', { get: () => 'en' })
}
