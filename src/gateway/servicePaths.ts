/**
 * Paths that the service reserves. A products file cannot sell a path at or below them. Some have no route yet: they
 * are reserved for later releases, so that a release never takes over a seller's path.
 */
const servicePaths: readonly string[] = [
  '/api',
  '/artifacts',
  '/burn',
  '/burns',
  '/checkpoint',
  '/docs',
  '/files',
  '/finance',
  '/livez',
  '/llms.txt',
  '/mcp',
  '/metrics',
  '/mpp',
  '/openapi.json',
  '/page',
  '/pay',
  '/readyz',
  '/tile',
  '/.well-known',
  '/x402',
]

export function isServicePath(path: string): boolean {
  return servicePaths.some((own) => path === own || path.startsWith(`${own}/`))
}
