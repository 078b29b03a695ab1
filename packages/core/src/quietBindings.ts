/*
 * `bigint-buffer`, which web3.js brings, announces at load that its native part is missing. It is missing on purpose: its
 * install script is refused, because that part has a buffer overflow without a patch (CVE-2025-3194). Imported first by
 * whatever is a process of its own, so that nobody is told to mend what is not broken.
 */
const announcement = 'bigint: Failed to load bindings'
const { warn } = console

console.warn = (...words: unknown[]): void => {
  if (typeof words[0] === 'string' && words[0].startsWith(announcement)) return
  warn(...words)
}
