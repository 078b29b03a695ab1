/*
 * `bigint-buffer`, a dependency of web3.js, announces at load that its native part is missing. It is missing on
 * purpose:
 * its install script is refused, because that part has a buffer overflow without a patch (CVE-2025-3194). Each entry
 * point of a process imports this file first, so that no user tries to fix a missing part that is not needed.
 */
const announcement = 'bigint: Failed to load bindings'
const { warn } = console

console.warn = (...words: unknown[]): void => {
  if (typeof words[0] === 'string' && words[0].startsWith(announcement)) return
  warn(...words)
}
