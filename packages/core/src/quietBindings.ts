/*
 * Suppresses a warning of `bigint-buffer`, a dependency of web3.js, that its native part is missing. That part is
 * missing on purpose: its install script is disabled, because it has an unpatched buffer overflow (CVE-2025-3194). An
 * entry point imports this file before web3.js, because the dependency prints the warning during its import.
 */
const announcement = 'bigint: Failed to load bindings'
const { warn } = console

console.warn = (...words: unknown[]): void => {
  if (typeof words[0] === 'string' && words[0].startsWith(announcement)) return
  warn(...words)
}
