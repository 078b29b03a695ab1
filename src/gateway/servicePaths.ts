/**
 * Paths of the service itself. Nothing below them can be sold from a file, also where no route is there yet, so that a
 * later release does not take a seller's path.
 */
const servicePaths: readonly string[] = [
  '/api',
  '/artifacts',
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
  '/pay',
  '/readyz',
  '/tile',
  '/.well-known',
  '/x402',
]

/** True if the service has the path, or may have it in a later release. */
export function isServicePath(path: string): boolean {
  return servicePaths.some((own) => path === own || path.startsWith(`${own}/`))
}
