/*
 * Suppresses a warning of `bigint-buffer`, a dependency of web3.js, that its native part is missing. That part is
 * missing on purpose: its install script is disabled, because it has an unpatched buffer overflow (CVE-2025-3194). Each
 * entry point of a process imports this file first, so that no user tries to fix the warning.
 */
const announcement = 'bigint: Failed to load bindings'
const { warn } = console

console.warn = (...words: unknown[]): void => {
  if (typeof words[0] === 'string' && words[0].startsWith(announcement)) return
  warn(...words)
}
