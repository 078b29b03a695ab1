/** Compiled modules of earlier processes (vitest.config.ts), for a program that is started with a separate environment. */
export function compileCacheEnv(): Record<string, string> {
  const directory = process.env['NODE_COMPILE_CACHE']
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: directory }
}
